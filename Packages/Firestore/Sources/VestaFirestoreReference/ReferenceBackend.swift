import VestaConcurrency
public import VestaFirestoreBackend
import VestaFirestoreModel

/// A backend that answers everything in the obvious way: documents in a dictionary, queries by looking at every one.
///
/// For tests: engines are compared with it, and clients can be run on it. It knows owners only, checks no tokens, keeps
/// no history, and has no indexes. Transactions, partitions and calls that stay open are refused with `UNIMPLEMENTED`.
///
/// Commits are serial. Times are counted, one microsecond for each commit, from the time that it was made with.
public final class ReferenceBackend: FirestoreBackend {
  private struct State: Sendable {
    var documents: [ResourceName: Document] = [:]
    var lastCommit: Timestamp
  }

  private let state: Locked<State>

  /// A backend without documents.
  ///
  /// - Parameter time: The time before the first commit.
  public init(time: Timestamp = Timestamp(seconds: 1_700_000_000)) {
    state = Locked(State(lastCommit: time))
  }

  /// Reads documents by name.
  public func batchGet(
    _ request: BatchGetDocumentsRequest,
    context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try ReferenceBackend.checkLatest(request.consistency)
    let paths = try request.mask.map { try FieldMaskRules.paths($0.fieldPaths) }
    var seen: Set<ResourceName> = []
    let names = try request.documents.map { try ResourceName(document: $0) }.filter { seen.insert($0).inserted }
    let snapshot = state.withLock { $0 }
    for name in names {
      var result = BatchGetDocumentsResponse.Result.missing("\(name)")
      if var document = snapshot.documents[name] {
        if let paths { document.fields = document.fields.projected(to: paths) }
        result = .found(document)
      }
      try await receive(BatchGetDocumentsResponse(result: result, readTime: snapshot.lastCommit))
    }
  }

  /// Lists the documents of a collection by name, all on one page.
  public func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    guard request.orderBy.isEmpty, !request.showMissing, request.pageToken.isEmpty else {
      throw ReferenceBackend.unimplemented("Listing in an order, in pages or with missing documents")
    }
    try ReferenceBackend.checkLatest(request.consistency)
    let from = StructuredQuery.CollectionSelector(collectionID: request.collectionID)
    let select = (request.mask?.fieldPaths).map { $0.isEmpty ? ["__name__"] : $0 }
    let query = try NormalQuery(
      StructuredQuery(select: select, from: [from]), parent: request.parent
    )
    return ListDocumentsResponse(documents: query.results(in: state.withLock { $0 }.documents.values).documents)
  }

  /// Lists the collections below a parent, all on one page.
  public func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    let parent = try ResourceName(parent: request.parent)
    let depth = parent.path.segments.count
    let below = state.withLock { $0 }.documents.keys.filter {
      $0.database == parent.database && $0.path.hasPrefix(parent.path) && $0.path.segments.count > depth
    }
    let paths = Set(below.map { ResourcePath([$0.path.segments[depth]]) }).sorted()
    return ListCollectionIDsResponse(collectionIDs: paths.map(\.lastSegment))
  }

  /// Runs a query by looking at every document.
  public func runQuery(
    _ request: RunQueryRequest,
    context: CallContext,
    receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try ReferenceBackend.checkLatest(request.consistency)
    let query = try NormalQuery(request.query, parent: request.parent)
    let snapshot = state.withLock { $0 }
    let (documents, skipped) = query.results(in: snapshot.documents.values)
    if skipped > 0 || documents.isEmpty {
      try await receive(RunQueryResponse(readTime: snapshot.lastCommit, skippedResults: Int32(clamping: skipped)))
    }
    for document in documents {
      try await receive(RunQueryResponse(document: document, readTime: snapshot.lastCommit))
    }
  }

  /// Counts, sums and averages by looking at every document.
  public func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try ReferenceBackend.checkLatest(request.consistency)
    var aggregator = try Aggregator(request.query.aggregations)
    let query = try aggregator.query(request.query.query, parent: request.parent)
    let snapshot = state.withLock { $0 }
    for document in query.results(in: snapshot.documents.values).documents { aggregator.add(document) }
    return RunAggregationQueryResponse(result: aggregator.result, readTime: snapshot.lastCommit)
  }

  /// Refuses: this backend does not split queries.
  public func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    throw ReferenceBackend.unimplemented("Partitioning")
  }

  /// Commits writes, all or nothing.
  public func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    guard request.transaction == nil else { throw ReferenceBackend.unimplemented("A transaction") }
    return try apply(request.writes, database: request.database)
  }

  /// Applies writes, each by itself.
  public func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try WriteRules.checkDistinct(request.writes)
    var results: [Result<WriteResult, FirestoreServiceError>] = []
    for write in request.writes {
      do {
        results.append(.success(try apply([write], database: request.database).writeResults[0]))
      } catch {
        results.append(.failure(error))
      }
    }
    return BatchWriteResponse(results: results)
  }

  /// Refuses: this backend has no transactions.
  public func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    throw ReferenceBackend.unimplemented("A transaction")
  }

  /// Refuses: this backend has no transactions.
  public func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    throw ReferenceBackend.unimplemented("A transaction")
  }

  /// Refuses: this backend has no targets.
  public func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    throw ReferenceBackend.unimplemented("Listening")
  }

  /// Refuses: this backend has no write calls.
  public func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    throw ReferenceBackend.unimplemented("A write call")
  }

  private func apply(_ writes: [Write], database: String) throws(FirestoreServiceError) -> CommitResponse {
    try WriteRules.check(writes, database: try DatabaseName(parsing: database))
    let outcome: Result<CommitResponse, FirestoreServiceError> = state.withLock { state in
      do throws(FirestoreServiceError) {
        return .success(try ReferenceBackend.commit(writes, to: &state))
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  private static func commit(_ writes: [Write], to state: inout State) throws(FirestoreServiceError) -> CommitResponse {
    let time = Timestamp(microseconds: (state.lastCommit.microseconds ?? 0) + 1)
    var documents = state.documents
    var results: [WriteResult] = []
    for write in writes {
      let name = try ResourceName(document: write.name)
      let outcome = try write.applied(to: documents[name], commitTime: time)
      documents[name] = outcome.document
      results.append(outcome.result)
    }
    state.documents = documents
    state.lastCommit = time
    return CommitResponse(writeResults: results, commitTime: time)
  }

  private static func checkLatest(_ consistency: ReadConsistency) throws(FirestoreServiceError) {
    guard consistency == .latest else { throw unimplemented("Reading in a transaction or in the past") }
  }

  private static func unimplemented(_ what: String) -> FirestoreServiceError {
    FirestoreServiceError(.unimplemented, "\(what) is not part of the reference backend.")
  }
}
