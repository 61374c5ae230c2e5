import VestaConcurrency
import VestaCore
import VestaEngineInterop
import VestaEventsInterop
public import VestaFirestoreBackend
public import VestaServiceInterop
public import VestaStoreInterop

/// The authoritative document store, on any `OrderedStore`.
///
/// Documents, commits, queries, transactions, reads at past times and live targets, for any number of databases in one
/// store. A database is created by the first call that writes to it, the default one of a project with the
/// first call; others are `NOT_FOUND` until then. All of it may be used from any task at any time.
///
/// The engine asks a `FirestoreGuard`, such as that of security rules, about everything that leaves or changes
/// documents; without one it serves every caller, or the owner alone (`FirestoreServiceOptions.access`). Listing
/// collections and partitions is the owner's in any case.
///
/// ```swift
/// let engine = FirestoreEngine(store: store)
/// let document = Document(name: "\(database)/documents/rooms/a", fields: ["title": .string("Hall")])
/// let commit = CommitRequest(database: database, writes: [.update(document)])
/// _ = try await engine.commit(commit, context: CallContext(caller: .owner))
/// ```
///
/// To read on: `Calls/FirestoreCall.swift`, then the call in question in `Calls/`, the decisions in `Rules/`, and the
/// rows in `Store/Keys.swift`.
public final class FirestoreEngine: FirestoreBackend {
  private let frame: EngineFrame<FirestoreServiceError>
  private let databases: DocumentDatabases

  /// The events of documents that functions want.
  var events: EventOutbox { frame.events }

  /// An engine on an open store.
  ///
  /// - Parameters:
  ///   - store: Belongs to the engine from here on, which closes it in `close()`.
  ///   - options: Limits, lifetimes, indexes and the clock.
  ///   - callers: The check of who calls; one that refuses every credential unless given.
  ///   - gatekeeper: Decides which calls of others than owners are allowed; `nil` allows all.
  public convenience init(
    store: any OrderedStore, options: FirestoreServiceOptions = FirestoreServiceOptions(),
    callers: CallerCheck = CallerCheck(), gatekeeper: (any FirestoreGuard)? = nil
  ) {
    self.init(options: options, callers: callers, gatekeeper: gatekeeper) { store }
  }

  init(
    options: FirestoreServiceOptions, callers: CallerCheck, gatekeeper: (any FirestoreGuard)? = nil,
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    frame = EngineFrame(
      "Firestore", clock: options.clock, callers: callers, events: DocumentEvents.offer,
      translate: { ($0 as? StoreError)?.code == .conflict ? .contention : nil }, openStore: openStore
    ) { log.error("I-FSS000002", "A call failed unexpectedly: \($0)") }
    databases = DocumentDatabases(options: options, frame: frame, gatekeeper: gatekeeper)
  }

  /// Ends the engine, its open calls, and its store; later calls fail with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws { try await frame.close { databases.close() } }

  /// Reads documents by name, all at one read time.
  public func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await stream(.database(request.database), context) { try await $0.batchGet(request, receive: receive) }
  }

  /// Lists the documents of a collection, a page at a time.
  public func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await serve(.parent(request.parent), context) { try await $0.listDocuments(request) }
  }

  /// Lists the collections right below a document or the root, a page at a time.
  public func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await serve(.parent(request.parent), context, .ofOwners) { try await $0.listCollectionIDs(request) }
  }

  /// Runs a query; results are in its order.
  public func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await stream(.parent(request.parent), context) { try await $0.runQuery(request, receive: receive) }
  }

  /// Counts, sums and averages the results of a query.
  public func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await serve(.parent(request.parent), context) { try await $0.runAggregation(request) }
  }

  /// Splits a query of a collection group into parts that can run side by side.
  public func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await serve(.parent(request.parent), context, .ofOwners) { try await $0.partitionQuery(request) }
  }

  /// Commits writes, all or nothing, and ends the transaction if there is one.
  public func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await serve(.database(request.database), context, .write) { try await $0.commit(request) }
  }

  /// Applies writes, each by itself, in the order of the request.
  public func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await serve(.database(request.database), context, .write) { try await $0.batchWrite(request) }
  }

  /// Begins a transaction.
  public func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await serve(.database(request.database), context, .write) {
      BeginTransactionResponse(transaction: try await $0.begin(request.options))
    }
  }

  /// Whether this engine can continue a transaction: one that it began itself, or one that only reads.
  ///
  /// The reads and locks of a transaction that writes are in the memory of the engine that began it. Others on the
  /// same store refuse its calls with `ABORTED`, so a program that spreads calls over several processes sends the calls
  /// of one transaction to one of them.
  ///
  /// - Parameter transaction: Its identifier.
  /// - Returns: `true` also for bytes that are no identifier: any engine may refuse them.
  public func serves(transaction: [UInt8]) -> Bool {
    guard let ticket = TransactionTicket(transaction) else { return true }
    return ticket.engine == databases.owner || ticket.readVersion != nil
  }

  /// Gives a transaction up, and what it holds.
  public func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await serve(.database(request.database), context) { try $0.rollback(request.transaction) }
  }

  /// Opens a call that follows targets.
  public func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await serve(.database(database), context) { $0.listen() }
  }

  /// Opens a call that writes.
  public func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await serve(.database(database), context, .write) { $0.openWriteCall() }
  }

  /// Runs a call that is about the databases, or finds its own.
  func serving<Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable (DocumentDatabases, CallContext) async throws -> Result
  ) async throws(FirestoreServiceError) -> Result {
    let databases = databases
    return try await frame.serve(context) { context in
      do {
        return try await body(databases, context)
      } catch {
        throw FirestoreServiceError.endOfCancelled(error)
      }
    }
  }

  /// Runs a call as the frame does.
  private func serve<Result: Sendable>(
    _ target: CallTarget, _ context: CallContext, _ kind: CallKind = .read,
    _ body: @escaping @Sendable (FirestoreCall) async throws -> Result
  ) async throws(FirestoreServiceError) -> Result {
    try await serving(context) { databases, context in
      try await body(FirestoreCall(engine: try await databases.engine(target, context, kind), context: context))
    }
  }

  /// Runs a call that hands out responses; its receiver's own errors pass unchanged.
  private func stream(
    _ target: CallTarget, _ context: CallContext, _ body: (FirestoreCall) async throws -> Void
  ) async throws {
    let context = try await frame.admit(context)
    do {
      try await body(FirestoreCall(engine: try await databases.engine(target, context, .read), context: context))
    } catch let error as StoreError {
      throw frame.failure(error, context)
    } catch let error as BytesError {
      throw frame.failure(error, context)
    } catch is CancellationError where Task.isCancelled {
      throw frame.failure(CancellationError(), context)
    }
  }

  /// The engine of a database, for tests.
  func engine(_ name: String) async throws -> DocumentDatabase {
    try await databases.engine(.database(name), .owner, .read)
  }
}
