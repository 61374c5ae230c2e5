public import Foundation
import VestaConcurrency
import VestaRemoteConfigBackend
import VestaServiceInterop

extension RemoteConfig {
  /// Fetches values, unless those fetched last are younger than `configSettings.minimumFetchInterval`.
  ///
  /// They take effect when they are activated.
  ///
  /// - Returns: How the fetch ended.
  /// - Throws: ``RemoteConfigError``: `throttled` after failures, with the time of the next try; `internalError` when
  ///   the service could not be reached. The active values stay.
  @discardableResult
  public func fetch() async throws -> RemoteConfigFetchStatus {
    let interval = state.withLock { $0.settings.minimumFetchInterval }
    return try await fetch(withExpirationDuration: interval)
  }

  /// Fetches values, unless those fetched last are younger than an interval.
  ///
  /// - Parameter expirationDuration: The interval in seconds; 0 to fetch in any case, throttling excepted.
  /// - Returns: How the fetch ended.
  /// - Throws: ``RemoteConfigError``, as ``fetch()``.
  @discardableResult
  public func fetch(
    withExpirationDuration expirationDuration: TimeInterval
  ) async throws -> RemoteConfigFetchStatus {
    try checkAppIsThere()
    let context = appInfo.context
    let decision = state.withLock { state in
      state.machine.decide(
        now: seconds, interval: expirationDuration, record: state.contents.record, context: context)
    }
    switch decision {
    case .useFetched: return .success
    case .throttled(let time): throw throttled(until: time)
    case .fetch: return try await join(context)
    }
  }

  /// Makes what was fetched last the active values.
  ///
  /// - Returns: Whether something was fetched that was not active yet.
  @discardableResult
  public func activate() async throws -> Bool {
    try checkAppIsThere()
    let hasChanged = state.withLock { state in
      guard state.contents.hasNews else { return false }
      state.contents.activate()
      return true
    }
    guard hasChanged else { return false }
    save([.active])
    announceRollouts()
    callbackQueue.async {
      NotificationCenter.default.post(name: .remoteConfigDidActivate, object: self)
    }
    return true
  }

  /// Fetches values and activates them.
  ///
  /// - Returns: `successFetchedFromRemote` when both have succeeded, also when nothing has changed.
  /// - Throws: The failure of the fetch.
  @discardableResult
  public func fetchAndActivate() async throws -> RemoteConfigFetchAndActivateStatus {
    _ = try await fetch()
    do {
      try await activate()
      return .successFetchedFromRemote
    } catch {
      return .successUsingPreFetchedData
    }
  }

  // MARK: One fetch

  /// Joins the fetch that is under way, or begins one.
  private func join(_ context: DeviceContext) async throws -> RemoteConfigFetchStatus {
    do {
      return try await flight.value(for: namespace) { try await self.load(context) }
    } catch {
      throw error
    }
  }

  private func load(_ context: DeviceContext) async throws -> RemoteConfigFetchStatus {
    let (contents, timeout) = state.withLock { ($0.contents, $0.settings.fetchTimeout) }
    let request = FetchConfigRequest(
      namespace: namespace, instance: appInfo.instance(contents.record), etag: contents.fetched.etag)
    let limit = Duration.milliseconds(Int64(timeout * 1000))
    do {
      finish(try await response(to: request, context.locale, within: limit), context)
      return .success
    } catch let error as RemoteConfigServiceError {
      throw failed(error)
    } catch {
      throw error
    }
  }

  /// Asks the service, and sends it the limit; one that does not keep to it is not waited for.
  private func response(
    to request: FetchConfigRequest, _ locale: String?, within limit: Duration
  ) async throws -> FetchConfigResponse {
    let (turn, backend, clock) = (Turn<FetchConfigResponse>(), backend, clock)
    var caller = caller
    caller.context.locale = locale
    let call = Task { [caller] in
      try await caller.call(timeout: limit) { try await backend.fetch(request, context: $0) }
    }
    defer { call.cancel() }
    let timer = Locked<ListenerRegistration?>(nil)
    defer { timer.withLock { $0.take() }?.cancel() }
    return try await turn.wait { turn in
      let registration = clock.schedule(after: limit) {
        turn.begin()?.resume(
          throwing: RemoteConfigServiceError(.deadlineExceeded, "The service did not answer in time."))
      }
      timer.withLock { $0 = registration }
      Task { turn.begin()?.resume(with: await call.result) }
    }
  }

  private func finish(_ response: FetchConfigResponse, _ context: DeviceContext) {
    state.withLock { state in
      // The active values may be from a time when the clock was ahead, and the fetched ones may have been lost since.
      state.contents.fetched.apply(response, at: Swift.max(seconds, state.contents.active.etagTime.nextUp))
      state.contents.record.lastFetchTime = seconds
      state.contents.record.lastFetchStatus = .success
      state.contents.record.context = context
      state.machine.succeeded()
    }
    save([.fetched, .record])
  }

  private func failed(_ error: RemoteConfigServiceError) -> RemoteConfigError {
    let random = caller.random()
    let decision = state.withLock { state in
      state.machine.failed(error.code, now: seconds, record: state.contents.record, random: random)
      state.contents.record.lastFetchStatus = .failure
      return state.machine
    }
    save([.record])
    let text = "Internal Error. Status code: \(error.code.httpStatus). \(error.message)"
    return RemoteConfigError(
      .internalError, text,
      throttledEndTime: decision.throttleEnd(at: seconds).map { Date(timeIntervalSince1970: $0) })
  }

  private func throttled(until time: Double) -> RemoteConfigError {
    state.withLock { $0.contents.record.lastFetchStatus = .throttled }
    return RemoteConfigError(
      .throttled, "Fetches are throttled after failures of the service.",
      throttledEndTime: Date(timeIntervalSince1970: time))
  }

  /// The time in seconds since 1970.
  var seconds: Double { Double(clock.now()) / 1_000_000 }

  // MARK: Realtime

  /// Fetches a version that was announced, whatever the interval but not while fetches are throttled; answers which
  /// keys have changed.
  ///
  /// - Returns: The changed keys; `nil` when what was fetched is older than the version.
  func fetchAnnounced(_ version: Int64) async throws -> Set<String>? {
    try checkAppIsThere()
    let (fetched, throttleEnd) = state.withLock { state in
      (state.contents.fetched.templateVersion, state.machine.throttleEnd(at: seconds))
    }
    if fetched < version {
      if let throttleEnd { throw throttled(until: throttleEnd) }
      _ = try await join(appInfo.context)
    }
    return state.withLock { state in
      state.contents.fetched.templateVersion >= version ? state.contents.changedKeys : nil
    }
  }

  /// The version of the template that was fetched last.
  var fetchedVersion: Int64 { state.withLock { $0.contents.fetched.templateVersion } }
}

extension NSNotification.Name {
  /// Posted on the callback queue after an activation that changed values; its object is the ``RemoteConfig``.
  public static let remoteConfigDidActivate = NSNotification.Name("FIRRemoteConfigActivateNotification")
}
