import VestaConcurrency

/// The closures of one realtime connection, called as ``RemoteConfigBackend`` promises; engines and remote backends
/// have one for each.
///
/// - Each newer version is received once, in ascending order, one call at a time; while one is received, only the
///   newest waits.
/// - The end follows what was offered before it, and is reported once.
/// - The closures are called on a lane of threads that no task runs on: one that blocks delays neither the publisher
///   nor other connections.
public final class InvalidationReceiver: Sendable {
  private struct Handlers: Sendable {
    var receive: @Sendable (ConfigInvalidation) -> Void
    var end: @Sendable (RemoteConfigServiceError?) -> Void
  }

  /// The end of the connection, once it was reported.
  private struct End: Sendable {
    var error: RemoteConfigServiceError?
  }

  private struct State {
    var lastVersion: Int64
    var isDelivering = false
    var waiting: ConfigInvalidation?
    var end: End?
    var handlers: Handlers?
  }

  private let state: Locked<State>
  private let lane = BlockingLane()

  /// A receiver of what is newer than a version.
  ///
  /// - Parameters:
  ///   - lastKnownVersion: The version that the instance has.
  ///   - onEnd: Called once when the connection ends.
  ///   - receive: Called with each message.
  public init(
    lastKnownVersion: Int64, onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) {
    state = Locked(State(lastVersion: lastKnownVersion, handlers: Handlers(receive: receive, end: onEnd)))
  }

  /// Delivers a message later, unless its version is known and it says nothing else; returns at once.
  public func offer(_ message: ConfigInvalidation) {
    step { state in
      let isNews = message.isFeatureDisabled || message.retryInterval != nil
      guard isNews || message.latestVersion > state.lastVersion, state.end == nil else { return }
      var merged = message
      merged.latestVersion = max(message.latestVersion, state.lastVersion)
      merged.retryInterval = message.retryInterval ?? state.waiting?.retryInterval
      merged.isFeatureDisabled = message.isFeatureDisabled || state.waiting?.isFeatureDisabled == true
      state.lastVersion = merged.latestVersion
      state.waiting = merged
    }
  }

  /// Reports the end later; later messages are dropped.
  ///
  /// - Parameter error: The failure; `nil` for an end in order.
  public func end(_ error: RemoteConfigServiceError?) {
    step { if $0.end == nil { $0.end = End(error: error) } }
  }

  /// Drops the closures: none is called from here on, but for one that runs.
  public func silence() {
    let handlers = state.withLock { $0.handlers.take() }
    withExtendedLifetime(handlers) {}
  }

  private func step(_ change: (inout State) -> Void) {
    let begins = state.withLock { state in
      guard state.handlers != nil else { return false }
      change(&state)
      guard !state.isDelivering, state.waiting != nil || state.end != nil else { return false }
      state.isDelivering = true
      return true
    }
    if begins { lane.async { self.deliver() } }
  }

  private func deliver() {
    while true {
      let (message, end, handlers) = state.withLock { state -> (ConfigInvalidation?, End?, Handlers?) in
        if let message = state.waiting.take() { return (message, nil, state.handlers) }
        state.isDelivering = false
        return (nil, state.end, state.end == nil ? nil : state.handlers.take())
      }
      guard let message else {
        if let end { handlers?.end(end.error) }
        return
      }
      handlers?.receive(message)
    }
  }
}
