import VestaConcurrency
import VestaEngineInterop
import VestaEventsInterop
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

/// The engine of one database: its open transactions, listeners, indexes and background work, and the ways to read it.
///
/// The calls that use it are methods of `FirestoreCall`.
final class DocumentDatabase: Sendable {
  let name: DatabaseName
  let store: any OrderedStore
  let keys: DocumentDatabaseKeys
  let options: FirestoreServiceOptions
  let transactions: TransactionPool
  let hub: WatchHub
  let indexes: IndexKeeper
  let pruner: LogPruner
  /// Sorts the log by collection concurrently with the commits; `nil` where they do that themselves.
  let sorter: LogSorter?
  let recent: RecentDocuments
  /// The part that all databases of the store have in common, with the events that functions want.
  let frame: EngineFrame<FirestoreServiceError>
  /// Decides which calls are allowed; `nil` allows all.
  private let gatekeeper: (any FirestoreGuard)?
  /// The guard of gets, or one that allows everything: gets are short, and asking an optional guard copies it.
  private let getGuard: any FirestoreGuard
  /// Whether the store reports its commits; asked once, as the answer takes a look at its type.
  private let reportsCommits: Bool
  /// A version at or below which no later commit is possible, as far as is known here.
  private let floor = Locked(Int64(0))

  /// - Parameters:
  ///   - unsorted: The number of commits that are to be sorted by collection; `nil` where commits do that themselves.
  ///   - owner: The number of the engine, which marks what it holds for others on the store.
  ///   - recent: The documents of all databases that were read lately.
  ///   - frame: The part that all databases of the store have in common.
  ///   - gatekeeper: Decides which calls are allowed.
  init(
    name: DatabaseName, number: Int64, unsorted: Int?, store: any OrderedStore, options: FirestoreServiceOptions,
    owner: UInt64, recent: RecentDocuments, frame: EngineFrame<FirestoreServiceError>, gatekeeper: (any FirestoreGuard)?
  ) {
    self.recent = recent
    self.frame = frame
    self.gatekeeper = gatekeeper
    getGuard = gatekeeper ?? NoFirestoreGuard()
    self.name = name
    self.store = store
    reportsCommits = store is any CommitObservable
    self.options = options
    let keys = DocumentDatabaseKeys(number)
    self.keys = keys
    let indexes = IndexKeeper(name, store: store, keys: keys, options: options, owner: owner)
    self.indexes = indexes
    let retention = options.retention.microseconds
    hub = WatchHub(name, store: store, options: options, gatekeeper: gatekeeper, failure: { frame.failure($0) }) {
      body in
      try await store.read {
        recent.noteSeen($0.version.microseconds)
        try await body(
          Snapshot(
            reader: $0.yielding, keys: keys, name: name, indexes: indexes, retention: retention,
            tuning: options.tuning))
      }
    }
    transactions = TransactionPool(of: name, options: options, engine: owner)
    pruner = LogPruner(store: store, keys: keys, options: options, owner: owner)
    sorter = unsorted.map {
      LogSorter(store: store, keys: keys, waiting: $0, recent: recent, tuning: options.tuning.log)
    }
    recent.include(name, keys)
  }

  /// Ends what is open; the store stays.
  func close() {
    hub.close()
    transactions.close()
    indexes.close()
    pruner.close()
    sorter?.close()
  }

  /// The caller to ask the guard about; `nil` where no question is needed.
  func guarded(_ context: CallContext) -> GuardedCaller? { GuardedCaller(gatekeeper, context, options.clock) }

  /// Asks the guard about the get of a document where it needs nothing else for its answer.
  ///
  /// - Returns: `false` where ``GuardedCaller/get(_:_:_:)`` has to ask.
  /// - Throws: `PERMISSION_DENIED`.
  func isGetAllowedAtOnce(_ document: Document, _ context: CallContext) throws(FirestoreServiceError) -> Bool {
    if context.isOwner { return true }
    let time = { Timestamp(microseconds: self.options.clock.now()) }
    guard let isAllowed = getGuard.mayGetAtOnce(document.name, document, at: time, context: context) else {
      return false
    }
    guard isAllowed else { throw .denied }
    return true
  }

  /// The full name of a document.
  func fullName(of path: ResourcePath) -> String { ResourceName(database: name, path: path).description }

  /// Notes a commit of this engine: wakes functions, the pruner, and the listeners of a store that does not report its
  /// commits.
  ///
  /// - Parameter bytes: The length of what it logged.
  func committed(at version: Int64, logging bytes: Int) {
    if !reportsCommits { hub.wake() }
    recent.noteSeen(version)
    if frame.events.interest != nil { frame.events.wake() }
    pruner.noteCommit(at: version)
    sorter?.noteCommit(bytes: bytes)
  }

  // MARK: Reading

  /// Reads the latest version.
  ///
  /// In a store without commits for long, the last commit may be older than the log is kept. The version that is read
  /// is then a later one, at or below which no later commit is possible: so it can be read again when commits continue.
  ///
  /// - Parameter first: The keys that the body gets first; a store that is reached over a network brings them with the
  ///   beginning.
  func reading<Result>(
    expecting first: @autoclosure () -> [[UInt8]] = [], _ body: (Snapshot) async throws -> Result
  ) async throws -> Result {
    let oldest = options.now() - options.retention.microseconds / 2
    while true {
      let result = try await store.read(expecting: .keys(first())) { reader -> Result? in
        let version = max(reader.version.microseconds, settledFloor)
        if version < oldest { return nil }
        return try await body(snapshot(of: reader).later(version))
      }
      if let result { return result }
      let version = try await raiseFloor(to: nil)
      // A store whose clock is another one is read as it is.
      if version < oldest { return try await store.read { try await body(snapshot(of: $0).later(version)) } }
    }
  }

  private func snapshot(of reader: any StoreReader) -> Snapshot {
    recent.noteSeen(reader.version.microseconds)
    return Snapshot(
      reader: reader, keys: keys, name: name, indexes: indexes, retention: options.retention.microseconds,
      tuning: options.tuning)
  }

  /// The version that a transaction is based on; queries in it use no index.
  func snapshot(within transaction: any StoreTransaction) -> Snapshot {
    Snapshot(
      reader: transaction, keys: keys, name: name, indexes: nil, retention: options.retention.microseconds,
      tuning: options.tuning)
  }

  /// A document that was read lately, at a version that is as late as any that was returned; `nil` where the store
  /// must be read.
  func recentDocument(_ name: RecentDocuments.Key) async throws -> (document: Document, version: Int64)? {
    var known = recent.document(name)
    if case .doubtful(let version) = known {
      try await store.read { try await recent.check(from: version, in: $0) }
      known = recent.document(name)
    }
    guard case .found(let document, let latest) = known else { return nil }
    let version = max(latest, settledFloor)
    return version < options.now() - options.retention.microseconds / 2 ? nil : (document, version)
  }

  /// Reads at a read time; `nil` for the latest version.
  ///
  /// Two reads at one time agree, whatever commits run concurrently: no commit can have that time or an earlier one any
  /// more.
  ///
  /// - Parameter scope: The scope of the reads.
  func reading<Result>(
    at time: Timestamp?, _ scope: ChangeScope, _ body: (Snapshot) async throws -> Result
  ) async throws -> Result {
    guard let time else { return try await reading(expecting: expected(scope), body) }
    return try await reading(version: try await settled(time), scope, body)
  }

  /// Reads at a version at or below which no later commit is possible.
  func reading<Result>(
    version: Int64, _ scope: ChangeScope, _ body: (Snapshot) async throws -> Result
  ) async throws -> Result {
    try await store.read(expecting: .keys(expected(scope))) {
      // The log may be long; it is read in pieces.
      try await body(try await snapshot(of: $0.yielding).at(version, scope))
    }
  }

  /// The rows that a reader of a scope gets first: the documents, or the catalogue of indexes.
  func expected(_ scope: ChangeScope) -> [[UInt8]] {
    if case .pathKeys(let pathKeys) = scope { return pathKeys.map(keys.document) }
    return [keys.catalogue]
  }

  /// The version of a read time, once no later commit at or before it is possible.
  ///
  /// The clock decides what the future is, except for times that the store has reached: after the clock was set back,
  /// and for a process whose clock is behind, read times that were handed out are ahead of the clock, and can be read.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a time in the future.
  func settled(_ time: Timestamp) async throws -> Int64 {
    guard let version = time.microseconds, version >= 0 else { throw DocumentDatabase.future }
    if version <= settledFloor { return version }
    if version <= (try await store.read { $0.version.microseconds }) { return version }
    if version <= options.now() {
      do {
        _ = try await raiseFloor(to: version)
        return version
      } catch StoreError.Code.futureVersion {
        throw DocumentDatabase.future
      }
    }
    guard version <= (try await raiseFloor(to: nil)) else { throw DocumentDatabase.future }
    return version
  }

  /// A version after another one, up to which nothing has been changed since that one, nor will be.
  ///
  /// - Returns: `nil` when there has been a commit since, and where the store has no later version yet.
  func restingVersion(after version: Int64) async throws -> Int64? {
    var raised = try await raiseFloor(to: nil)
    if raised <= version {
      do {
        raised = try await raiseFloor(to: version + 1)
      } catch StoreError.Code.futureVersion {
        return nil
      }
    }
    return try await store.read { $0.version.microseconds } <= version ? raised : nil
  }

  private var settledFloor: Int64 { floor.withLock { $0 } }

  /// Raises the store's floor, and remembers it.
  private func raiseFloor(to version: Int64?) async throws -> Int64 {
    let raised = try await store.raiseFloor(to: version.map { StoreVersion(microseconds: $0) }).microseconds
    floor.withLock { $0 = max($0, raised) }
    return raised
  }

  private static let future = FirestoreServiceError.refused("The requested 'read_time' cannot be in the future.")
}
