import VestaConcurrency
import VestaRemoteConfigBackend

/// The realtime connections of all clients, by namespace.
///
/// The table is a hint: the store knows which version is current, and every connection receives each version at
/// most once, in ascending order, however often and by whomever it is announced.
final class InvalidationHub: Sendable {
  private struct State {
    var connections: [String: [ObjectIdentifier: Connection]] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// The namespaces that have listeners.
  var namespaces: [String] { state.withLock { Array($0.connections.keys) } }

  /// Adds a connection; answers false when the hub is closed.
  func add(_ connection: Connection, namespace: String) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.connections[namespace, default: [:]][ObjectIdentifier(connection)] = connection
      return true
    }
  }

  func remove(_ connection: Connection, namespace: String) {
    // The connection is released with the lock open.
    let removed = state.withLock { state in
      let removed = state.connections[namespace]?.removeValue(forKey: ObjectIdentifier(connection))
      if state.connections[namespace]?.isEmpty == true { state.connections[namespace] = nil }
      return removed
    }
    removed?.silence()
  }

  /// Notifies all connections of a namespace of a published version.
  func announce(_ version: Int64, namespace: String) {
    let connections = state.withLock { $0.connections[namespace].map { Array($0.values) } ?? [] }
    for connection in connections { connection.offer(version) }
  }

  /// Ends the connections of a namespace with an error.
  func end(_ namespace: String, _ error: RemoteConfigServiceError) {
    let connections = state.withLock { $0.connections.removeValue(forKey: namespace).map { Array($0.values) } ?? [] }
    for connection in connections { connection.end(error) }
  }

  /// Ends all connections.
  func close() {
    let connections = state.withLock { state in
      state.isClosed = true
      defer { state.connections = [:] }
      return state.connections.values.flatMap(\.values)
    }
    for connection in connections { connection.end(nil) }
  }
}

/// One realtime connection: receives newer versions only, one call at a time.
///
/// Its receiver is called on a lane of threads that no task runs on: one that blocks delays neither the publisher nor
/// anybody else.
final class Connection: Sendable {
  private struct Handlers: Sendable {
    var receive: @Sendable (ConfigInvalidation) -> Void
    var end: @Sendable (RemoteConfigServiceError?) -> Void
  }

  private struct State {
    var lastVersion: Int64
    var isDelivering = false
    var waiting: Int64?
    var handlers: Handlers?
  }

  private let state: Locked<State>
  private let lane = BlockingLane()

  init(
    lastKnownVersion: Int64, onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) {
    state = Locked(State(lastVersion: lastKnownVersion, handlers: Handlers(receive: receive, end: onEnd)))
  }

  /// Delivers a version that is newer than the last one, later; returns at once.
  ///
  /// While one is delivered, only the newest waits.
  func offer(_ version: Int64) {
    let begins = state.withLock { state in
      guard version > state.lastVersion, state.handlers != nil else { return false }
      state.lastVersion = version
      state.waiting = version
      guard !state.isDelivering else { return false }
      state.isDelivering = true
      return true
    }
    if begins { lane.async { self.deliver() } }
  }

  private func deliver() {
    while true {
      let (version, handlers) = state.withLock { state in
        if state.waiting == nil { state.isDelivering = false }
        return (state.waiting.take(), state.handlers)
      }
      guard let version else { return }
      handlers?.receive(ConfigInvalidation(latestVersion: version))
    }
  }

  func end(_ error: RemoteConfigServiceError?) {
    let handlers = state.withLock { $0.handlers.take() }
    handlers?.end(error)
  }

  func silence() {
    let handlers = state.withLock { $0.handlers.take() }
    withExtendedLifetime(handlers) {}
  }
}
