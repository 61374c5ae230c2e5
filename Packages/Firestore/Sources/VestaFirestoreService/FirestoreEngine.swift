public import VestaFirestoreBackend
public import VestaStoreInterop
import VestaFirestoreModel
import VestaConcurrency

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
  private let engines = Locked([DatabaseName: DatabaseEngine]())
  /// The database that was named last, which most processes name all the time.
  private let latest = Locked<(name: String, engine: DatabaseEngine)?>(nil)
  private let opening = SingleFlight<DatabaseName, DatabaseEngine>()

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
    store = LazyResource(
      whenClosed: StoreError(.closed, operation: "open", message: "The document engine has been shut down."),
      open: open, close: { try await $0.close() })
  }

  /// Ends the engine, its open calls, and its store; calls that come later fail with `UNAVAILABLE`.
  public func close() async throws {
    for engine in engines.withLock({ Array($0.values) }) { engine.close() }
    try await store.close()
  }

  /// Reads documents by name, all at one moment.
  public func batchGet(
    _ request: BatchGetDocumentsRequest,
    context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await translating { try await engine(request.database, context).batchGet(request, receive: receive) }
  }

  /// Lists the documents of a collection, a page at a time.
  public func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await serving { try await engine(parent: request.parent, context).listDocuments(request) }
  }

  /// Lists the collections right below a document or the root, a page at a time.
  public func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await serving {
      try await engine(parent: request.parent, context, isForOwners: true).listCollectionIDs(request)
    }
  }

  /// Runs a query; results come in its order.
  public func runQuery(
    _ request: RunQueryRequest,
    context: CallContext,
    receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await translating { try await engine(parent: request.parent, context).runQuery(request, receive: receive) }
  }

  /// Counts, sums and averages the results of a query.
  public func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await serving { try await engine(parent: request.parent, context).runAggregation(request) }
  }

  /// Splits a query of a collection group into parts that can run side by side.
  public func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await serving { try await engine(parent: request.parent, context, isForOwners: true).partitionQuery(request) }
  }

  /// Commits writes, all or nothing, and ends the transaction if there is one.
  public func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await serving {
      let engine = try await engine(request.database, context, isWrite: true)
      guard let id = request.transaction else { return try await engine.commit(request.writes) }
      return try await engine.commit(request.writes, in: id)
    }
  }

  /// Applies writes, each by itself, in the order of the request.
  public func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await serving {
      try WriteRules.checkDistinct(request.writes)
      let engine = try await engine(request.database, context, isWrite: true)
      var results: [Result<WriteResult, FirestoreServiceError>] = []
      for write in request.writes {
        do {
          results.append(.success(try await engine.commit([write]).writeResults[0]))
        } catch {
          results.append(.failure(FirestoreServiceError(serving: error)))
        }
      }
      return BatchWriteResponse(results: results)
    }
  }

  /// Begins a transaction.
  public func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await serving {
      BeginTransactionResponse(
        transaction: try await engine(request.database, context, isWrite: true).transactions.begin(request.options))
    }
  }

  /// Gives a transaction up, and what it holds.
  public func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await serving { _ = try await engine(request.database, context).transactions.end(request.transaction) }
  }

  /// Opens a call that follows targets.
  public func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await serving { try await engine(database, context).hub.open() }
  }

  /// Opens a call that writes.
  public func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await serving { try await engine(database, context, isWrite: true).openWriteCall() }
  }

  /// Refuses calls in another name than the options say.
  ///
  /// - Parameter isForOwners: Whether the call is the owner's in any case.
  private func admit(_ context: CallContext, isForOwners: Bool = false) throws(FirestoreServiceError) {
    guard context.caller != .owner, isForOwners || options.access == .owner else { return }
    throw FirestoreServiceError(.permissionDenied, "Missing or insufficient permissions: this call is the owner's.")
  }

  /// As `serving`, but what a receiver threw is handed on as it is.
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
      let engine = DatabaseEngine(name: name, number: number, store: store, options: self.options)
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
