import VestaBytes
import VestaConcurrency
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// A WebChannel that is open: a stream of the backend on one side, requests of a browser on the other.
///
/// The machine knows what the browser still needs; the session has the response that is open at the moment, the pauses
/// and the end. Its requests arrive on several connections and loops: all of it is under one lock. Messages to be
/// written wait in a line that one thread at a time empties, so frames keep their order and nothing is called with the
/// lock held.
final class WebChannelSession: Sendable {
  let id = WebChannelSession.random()
  /// The value that later requests have to know in addition to the id.
  let httpID = WebChannelSession.random()
  private let clock: ServiceClock
  private let keepAlive: Duration
  private let tuning: FirestoreEndpointTuning
  private let take: @Sendable (String) -> ServiceStatus?
  private let waitingBytes: @Sendable () -> Int
  private let onGone: @Sendable (WebChannelSession) -> Void
  private let state: Locked<State>

  /// - Parameters:
  ///   - take: Takes a message of the browser; returns the status with which it ends the stream, if it does.
  ///   - waitingBytes: Returns the bytes of messages that have been taken and have no response yet.
  ///   - onGone: Forgets the session, and frees the stream of the backend; may be called again.
  init(
    _ clock: ServiceClock, _ tuning: FirestoreEndpointTuning, take: @escaping @Sendable (String) -> ServiceStatus?,
    waitingBytes: @escaping @Sendable () -> Int, onGone: @escaping @Sendable (WebChannelSession) -> Void
  ) {
    self.clock = clock
    keepAlive = tuning.keepAlive
    self.tuning = tuning
    self.take = take
    self.waitingBytes = waitingBytes
    self.onGone = onGone
    state = Locked(State(machine: WebChannelMachine(tuning: tuning.webChannel)))
  }

  // MARK: Requests

  func open(_ body: WebChannelBody) throws -> [UInt8] {
    let milliseconds = Int(keepAlive.microseconds / 1_000)
    let response = try state.withLock { state in
      let (response, messages) = try state.machine.open(session: id, keepAliveMilliseconds: milliseconds, body)
      for message in messages { state.messages.append(message) }
      return response
    }
    setTimer(after: keepAlive * 2, turn: 0)
    takeMessages()
    return response
  }

  func forward(_ body: WebChannelBody, confirmed: Int) throws -> [UInt8] {
    let response = try state.withLock { state in
      let (response, messages) = try state.machine.forward(body, confirmed: confirmed)
      for message in messages { state.messages.append(message) }
      return response
    }
    takeMessages()
    return response
  }

  /// Takes a large body message by message, and waits while the backend has much of it.
  func forward(_ body: ByteStream, confirmed: Int) async throws -> [UInt8] {
    var reader = WebChannelBodyReader(maximumMessageBytes: WebChannelFrames.limits.maximumSize)
    while let bytes = try await body.next() {
      for message in try reader.received(bytes) {
        _ = try forward(WebChannelBody(messages: [message]), confirmed: confirmed)
      }
      try await waitForRoom()
    }
    return try forward(WebChannelBody(messages: try reader.finished()), confirmed: confirmed)
  }

  /// Whether the backend has so much of what was sent that the browser has to wait.
  var isCrowded: Bool { waitingBytes() > tuning.waitingWriteBytes && !state.withLock { $0.isOver } }

  /// Waits while the backend has much of what was sent.
  func waitForRoom() async throws {
    while isCrowded { try await clock.sleep(for: .milliseconds(20)) }
  }

  /// Opens a back channel in place of one that is open.
  ///
  /// A browser that streams gets something at once: it takes a connection that says nothing for one that holds
  /// responses back. One that has the error at the end, and asks again, is told to close.
  ///
  /// - Returns: `nil` where the browser has everything, and the session is gone.
  func back(_ kind: WebChannelRequest.BackChannel, confirmed: Int) throws -> ByteStream? {
    let stream = ByteStream(limit: .max)
    var pause = keepAlive
    let turn = try state.withLock { state -> Int? in
      state.write([], isLast: true)
      let frames = try state.frames(after: confirmed)
      if frames.isEmpty { return nil }
      state.turn += 1
      switch kind {
      case .streaming:
        state.back = .streaming(stream)
        state.write(frames, isLast: state.isOver)
      case .buffered(let milliseconds):
        pause = min(pause, milliseconds.map { .milliseconds($0) } ?? pause)
        // One end of a line is that of the empty array alone: there is nothing to say yet.
        if frames.count(where: { $0 == UInt8(ascii: "\n") }) == 1, !state.isOver {
          state.back = .held(stream, first: frames)
        } else {
          state.back = .streaming(stream)
          state.write(frames, isLast: true)
          pause = keepAlive * 2
        }
      }
      return state.turn
    }
    flush()
    guard let turn else {
      terminate()
      return nil
    }
    stream.pipe.setDemand(nil, onCancel: { [weak self] in self?.hasLeft(turn) })
    setTimer(after: pause, turn: turn)
    return stream
  }

  // MARK: The backend's side

  /// Sends messages to the browser, each in its own array.
  func send(_ messages: [JSONValue]) {
    let isTooMuch = state.withLock { state in
      guard !state.isOver else { return false }
      var frames: [UInt8] = []
      for message in messages {
        guard let frame = try? state.machine.send(.data([message])) else { return true }
        frames += frame
      }
      state.write(frames)
      return false
    }
    if isTooMuch { terminate() } else { flush() }
  }

  /// Ends the stream with a status; the browser learns it by a message, also when it asks later.
  func fail(_ status: ServiceStatus) {
    let error: JSONValue = [
      "code": .integer(Int64(status.code.rawValue)), "status": .string(status.code.name),
      "message": .string(status.message),
    ]
    state.withLock { state in
      guard !state.isOver else { return }
      let frame = try? state.machine.send(.data([["error": error]]))
      state.isOver = true
      state.write(frame ?? [], isLast: true)
    }
    flush()
  }

  /// Ends without a word: the browser has left, or everything that it could want was said.
  func terminate() {
    let timer = state.withLock { state in
      state.isOver = true
      state.write([], isLast: true)
      state.machine.terminate()
      return state.timer.take()
    }
    timer?.cancel()
    flush()
    onGone(self)
  }

  // MARK: Parts

  /// Takes the messages that wait, one thread at a time: a large one is read for long, and a browser whose connection
  /// has ended meanwhile sends the next ones.
  private func takeMessages() {
    let isFirst = state.withLock { state in
      defer { state.isTaking = true }
      return !state.isTaking
    }
    guard isFirst else { return }
    while let message = nextMessage() { if let status = take(message) { fail(status) } }
  }

  private func nextMessage() -> String? {
    state.withLock { state in
      let message = state.messages.popFirst()
      if message == nil { state.isTaking = false }
      return message
    }
  }

  private func flush() {
    let isFirst = state.withLock { state in
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard isFirst else { return }
    while let output = next() {
      if !output.bytes.isEmpty { output.stream.offer(output.bytes) }
      if output.isLast { output.stream.finish() }
    }
  }

  private func next() -> Output? {
    state.withLock { state in
      let output = state.outputs.popFirst()
      if output == nil { state.isWriting = false }
      return output
    }
  }

  /// A pause is over: something is said to a browser that waits, and a session without requests ends.
  private func fire(_ turn: Int) {
    let pause = state.withLock { state -> Duration? in
      guard state.turn == turn, !state.isOver else { return nil }
      switch state.back {
      case .none: return nil
      case .held:
        state.write([])
        return keepAlive * 2
      case .streaming:
        guard let frame = try? state.machine.send(.noop) else { return nil }
        state.write(frame)
        return keepAlive
      }
    }
    flush()
    if let pause { return setTimer(after: pause, turn: turn) }
    if state.withLock({ $0.turn == turn }) { terminate() }
  }

  private func hasLeft(_ turn: Int) {
    let isCurrent = state.withLock { state in
      guard state.turn == turn else { return false }
      state.endBack()
      return true
    }
    if isCurrent { setTimer(after: keepAlive * 2, turn: turn) }
  }

  private func setTimer(after delay: Duration, turn: Int) {
    let timer = clock.schedule(after: delay) { [weak self] in self?.fire(turn) }
    let stale = state.withLock { state -> ListenerRegistration? in
      guard state.turn == turn, !state.machine.isClosed else { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    stale?.cancel()
  }

  /// 128 bits: the id is the secret of the session.
  private static func random() -> String { Hex.encode(SystemRandom.bytes(16)) }
}
