import VestaConcurrency
import VestaRemoteConfigBackend
import VestaRemoteConfigWire
import VestaServiceInterop
import VestaTransportInterop

/// The connections for newer templates that a server has open.
final class InvalidationStreams: Sendable {
  private let clock: ServiceClock
  private let tuning: RemoteConfigEndpointsTuning
  private let state = Locked(State())

  private struct State {
    var streams: [ObjectIdentifier: InvalidationStream] = [:]
    var isEnded = false
  }

  init(clock: ServiceClock, tuning: RemoteConfigEndpointsTuning) { (self.clock, self.tuning) = (clock, tuning) }

  /// Opens a connection: the response is there when the backend has admitted the caller.
  func open(
    _ backend: any RemoteConfigBackend, _ request: InvalidationsRequest, _ context: CallContext
  ) async throws -> HTTPResponse {
    let stream = InvalidationStream(lastKnownVersion: request.lastKnownVersion, clock: clock, tuning: tuning) {
      [weak self] in self?.remove($0)
    }
    let isEnded = state.withLock { state in
      if !state.isEnded { state.streams[ObjectIdentifier(stream)] = stream }
      return state.isEnded
    }
    if isEnded { throw ServiceStatus(.unavailable, "The server shuts down.") }
    try await stream.listen(to: backend, request.namespace, context)
    return HTTPResponse(
      .ok, fields: [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"],
      body: .stream(stream.body))
  }

  /// Ends all connections in order: their clients connect again.
  func end() {
    let streams = state.withLock { state in
      state.isEnded = true
      return Array(state.streams.values)
    }
    for stream in streams { stream.end() }
  }

  private func remove(_ stream: InvalidationStream) {
    let removed = state.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
    withExtendedLifetime(removed) {}
  }
}

/// One connection: a backend's messages as pieces of a response.
///
/// The backend is asked for what is newer than nothing, so its first message says that it has admitted the caller;
/// until then the response has no head, and a refused caller gets the status of the refusal. Messages of versions that
/// the client has are not sent.
final class InvalidationStream: Sendable {
  private struct State {
    var pace: InvalidationPace
    var isFirst = true
    var timer: ListenerRegistration?
    var registrations: [ListenerRegistration] = []
    var isOver = false
  }

  let body = ByteStream()
  private let lastKnownVersion: Int64
  private let clock: ServiceClock
  private let tuning: RemoteConfigEndpointsTuning
  private let onEnd: @Sendable (InvalidationStream) -> Void
  private let state: Locked<State>
  private let lane = BlockingLane()

  init(
    lastKnownVersion: Int64, clock: ServiceClock, tuning: RemoteConfigEndpointsTuning,
    onEnd: @escaping @Sendable (InvalidationStream) -> Void
  ) {
    self.lastKnownVersion = lastKnownVersion
    self.clock = clock
    self.tuning = tuning
    self.onEnd = onEnd
    state = Locked(
      State(
        pace: InvalidationPace(
          spacing: tuning.messageSpacing.microseconds, repetition: tuning.messageRepetition.microseconds)))
    body.offer(InvalidationWire.opening)
  }

  /// Listens, and waits until the caller is admitted.
  ///
  /// - Throws: The refusal.
  func listen(to backend: any RemoteConfigBackend, _ namespace: String, _ context: CallContext) async throws {
    body.pipe.setDemand(nil, onCancel: { [weak self] in self?.end() })
    do {
      try await Turn<Void>().wait { turn in
        let listening = backend.listenForInvalidations(
          InvalidationsRequest(namespace: namespace, lastKnownVersion: -1), context: context
        ) { [weak self] error in
          turn.begin()?.resume(throwing: error ?? RemoteConfigServiceError(.unavailable, "The service shuts down."))
          self?.end()
        } _: { [weak self] message in
          turn.begin()?.resume()
          self?.received(message)
        }
        keep([listening, clock.schedule(after: tuning.streamLength) { [weak self] in self?.end() }])
      }
    } catch {
      end()
      throw error
    }
  }

  private func keep(_ registrations: [ListenerRegistration]) {
    let isOver = state.withLock { state in
      if !state.isOver { state.registrations += registrations }
      return state.isOver
    }
    if isOver { for registration in registrations { registration.cancel() } }
  }

  private func received(_ message: ConfigInvalidation) {
    guard message.latestVersion > lastKnownVersion || message.isFeatureDisabled else { return }
    lane.async {
      let now = self.clock.now()
      self.perform { $0.received(message, now: now) }
    }
  }

  /// Called on the lane, so that pieces are written in the order in which they were decided, with no lock held.
  private func perform(_ event: (inout InvalidationPace) -> [InvalidationPace.Effect]) {
    for effect in state.withLock({ $0.isOver ? [] : event(&$0.pace) }) {
      switch effect {
      case .send(let message): send(message)
      case .setTimer(let time): setTimer(at: time)
      }
    }
  }

  private func send(_ message: ConfigInvalidation) {
    // A client that does not read gets the newest when it connects again.
    guard body.pipe.backlog < tuning.streamBacklog else { return }
    let isFirst = state.withLock { state in
      defer { state.isFirst = false }
      return state.isFirst
    }
    body.offer(InvalidationWire.piece(of: message, isFirst: isFirst))
  }

  private func setTimer(at time: Int64) {
    let timer = clock.schedule(at: time) { [weak self] in
      guard let self else { return }
      self.lane.async {
        let now = self.clock.now()
        self.perform { $0.timerFired(now: now) }
      }
    }
    let stale = state.withLock { state in
      if state.isOver { return timer as ListenerRegistration? }
      defer { state.timer = timer }
      return state.timer
    }
    stale?.cancel()
  }

  /// Ends the response in order, and stops listening.
  func end() {
    let dropped = state.withLock { state -> [ListenerRegistration]? in
      guard !state.isOver else { return nil }
      state.isOver = true
      defer { (state.registrations, state.timer) = ([], nil) }
      return state.registrations + (state.timer.map { [$0] } ?? [])
    }
    guard let dropped else { return }
    for registration in dropped { registration.cancel() }
    body.offer(InvalidationWire.closing)
    body.finish()
    onEnd(self)
  }
}
