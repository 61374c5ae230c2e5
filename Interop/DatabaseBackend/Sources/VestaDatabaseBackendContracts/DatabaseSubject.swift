import VestaConcurrency
public import VestaDatabaseBackend
import VestaServiceInterop
import VestaTesting

/// A backend under test, with a separate, empty database.
public struct DatabaseSubject: Sendable {
  let backend: any DatabaseBackend
  private let namespace: String

  /// A subject.
  ///
  /// - Parameters:
  ///   - backend: The backend.
  ///   - namespace: A database that is empty.
  public init(_ backend: any DatabaseBackend, namespace: String = "contracts") {
    self.backend = backend
    self.namespace = namespace
  }

  func connect(_ context: CallContext = CallContext()) -> ContractClient {
    ContractClient(backend, namespace, context)
  }

  func reading(_ path: DatabasePath) -> DatabaseReadRequest { DatabaseReadRequest(namespace: namespace, path: path) }

  func writing(
    _ path: DatabasePath, _ change: DatabaseWriteRequest.Change, hash: String? = nil
  ) -> DatabaseWriteRequest {
    DatabaseWriteRequest(namespace: namespace, path: path, change, hash: hash)
  }

  func open(_ receive: @escaping @Sendable (DatabaseServerMessage) -> Void) -> any DatabaseConnection {
    backend.connect(DatabaseConnectRequest(namespace: namespace), receive: receive)
  }
}

/// A connection that remembers all that it is sent.
final class ContractClient: Sendable {
  private struct State {
    var messages: [DatabaseServerMessage] = []
    var waiting:
      [(isMet: @Sendable ([DatabaseServerMessage]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
        []
    var nextID = 1
  }

  private let state = Locked(State())
  private let connection = Locked<(any DatabaseConnection)?>(nil)

  init(_ backend: any DatabaseBackend, _ namespace: String, _ context: CallContext) {
    let request = DatabaseConnectRequest(namespace: namespace, context: context)
    let opened = backend.connect(request) { [weak self] in self?.receive($0) }
    connection.withLock { $0 = opened }
  }

  var messages: [DatabaseServerMessage] { state.withLock { $0.messages } }

  func close() { connection.withLock { $0 }?.close() }

  func send(_ request: DatabaseRequest) -> Int {
    let id = state.withLock { state in
      defer { state.nextID += 1 }
      return state.nextID
    }
    connection.withLock { $0 }?.send(request, id: id)
    return id
  }

  func call(_ request: DatabaseRequest) async -> DatabaseReply { await reply(send(request)) }

  func reply(_ id: Int) async -> DatabaseReply {
    await wait { $0.contains { if case .reply(id, _) = $0 { true } else { false } } }
    for case .reply(id, let reply) in messages { return reply }
    return DatabaseReply(.unavailable)
  }

  func wait(_ isMet: @escaping @Sendable ([DatabaseServerMessage]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetNow = state.withLock { state in
        if isMet(state.messages) { return true }
        state.waiting.append((isMet, continuation))
        return false
      }
      if isMetNow { continuation.resume() }
    }
  }

  func closed() async { await wait { $0.contains { if case .closed = $0 { true } else { false } } } }

  private func receive(_ message: DatabaseServerMessage) {
    let met = state.withLock { state in
      state.messages.append(message)
      let messages = state.messages
      let met = state.waiting.filter { $0.isMet(messages) }
      state.waiting.removeAll { $0.isMet(messages) }
      return met.map(\.continuation)
    }
    for continuation in met { continuation.resume() }
  }
}

extension ContractClient {
  func put(_ path: DatabasePath, _ leaf: DatabaseLeaf, hash: String? = nil) async -> DatabaseReply {
    await call(.put(path, DatabaseNode(leaf), hash: hash))
  }

  func get(_ path: DatabasePath) async -> DatabaseNode { await call(.get(path, .all)).node }
}
