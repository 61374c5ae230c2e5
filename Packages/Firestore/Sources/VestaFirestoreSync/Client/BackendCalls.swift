import VestaFirestoreBackend
import VestaFirestoreModel

/// The calls of a client that the backend answers alone, without streams and without the cache.
struct BackendCalls: Sendable {
  let database: DatabaseName
  let backend: any FirestoreBackend
  let streams: SyncStreams
  /// The name of the database, as requests have it.
  private let text: String

  init(_ database: DatabaseName, _ backend: any FirestoreBackend, _ streams: SyncStreams) {
    self.database = database
    self.backend = backend
    self.streams = streams
    text = database.description
  }

  /// Makes a call of the backend; one whose tokens are refused is made once more, with new ones.
  ///
  /// - Parameter body: The call; data of the first time is received again.
  private func call(_ body: (CallContext) async throws -> Void) async throws {
    do {
      try await body(streams.context())
    } catch let error as FirestoreServiceError where error.code == .unauthenticated {
      do {
        try await body(streams.context(refreshes: true))
      } catch {
        streams.noteFailure(error)
        throw error
      }
    }
  }

  /// Reads documents; one that is not there is returned as missing.
  func documents(at paths: [ResourcePath]) async throws -> [CachedDocument] {
    let names = paths.map { ResourceName(database: database, path: $0) }
    let request = BatchGetDocumentsRequest(database: text, documents: names.map(\.description))
    var documents: [ResourcePath: CachedDocument] = [:]
    try await call { context in
      documents = [:]
      try await backend.batchGet(request, context: context) { response in
        switch response.result {
        case .found(let document)?:
          let cached = try CachedDocument(document, likely: database)
          documents[cached.path] = cached
        case .missing(let text)?:
          let name = try ResourceName(document: text, likely: database)
          documents[name.path] = CachedDocument(name, .missing, version: .zero)
        case nil: break
        }
      }
    }
    return names.map { documents[$0.path] ?? CachedDocument($0, .missing) }
  }

  /// Reads one document, with the time of the read, which is the version of one that is not there.
  ///
  /// - Parameter limited: Limits the time for which the answer is waited for.
  func document(
    at path: ResourcePath, limited: (CallContext) -> CallContext = { $0 }
  ) async throws -> CachedDocument {
    let name = ResourceName(database: database, path: path)
    let wanted = name.description
    var found: CachedDocument?
    var time = Timestamp.zero
    try await call { context in
      (found, time) = (nil, .zero)
      let request = BatchGetDocumentsRequest(database: text, documents: [wanted])
      try await backend.batchGet(request, context: limited(context)) { response in
        time = response.readTime ?? time
        guard case .found(let document)? = response.result else { return }
        // The name that was asked for need not be taken apart again.
        found =
          UTF8Order.equal(document.name, wanted)
          ? CachedDocument(document, at: path, readTime: time)
          : try CachedDocument(document, likely: database, readTime: time)
      }
    }
    return found ?? CachedDocument(name, .missing, version: time, readTime: time)
  }

  /// Reads the results of a query, in their order.
  func results(_ parent: String, _ query: StructuredQuery) async throws -> [CachedDocument] {
    let request = RunQueryRequest(parent: parent, query: query)
    var documents: [CachedDocument] = []
    var paths = DocumentPaths(in: database)
    try await call { context in
      // A document that was received before a refusal may have been deleted since.
      documents = []
      try await backend.runQuery(request, context: context) { response in
        guard let document = response.document else { return }
        documents.append(CachedDocument(document, at: try paths.path(of: document.name)))
      }
    }
    return documents
  }

  /// Commits writes.
  func commit(_ mutations: [Mutation]) async throws {
    let request = CommitRequest(database: text, writes: mutations.map { $0.write(in: database) })
    try await call { context in _ = try await backend.commit(request, context: context) }
  }

  /// Asks for figures about the results of a query.
  func aggregate(_ query: LocalQuery, _ aggregations: [Aggregation]) async throws -> [String: Value] {
    let request = RunAggregationQueryRequest(
      parent: query.target.parent,
      query: StructuredAggregationQuery(query: query.aggregated, aggregations: aggregations))
    var fields = MapValue()
    try await call { context in fields = try await backend.runAggregation(request, context: context).result ?? [:] }
    return Dictionary(fields.map { ($0.name, $0.value) }) { _, new in new }
  }
}
