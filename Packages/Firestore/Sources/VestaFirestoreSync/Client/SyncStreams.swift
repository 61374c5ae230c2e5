import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// The open calls of a client, and the tasks that read them.
final class SyncStreams: Sendable {
  private struct State {
    var watch: (stream: Int, call: ListenCall?, task: Task<Void, Never>)?
    var write: (stream: Int, call: WriteCall?, task: Task<Void, Never>)?
    var refreshesTokens = false
  }

  private let database: DatabaseName
  private let backend: any FirestoreBackend
  private let options: SyncOptions
  private let state = Locked(State())

  init(database: DatabaseName, backend: any FirestoreBackend, options: SyncOptions) {
    self.database = database
    self.backend = backend
    self.options = options
  }

  func perform(_ action: ClientAction, _ client: SyncClient) {
    switch action {
    case .openWatch(let stream, let refreshes): openWatch(stream, refreshes, client)
    case .watch(let stream, let record): watchCall(stream)?.send(.addTarget(record.message))
    case .unwatch(let stream, let id): watchCall(stream)?.send(.removeTarget(id: id))
    case .closeWatch(let stream): closeWatch(stream)
    case .openWrite(let stream, let refreshes): openWrite(stream, refreshes, client)
    case .shakeHands(let stream): writeCall(stream)?.send(WriteRequest(database: database.description))
    case .write(let stream, let batch, let token):
      let writes = batch.mutations.map { $0.write(in: database) }
      writeCall(stream)?.send(WriteRequest(writes: writes, streamToken: token, id: batch.requestID))
    case .closeWrite(let stream, let token): closeWrite(stream, token)
    default: break
    }
  }

  /// The context of a call; tokens that were refused before are fetched again.
  func context(refreshes: Bool = false) async throws -> CallContext {
    let refreshesTokens = state.withLock { state in
      defer { state.refreshesTokens = false }
      return state.refreshesTokens || refreshes
    }
    return try await options.context(refreshesTokens)
  }

  /// Notes that the backend has refused the tokens of a call.
  func noteFailure(_ error: any Error) {
    guard (error as? FirestoreServiceError)?.code == .unauthenticated else { return }
    state.withLock { $0.refreshesTokens = true }
  }

  static func failure(_ error: any Error) -> FirestoreServiceError {
    if let error = error as? FirestoreServiceError { return error }
    if error is CancellationError { return FirestoreServiceError(.cancelled, "The call was cancelled.") }
    return FirestoreServiceError(.unavailable, "\(error)")
  }

  private static let ended = FirestoreServiceError(.unavailable, "The backend has ended the stream.")

  // MARK: Watch

  private func watchCall(_ stream: Int) -> ListenCall? {
    state.withLock { state in state.watch.flatMap { $0.stream == stream ? $0.call : nil } }
  }

  /// Reads the first results of a target, for the machine to use.
  ///
  /// An error of the target is sent by the stream.
  func read(_ record: TargetRecord, _ stream: Int, _ client: SyncClient?) async {
    let found = try? await results(of: record.target)
    client?.run { machine in
      machine.watch.receivedFirst(stream: stream, target: record.id, found?.documents, version: found?.version ?? .zero)
    }
  }

  /// Returns the documents of a target, or the absence of the one that was asked for, all of one version.
  private func results(of target: QueryTarget) async throws -> (documents: [CachedDocument], version: Timestamp) {
    var documents: [CachedDocument] = []
    var version = Timestamp.zero
    let context = try await context()
    if target.isDocument {
      let name = ResourceName(database: database, path: target.path)
      let request = BatchGetDocumentsRequest(database: database.description, documents: [name.description])
      try await backend.batchGet(request, context: context) { response in
        version = response.readTime ?? version
        guard case .found(let document)? = response.result else { return }
        documents.append(CachedDocument(document, at: target.path, readTime: version))
      }
      if documents.isEmpty { documents.append(CachedDocument(name, .missing, version: version, readTime: version)) }
    } else {
      let request = RunQueryRequest(parent: target.parent, query: target.structured)
      try await backend.runQuery(request, context: context) { response in
        version = response.readTime ?? version
        guard let document = response.document else { return }
        documents.append(try CachedDocument(document, likely: database, readTime: version))
      }
    }
    guard version > .zero else { throw Self.ended }
    return (documents, version)
  }

  private func openWatch(_ stream: Int, _ refreshes: Bool, _ client: SyncClient) {
    // The task waits for its registration, so that it cannot be over before it is known.
    let task = Task { [weak client, self] in
      do {
        let call = try await backend.listen(database: database.description, context: context(refreshes: refreshes))
        guard keep(call, stream) else { return call.cancel() }
        client?.run { $0.watch.opened(stream: stream) }
        for try await batch in call.responses {
          client?.run(.responses(batch)) { machine in
            for response in batch { machine.watch.received(stream: stream, response) }
          }
        }
        client?.run { $0.watch.closed(stream: stream, error: Self.ended) }
      } catch {
        client?.run { $0.watch.closed(stream: stream, error: Self.failure(error)) }
      }
    }
    let old = state.withLock { state in
      defer { if state.watch?.stream != stream { state.watch = (stream, nil, task) } }
      return state.watch
    }
    if let old, old.stream != stream { old.task.cancel() }
  }

  private func keep(_ call: ListenCall, _ stream: Int) -> Bool {
    state.withLock { state in
      if let watch = state.watch, watch.stream > stream || watch.stream == stream && watch.task.isCancelled {
        return false
      }
      if state.watch?.stream == stream { state.watch?.call = call } else { state.watch = (stream, call, Task {}) }
      return true
    }
  }

  private func closeWatch(_ stream: Int) {
    let old = state.withLock { $0.watch }
    guard let old, old.stream == stream else { return }
    old.call?.cancel()
    old.task.cancel()
  }

  // MARK: Write

  private func writeCall(_ stream: Int) -> WriteCall? {
    state.withLock { state in state.write.flatMap { $0.stream == stream ? $0.call : nil } }
  }

  private func openWrite(_ stream: Int, _ refreshes: Bool, _ client: SyncClient) {
    let task = Task { [weak client, self] in
      do {
        let call = try await backend.write(database: database.description, context: context(refreshes: refreshes))
        guard keep(call, stream) else { return call.cancel() }
        client?.run { $0.writes.opened(stream: stream) }
        for try await batch in call.responses {
          client?.run { machine in for response in batch { machine.writes.received(stream: stream, response) } }
        }
        client?.run { $0.writes.closed(stream: stream, error: Self.ended) }
      } catch {
        client?.run { $0.writes.closed(stream: stream, error: Self.failure(error)) }
      }
    }
    let old = state.withLock { state in
      defer { if state.write?.stream != stream { state.write = (stream, nil, task) } }
      return state.write
    }
    if let old, old.stream != stream { old.task.cancel() }
  }

  private func keep(_ call: WriteCall, _ stream: Int) -> Bool {
    state.withLock { state in
      if let write = state.write, write.stream > stream || write.stream == stream && write.task.isCancelled {
        return false
      }
      if state.write?.stream == stream { state.write?.call = call } else { state.write = (stream, call, Task {}) }
      return true
    }
  }

  private func closeWrite(_ stream: Int, _ token: [UInt8]?) {
    let old = state.withLock { $0.write }
    guard let old, old.stream == stream else { return }
    if let token { old.call?.send(WriteRequest(streamToken: token)) }
    old.call?.finish()
    old.task.cancel()
  }
}
