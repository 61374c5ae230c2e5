import Testing
import VestaFirestoreBackend

@testable import FirestoreCrashWorker

extension FirestoreBackend {
  func documents(_ query: StructuredQuery, _ consistency: ReadConsistency = .latest) async throws -> [Document] {
    var found: [Document] = []
    let request = RunQueryRequest(parent: root, query: query, consistency: consistency)
    try await runQuery(request, context: owner) { if let document = $0.document { found.append(document) } }
    return found
  }

  func all(_ collection: String) async throws -> [Document] {
    try await documents(StructuredQuery(from: [.init(collectionID: collection)]))
  }

  /// The results of a query, answered from an index: asked again until it is made.
  func indexed(_ query: StructuredQuery) async throws -> [Document]? {
    for _ in 0..<20_000 {
      var found: [Document] = []
      var metrics: ExplainMetrics?
      let request = RunQueryRequest(parent: root, query: query, explain: ExplainOptions(analyze: true))
      try await runQuery(request, context: owner) { response in
        if let document = response.document { found.append(document) }
        metrics = response.explainMetrics ?? metrics
      }
      if let metrics, !metrics.indexesUsed.isEmpty { return found }
      await Task.yield()
    }
    return nil
  }

  @discardableResult
  func commit(_ writes: [Write]) async throws -> CommitResponse {
    try await commit(CommitRequest(database: database, writes: writes), context: owner)
  }
}

/// The state of a listener for one target: kept over restarts, as a client keeps it.
struct Memory {
  let target: Int32 = 2
  let query: StructuredQuery
  private(set) var documents: [String: Document] = [:]
  private(set) var token: [UInt8] = []
  private(set) var wasReset = false
  private(set) var filter: ExistenceFilter?

  init(_ query: StructuredQuery) { self.query = query }

  /// Listens until everything is there that the backend has, and ends the call.
  mutating func catchUp(with backend: any FirestoreBackend, believing count: Int? = nil) async throws {
    (wasReset, filter) = (false, nil)
    let call = try await backend.listen(database: database, context: owner)
    let resume = token.isEmpty ? nil : Target.Resume.token(token)
    call.send(
      .addTarget(
        Target(
          id: target, .query(parent: root, query), resume: resume,
          expectedCount: resume == nil ? nil : Int32(count ?? documents.count))))
    for try await batch in call.responses {
      var isDone = false
      for response in batch { isDone = take(response) || isDone }
      if isDone { break }
    }
    call.cancel()
  }

  /// - Returns: Whether it was the global snapshot, behind which nothing is owed.
  private mutating func take(_ response: ListenResponse) -> Bool {
    switch response {
    case .documentChange(let change):
      documents[change.document.name] = change.targetIDs.contains(target) ? change.document : nil
    case .documentDelete(let delete): documents[delete.document] = nil
    case .documentRemove(let remove): documents[remove.document] = nil
    case .filter(let told): filter = told
    case .targetChange(let change):
      if !change.resumeToken.isEmpty { token = change.resumeToken }
      if change.kind == .reset { (documents, wasReset) = ([:], true) }
      if let cause = change.cause { Issue.record(cause) }
      return change.kind == .noChange && change.targetIDs.isEmpty
    }
    return false
  }
}
