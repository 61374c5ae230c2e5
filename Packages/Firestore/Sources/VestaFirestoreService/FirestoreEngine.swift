public import VestaFirestoreBackend
public import VestaStoreInterop
import VestaFirestoreModel
import VestaConcurrency
import VestaCore
import VestaEventsInterop

/// The authoritative document store, on any `OrderedStore`.
///
/// Documents, commits, queries, transactions, reads in the past and live targets, for any number of databases in one
/// store. A database comes into being with the first call that writes to it, the default one of a project with the
/// first call; others are `NOT_FOUND` until then. All of it may be used from any task at any time.
///
/// The engine asks no rules yet: it serves every caller, or the owner alone (`FirestoreServiceOptions.access`). Listing
/// of collections and partitions are the owner's in any case.
///
/// ```swift
/// let engine = FirestoreEngine(store: store)
/// let document = Document(name: "\(database)/documents/rooms/a", fields: ["title": .string("Hall")])
/// let commit = CommitRequest(database: database, writes: [.update(document)])
/// _ = try await engine.commit(commit, context: CallContext(caller: .owner))
/// ```
public final class FirestoreEngine: FirestoreBackend {
  private let store: LazyResource<any OrderedStore>
  private let options: FirestoreServiceOptions
  /// By which other engines on the store know what this one holds.
  private let number = UInt64.random(in: .min ... .max)
  private let engines = Locked([DatabaseName: DatabaseEngine]())
  /// The database that was named last, which most processes name all the time.
  private let latest = Locked<(name: String, engine: DatabaseEngine)?>(nil)
  private let opening = SingleFlight<DatabaseName, DatabaseEngine>()
  private let recent: RecentDocuments
  private let boundary: ServiceBoundary<FirestoreServiceError>
  /// The events of documents that functions want.
  let events: EventOutbox

  /// An engine on an open store.
  ///
  /// - Parameters:
  ///   - store: Belongs to the engine from here on, which closes it in `close()`.
  ///   - options: How the engine behaves.
  public convenience init(store: any OrderedStore, options: FirestoreServiceOptions = FirestoreServiceOptions()) {
    self.init(options: options) { store }
  }

  init(options: FirestoreServiceOptions, open: @escaping @Sendable () async throws -> any OrderedStore) {
    self.options = options
    recent = RecentDocuments(limit: options.recentDocumentBytes)
    boundary = ServiceBoundary(clock: options.clock) { log.error("I-FSS000002", "A call failed unexpectedly: \($0)") }
    let store = LazyResource(
      whenClosed: StoreError(.closed, operation: "open", message: "The document engine has been shut down."),
      open: open, close: { try await $0.close() })
    self.store = store
    events = DocumentEvents.outbox { try await store.get() }
  }

  /// Ends the engine, its open calls, and its store; calls that come later fail with `UNAVAILABLE`.
  public func close() async throws {
    await events.close()
    for engine in engines.withLock({ Array($0.values) }) { engine.close() }
    recent.close()
    try await store.close()
  }

  /// Reads documents by name, all at one moment.
  public func batchGet(
    _ request: BatchGetDocumentsRequest,
    context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await translating {
      try boundary.check(context)
      let engine = try await engine(request.database, context)
      try await engine.batchGet(request) { response in
        try check(context, beginning: response.transaction, of: engine)
        try await receive(response)
      }
    }
  }

  /// Lists the documents of a collection, a page at a time.
  public func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await serve(context) { try await self.engine(parent: request.parent, context).listDocuments(request) }
  }

  /// Lists the collections right below a document or the root, a page at a time.
  public func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await serve(context) {
      try await self.engine(parent: request.parent, context, isForOwners: true).listCollectionIDs(request)
    }
  }

  /// Runs a query; results come in its order.
  public func runQuery(
    _ request: RunQueryRequest,
    context: CallContext,
    receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await translating {
      try boundary.check(context)
      let engine = try await self.engine(parent: request.parent, context)
      try await engine.runQuery(request) { response in
        try check(context, beginning: response.transaction, of: engine)
        try await receive(response)
      }
    }
  }

  /// Counts, sums and averages the results of a query.
  public func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await serve(context) { try await self.engine(parent: request.parent, context).runAggregation(request) }
  }

  /// Splits a query of a collection group into parts that can run side by side.
  public func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await serve(context) {
      try await self.engine(parent: request.parent, context, isForOwners: true).partitionQuery(request)
    }
  }

  /// Commits writes, all or nothing, and ends the transaction if there is one.
  public func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await serve(context) {
      let engine = try await self.engine(request.database, context, isWrite: true)
      guard let id = request.transaction else { return try await engine.commit(request.writes) }
      return try await engine.commit(request.writes, in: id)
    }
  }

  /// Applies writes, each by itself, in the order of the request.
  public func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await serve(context) {
      try WriteRules.checkDistinct(request.writes)
      let engine = try await self.engine(request.database, context, isWrite: true)
      var results: [Result<WriteResult, FirestoreServiceError>] = []
      for write in request.writes {
        do {
          results.append(.success(try await engine.commit([write]).writeResults[0]))
        } catch {
          results.append(.failure(self.boundary.failure(FirestoreServiceError.translated(error), context)))
        }
      }
      return BatchWriteResponse(results: results)
    }
  }

  /// Begins a transaction.
  public func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await serve(context) {
      BeginTransactionResponse(
        transaction: try await self.engine(request.database, context, isWrite: true).begin(request.options))
    }
  }

  /// Whether this engine can go on with a transaction: one that it began itself, or one that only reads.
  ///
  /// What a transaction that writes has read and locked is in the memory of the engine that began it. Others on the
  /// same store refuse its calls with `ABORTED`, so whoever spreads calls over several processes sends those of one
  /// transaction to one of them.
  ///
  /// - Parameter transaction: Its identifier.
  /// - Returns: `true` also for bytes that are no identifier: any engine may refuse them.
  public func serves(transaction: [UInt8]) -> Bool {
    guard let ticket = TransactionTicket(transaction) else { return true }
    return ticket.engine == number || ticket.readVersion != nil
  }

  /// Gives a transaction up, and what it holds.
  public func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await serve(context) {
      _ = try await self.engine(request.database, context).transactions.end(request.transaction)
    }
  }

  /// Opens a call that follows targets.
  public func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await serve(context) { try await self.engine(database, context).hub.open(until: context.deadline) }
  }

  /// Opens a call that writes.
  public func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await serve(context) {
      try await self.engine(database, context, isWrite: true).openWriteCall(until: context.deadline)
    }
  }

  /// Refuses calls in another name than the options say.
  ///
  /// - Parameter isForOwners: Whether the call is the owner's in any case.
  private func admit(_ context: CallContext, isForOwners: Bool = false) throws(FirestoreServiceError) {
    guard context.caller != .owner, isForOwners || options.access == .owner else { return }
    throw FirestoreServiceError(.permissionDenied, "Missing or insufficient permissions: this call is the owner's.")
  }

  /// Runs a call until its deadline; every failure comes out with the service's code.
  private func serve<Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable () async throws -> Result
  ) async throws(FirestoreServiceError) -> Result {
    try await boundary.serve(context) {
      do {
        return try await body()
      } catch {
        throw FirestoreServiceError.translated(error)
      }
    }
  }

  /// Runs a call whose receiver's own errors pass unchanged.
  private func translating(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as StoreError {
      throw FirestoreServiceError(serving: error)
    } catch let error as BytesError {
      throw FirestoreServiceError(serving: error)
    } catch is CancellationError where Task.isCancelled {
      throw FirestoreServiceError(serving: CancellationError())
    }
  }

  /// Refuses a response after the deadline; a transaction that the response would have announced ends.
  private func check(
    _ context: CallContext, beginning transaction: [UInt8]?, of engine: DatabaseEngine
  ) throws(FirestoreServiceError) {
    guard context.deadline != nil else { return }
    do {
      try boundary.check(context)
    } catch {
      if let transaction { _ = try? engine.transactions.end(transaction) }
      throw error
    }
  }

  /// The engine of a call's database.
  ///
  /// - Parameter isWrite: Whether the call makes the database if it is not there.
  private func engine(
    _ name: String, _ context: CallContext, isWrite: Bool = false
  ) async throws -> DatabaseEngine {
    try admit(context)
    return try await engine(name, isWrite: isWrite)
  }

  private func engine(
    parent: String, _ context: CallContext, isForOwners: Bool = false
  ) async throws -> DatabaseEngine {
    try admit(context, isForOwners: isForOwners)
    // What follows the root is looked at by whoever needs it.
    if let latest = latest.withLock({ $0 }), parent.utf8.dropping(prefix: latest.engine.name.root.utf8) != nil {
      _ = try await store.get()
      return latest.engine
    }
    return try await engine(try ResourceName(parent: parent).database.description)
  }

  func engine(_ name: String, isWrite: Bool = false) async throws -> DatabaseEngine {
    if let latest = latest.withLock({ $0 }), UTF8Order.equal(latest.name, name) {
      _ = try await store.get()
      return latest.engine
    }
    let engine = try await engine(try DatabaseName(parsing: name), isWrite: isWrite)
    latest.withLock { $0 = (name, engine) }
    return engine
  }

  private func engine(_ name: DatabaseName, isWrite: Bool) async throws -> DatabaseEngine {
    if let engine = engines.withLock({ $0[name] }) {
      _ = try await store.get()
      return engine
    }
    let store = try await store.get()
    var number = try await DatabaseRegister.number(of: name, in: store)
    if number == nil { number = try await DatabaseRegister.create(name, in: store, isWrite: isWrite) }
    guard let number else {
      throw FirestoreServiceError(
        .notFound, "The database \(name.database) does not exist for project \(name.project). Write to it to create it."
      )
    }
    return try await opening.value(for: name) {
      if let engine = self.engines.withLock({ $0[name] }) { return engine }
      try await self.recent.follow(store)
      let engine = DatabaseEngine(
        name: name, number: number, store: store, options: self.options, owner: self.number, recent: self.recent,
        events: self.events)
      try await engine.indexes.declare()
      self.engines.withLock { $0[name] = engine }
      return engine
    }
  }
}

extension DatabaseRegister {
  /// How many databases come into being by being read.
  private static let mostByReading: Int64 = 100

  /// Makes a database for a call: any for a write, and for a read the default one of a project.
  fileprivate static func create(_ name: DatabaseName, in store: any OrderedStore, isWrite: Bool) async throws -> Int64?
  {
    if isWrite { return try await create(name, in: store) }
    return name.database == "(default)" ? try await create(name, in: store, most: mostByReading) : nil
  }
}
