import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// The open calls of a client, and the tasks that read them.
final class SyncStreams: Sendable {
  private let database: DatabaseName
  private let backend: any FirestoreBackend
  private let options: SyncOptions
  private let watch = StreamSlot<ListenRequest, ListenResponse>()
  private let requests: WatchRequests
  private let write = StreamSlot<WriteRequest, WriteResponse>()
  private let refreshesTokens = Locked(false)

  init(database: DatabaseName, backend: any FirestoreBackend, options: SyncOptions) {
    self.database = database
    self.backend = backend
    self.options = options
    requests = WatchRequests(options, on: { backend.responseExecutor }) { [watch] in watch.call($0) }
  }

  /// Where responses of the backend arrive.
  var responseExecutor: (any TaskExecutor)? { backend.responseExecutor }

  func perform(_ action: ClientAction, _ client: SyncClient) {
    switch action {
    case .openWatch(let stream, let refreshes): openWatch(stream, refreshes, client)
    case .watch(let stream, let record): requests.send(.addTarget(record.message), stream)
    case .unwatch(let stream, let id): requests.sendSoon(.removeTarget(id: id), stream)
    case .closeWatch(let stream): watch.close(stream) { $0.cancel() }
    case .openWrite(let stream, let refreshes): openWrite(stream, refreshes, client)
    case .shakeHands(let stream): write.call(stream)?.send(WriteRequest(database: database.description))
    case .write(let stream, let batch, let token):
      let writes = batch.mutations.map { $0.write(in: database) }
      write.call(stream)?.send(WriteRequest(writes: writes, streamToken: token, id: batch.requestID))
    case .closeWrite(let stream, let token):
      write.close(stream) { call in
        if let token { call.send(WriteRequest(streamToken: token)) }
        call.finish()
      }
    default: break
    }
  }

  /// The context of a call; tokens that were refused before are fetched again.
  func context(refreshes: Bool = false) async throws -> CallContext {
    let isRefused = refreshesTokens.withLock { isRefused in
      defer { isRefused = false }
      return isRefused
    }
    return try await options.context(isRefused || refreshes)
  }

  /// Notes that the backend has refused the tokens of a call.
  func noteFailure(_ error: any Error) {
    guard (error as? FirestoreServiceError)?.code == .unauthenticated else { return }
    refreshesTokens.withLock { $0 = true }
  }

  static func failure(_ error: any Error) -> FirestoreServiceError {
    if let error = error as? FirestoreServiceError { return error }
    if error is CancellationError { return FirestoreServiceError(.cancelled, "The call was cancelled.") }
    return FirestoreServiceError(.unavailable, "\(error)")
  }

  private static let ended = FirestoreServiceError(.unavailable, "The backend has ended the stream.")

  // MARK: Streams

  /// The context of a stream, whose tokens are of the user for whom the client works.
  ///
  /// Auth may have another user by now, of whom the notification is still to come. The client takes over that user
  /// before the stream is open: so the stream is closed again, and a user's writes are not sent as another's. Two
  /// equal tokens, from before and after that, do not belong to a user who was signed in only in between.
  ///
  /// - Parameter takeUser: Lets the client take over the current user; `false` where it follows none.
  private func context(refreshes: Bool, _ takeUser: () -> Bool) async throws -> CallContext {
    var context = try await context(refreshes: refreshes)
    // An Auth whose tokens are never the same twice must not keep a stream waiting for ever.
    for _ in 0..<10 where takeUser() {
      let later = try await self.context()
      if later.caller == context.caller { return later }
      context = later
    }
    return context
  }

  private func openWatch(_ stream: Int, _ refreshes: Bool, _ client: SyncClient) {
    let takeUser = { @Sendable [weak client] in client.map { $0.companions.takeUser($0) } ?? false }
    watch.open(stream) { [weak client, self] isCurrent in
      do {
        let context = try await context(refreshes: refreshes, takeUser)
        let call = try await backend.listen(database: database.description, context: context)
        guard isCurrent(call) else { return call.cancel() }
        client?.takeEvent { $0.watch.opened(stream: stream) }
        try await read(call.responses, shows: \.isGlobalSnapshot) { batch in
          client?.takeEvent(.responses(batch)) { machine in
            for response in batch { machine.watch.received(stream: stream, response) }
          }
        }
        client?.takeEvent { $0.watch.closed(stream: stream, error: Self.ended) }
      } catch {
        client?.takeEvent { $0.watch.closed(stream: stream, error: Self.failure(error)) }
      }
    }
  }

  private func openWrite(_ stream: Int, _ refreshes: Bool, _ client: SyncClient) {
    let takeUser = { @Sendable [weak client] in client.map { $0.companions.takeUser($0) } ?? false }
    write.open(stream) { [weak client, self] isCurrent in
      do {
        let context = try await context(refreshes: refreshes, takeUser)
        let call = try await backend.write(database: database.description, context: context)
        guard isCurrent(call) else { return call.cancel() }
        client?.takeEvent { $0.writes.opened(stream: stream) }
        try await read(call.responses, shows: { _ in true }) { batch in
          client?.takeEvent { machine in for response in batch { machine.writes.received(stream: stream, response) } }
        }
        client?.takeEvent { $0.writes.closed(stream: stream, error: Self.ended) }
      } catch {
        client?.takeEvent { $0.writes.closed(stream: stream, error: Self.failure(error)) }
      }
    }
  }

  /// Takes responses where they arrive.
  ///
  /// A change of threads would take longer than most of them. Many responses are taken elsewhere, because the thread
  /// serves other connections, too.
  ///
  /// - Parameter shows: Whether a response makes the machine work on all that it was sent before.
  private func read<Response: Sendable>(
    _ responses: AsyncThrowingStream<[Response], any Error>, shows: (Response) -> Bool, _ take: ([Response]) -> Void
  ) async throws {
    let executor = backend.responseExecutor
    try await withTaskExecutorPreference(executor) {
      // The bytes that the machine was sent and has not shown yet: the response that shows it costs as much as all of
      // it.
      var held = 0
      for try await batch in responses {
        held += batch.count
        if executor == nil || held <= options.tuning.responsesInPlace {
          take(batch)
        } else {
          await withTaskExecutorPreference(globalConcurrentExecutor) {
            // The preference counts from the next suspension on.
            await Task.yield()
            take(batch)
          }
        }
        if batch.contains(where: shows) { held = 0 }
      }
    }
  }

  // MARK: First results

  /// Begins to read the first results of a target, for the machine to use.
  ///
  /// - Parameter isAwaited: Whether the caller is about to wait for them: the read begins on the caller's thread then.
  func startFetching(_ record: TargetRecord, _ stream: Int, _ client: SyncClient, isAwaited: Bool) {
    if isAwaited, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate { [weak client, self] in await fetchFirstResults(record, stream, client) }
    } else {
      Task { [weak client, self] in await fetchFirstResults(record, stream, client) }
    }
  }

  /// Reads the first results of a target.
  ///
  /// An error of the target is sent by the stream.
  private func fetchFirstResults(_ record: TargetRecord, _ stream: Int, _ client: SyncClient?) async {
    let found = try? await firstResults(of: record.target)
    client?.takeEvent { machine in
      machine.watch.receivedFirst(stream: stream, target: record.id, found?.documents, version: found?.version ?? .zero)
    }
  }

  /// Returns the documents of a target, or the absence of the one that was asked for, all of one version.
  private func firstResults(of target: QueryTarget) async throws -> (documents: [CachedDocument], version: Timestamp) {
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
}

extension ListenResponse {
  /// Whether it is the snapshot of all targets, with which the machine shows what it was sent before.
  fileprivate var isGlobalSnapshot: Bool {
    if case .targetChange(let change) = self { change.kind == .noChange && change.targetIDs.isEmpty } else { false }
  }
}
