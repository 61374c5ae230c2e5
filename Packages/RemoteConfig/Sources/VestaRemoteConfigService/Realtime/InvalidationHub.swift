import VestaConcurrency
import VestaRemoteConfigBackend

/// The realtime connections of all clients, by namespace.
///
/// The table is a hint: the store knows which version is current, and every connection receives each version at
/// most once, in ascending order, however often and by whomever it is announced.
final class InvalidationHub: Sendable {
  private struct State {
    var connections: [String: [ObjectIdentifier: InvalidationReceiver]] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// The namespaces that have listeners.
  var namespaces: [String] { state.withLock { Array($0.connections.keys) } }

  /// Adds a connection; answers false when the hub is closed.
  func add(_ connection: InvalidationReceiver, namespace: String) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.connections[namespace, default: [:]][ObjectIdentifier(connection)] = connection
      return true
    }
  }

  /// Removes a connection that was left: it is sent nothing more.
  func remove(_ connection: InvalidationReceiver, namespace: String) {
    // The connection is released with the lock open.
    take(connection, namespace)?.silence()
  }

  /// Removes a connection that cannot be served: it ends with the error.
  func remove(_ connection: InvalidationReceiver, namespace: String, ending error: RemoteConfigServiceError) {
    _ = take(connection, namespace)
    connection.end(error)
  }

  private func take(_ connection: InvalidationReceiver, _ namespace: String) -> InvalidationReceiver? {
    state.withLock { state in
      let removed = state.connections[namespace]?.removeValue(forKey: ObjectIdentifier(connection))
      if state.connections[namespace]?.isEmpty == true { state.connections[namespace] = nil }
      return removed
    }
  }

  /// Notifies all connections of a namespace of a published version.
  func announce(_ version: Int64, namespace: String) {
    let connections = state.withLock { $0.connections[namespace].map { Array($0.values) } ?? [] }
    for connection in connections { connection.offer(ConfigInvalidation(latestVersion: version)) }
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
