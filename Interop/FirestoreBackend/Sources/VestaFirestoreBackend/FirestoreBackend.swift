/// The document store as its clients see it: one method for each call of `google.firestore.v1`.
///
/// An engine in the process implements it, a client of a remote service does, and a server puts any implementation of
/// it on the wire. Requests and responses mirror the wire's messages, so that such adapters are plain renaming. The
/// calls for one document are not here: an adapter makes them of `batchGet` and `commit`.
///
/// Promises of every implementation:
/// - All methods may be called from any task at any time. An embedded backend answers on the calling task.
/// - Resource names say which database is meant; databases know nothing of each other.
/// - A call that throws has changed nothing, except where it says so. Errors have the service's codes, and messages
///   that name the part of the request that is wrong.
/// - Commits have an order. Their times grow strictly and have whole microseconds. A read that begins after a commit
///   has returned sees it.
/// - Cancelling the calling task ends a call with `CANCELLED`; a commit that has begun may have happened.
/// - A call whose deadline has passed fails with `DEADLINE_EXCEEDED` and has changed nothing; where it is the answer of
///   one write of a batch, that write has changed nothing. The deadline of a call that stays open ends it.
public protocol FirestoreBackend: Sendable {
  // MARK: Reading

  /// Reads documents by name, all at one version.
  ///
  /// - Parameters:
  ///   - request: Which documents.
  ///   - context: Whose call it is.
  ///   - receive: Takes the responses, one by one and in any order of names; the next one waits for it. It may end the
  ///     call by throwing. Do not keep it waiting: the backend holds the version that it reads.
  /// - Throws: `FirestoreServiceError`, or what `receive` threw. Documents received before it are right all the same.
  func batchGet(
    _ request: BatchGetDocumentsRequest,
    context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws

  /// Lists the documents of a collection, a page at a time.
  func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse

  /// Lists the collections directly below a document or the root, a page at a time.
  ///
  /// A collection is there when any document is below it, at whatever depth. For owners only.
  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse

  /// Runs a query; results are in its order.
  ///
  /// - Parameters:
  ///   - request: The query.
  ///   - context: Whose call it is.
  ///   - receive: Takes the responses, one by one; the next one waits for it. It may end the call by throwing.
  /// - Throws: `FirestoreServiceError`, or what `receive` threw.
  func runQuery(
    _ request: RunQueryRequest,
    context: CallContext,
    receive: (RunQueryResponse) async throws -> Void
  ) async throws

  /// Counts, sums and averages the results of a query.
  func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse

  /// Splits a query into parts of about equal size. For owners only.
  func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse

  // MARK: Writing

  /// Commits writes, all or nothing, and ends the transaction if there is one.
  ///
  /// - Throws: `ABORTED` when another transaction was in the way: begin again. The transaction has ended then, and so
  ///   it has after every other error.
  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse

  /// Applies writes, each by itself and in any order.
  ///
  /// - Throws: An error of the request as a whole. The error of one write is in its result.
  func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse

  // MARK: Transactions

  /// Begins a transaction.
  ///
  /// It ends with its commit or rollback, after 270 seconds, or after 60 seconds without a call.
  func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse

  /// Gives a transaction up, and what it holds.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a transaction that is not known; one that has ended already is no failure.
  func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError)

  // MARK: Calls that stay open

  /// Opens a call that follows targets; see `ListenResponse` for the order of what it says.
  ///
  /// - Parameters:
  ///   - database: The database, `projects/{p}/databases/{d}`.
  ///   - context: Whose call it is. Another user needs another call.
  /// - Throws: An error of the call as a whole. The error of a target ends that target alone.
  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall

  /// Opens a call that writes; see `WriteRequest` for its course.
  ///
  /// - Parameters:
  ///   - database: The database, `projects/{p}/databases/{d}`.
  ///   - context: Whose call it is. Another user needs another call.
  /// - Throws: The failure that prevents the whole call.
  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall

  /// The executor on which responses arrive; `nil` for a backend without one.
  ///
  /// A task that prefers it takes a response without a change of threads. It may be the thread of all connections, so
  /// such a task must not work for long or block.
  var responseExecutor: (any TaskExecutor)? { get }
}

extension FirestoreBackend {
  /// No executor.
  public var responseExecutor: (any TaskExecutor)? { nil }
}
