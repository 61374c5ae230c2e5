import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop

/// The open transactions of a database.
///
/// They live in this process. Their correctness does not depend on it, but on `ReadSet`, checked against the store.
/// The locks only keep doomed transactions from trying. Between processes there is no waiting: of two transactions that
/// meet there the first to commit wins, and the other gets `ABORTED`. Locks in rows would cost every read of a
/// transaction a commit, and a process that was killed would hold them until they expire; clients retry as it is.
final class TransactionPool: Sendable {
  typealias ID = [UInt8]

  struct Open: Sendable {
    var options: TransactionOptions
    var reads = ReadSet()
    /// The version that a read-only transaction reads.
    var readVersion: Int64?
    var began: Int64
    var lastUsed: Int64
    /// The time after which it no longer waits for a document; `nil` for a transaction, which waits until it ends.
    var patience: Int64?
  }

  private struct State: Sendable {
    var open: [ID: Open] = [:]
    var ended: Set<ID> = []
    /// The number of documents and queries that the open transactions have read together.
    var reads = 0
    /// No transaction expires before this.
    var nextExpiry = Int64.max
    var locks = LockTable<PathKey, ID>()
    var waiters: [ID: CheckedContinuation<Bool, Never>] = [:]
    var granted: Set<ID> = []
    /// Documents that several transactions read to write them: until then, readers have them alone.
    var contended: [PathKey: Int64] = [:]
    /// When the next timer ends what has expired.
    var nextLook = Int64.max
    var isClosed = false

    /// Notes a transaction that has ended, so that ending it once more is no error.
    mutating func noteEnd(of id: ID, _ tuning: CommitTuning) {
      if ended.count >= tuning.endedTransactions { ended.removeAll() }
      ended.insert(id)
    }

    /// Notes a document as contended; one of the evicted ones may be needed once more, which costs a retry.
    mutating func noteContention(at pathKey: PathKey, until end: Int64, _ now: Int64, _ tuning: CommitTuning) {
      if contended.count >= tuning.contendedDocuments { contended = contended.filter { $0.value > now } }
      if contended.count >= tuning.contendedDocuments { contended.removeAll() }
      contended[pathKey] = end
    }
  }

  private let state = Locked(State())
  private let options: FirestoreServiceOptions

  /// The number of the engine.
  private let engine: UInt64
  /// The hash of the database's name.
  private let database: UInt64

  init(of database: DatabaseName, options: FirestoreServiceOptions, engine: UInt64) {
    self.options = options
    self.engine = engine
    self.database = TransactionTicket.hash(of: database)
  }

  /// Begins a transaction.
  ///
  /// - Parameters:
  ///   - kind: Whether it may write.
  ///   - version: The version that a read-only transaction reads.
  /// - Throws: `RESOURCE_EXHAUSTED` when enough are open.
  func begin(
    _ kind: TransactionOptions, reading version: Int64? = nil
  ) throws(FirestoreServiceError) -> ID {
    endExpired()
    let now = options.now()
    let id = TransactionTicket(engine: engine, database: database, began: now, readVersion: version).bytes
    guard add(Open(options: kind, readVersion: version, began: now, lastUsed: now), as: id) else {
      throw .tooManyTransactions
    }
    return id
  }

  /// Adds a transaction, or a write that waits for documents; false when enough are open.
  private func add(_ open: Open, as id: ID) -> Bool {
    let expiry = expiry(of: open)
    return state.withLock { state in
      guard open.patience != nil || state.open.count < options.openTransactions else { return false }
      state.open[id] = open
      state.nextExpiry = min(state.nextExpiry, expiry)
      return true
    }
  }

  /// An open transaction, whose idle time begins again.
  ///
  /// - Parameter reads: How many documents and queries it is about to read.
  /// - Throws: `INVALID_ARGUMENT` when it has ended or never began, and when it would have read too much; `ABORTED`
  ///   when another engine has what it holds; `RESOURCE_EXHAUSTED` when all transactions together would have read too
  ///   much.
  func use(_ id: ID, reading reads: Int = 0) throws(FirestoreServiceError) -> Open {
    endExpired()
    let now = options.now()
    try adopt(id, now)
    let (open, all) = state.withLock { state in
      state.open[id]?.lastUsed = now
      return (state.open[id], state.reads)
    }
    guard let open else { throw .unknownTransaction }
    if case .readOnly = open.options { return open }
    if open.reads.count + reads > options.transactionReads { throw .transactionTooBig }
    if reads > 0, all + reads > options.openTransactionReads { throw .tooManyTransactions }
    return open
  }

  /// Opens a transaction here that another engine began, if it only reads.
  ///
  /// - Throws: `ABORTED` for one that may write, `RESOURCE_EXHAUSTED` when enough are open.
  private func adopt(_ id: ID, _ now: Int64) throws(FirestoreServiceError) {
    if state.withLock({ $0.open[id] != nil || $0.ended.contains(id) }) { return }
    guard let ticket = TransactionTicket(id), ticket.engine != engine, ticket.database == database,
      abs(now - ticket.began) <= options.transactionLifetime.microseconds
    else { return }
    guard let version = ticket.readVersion else { throw .transactionOfAnotherEngine }
    let open = Open(options: .readOnly(), readVersion: version, began: ticket.began, lastUsed: now)
    guard add(open, as: id) else { throw .tooManyTransactions }
  }

  func note(_ id: ID, _ change: (inout Open) -> Void) {
    state.withLock { state in
      // In place: a copy of what was read for each document would make reading quadratic.
      guard let index = state.open.index(forKey: id) else { return }
      state.reads -= state.open.values[index].reads.count
      change(&state.open.values[index])
      state.reads += state.open.values[index].reads.count
    }
  }

  /// Ends every transaction; callers that wait for a document are refused with `UNAVAILABLE`.
  func close() {
    let waiters = state.withLock { state in
      defer { state = State(isClosed: true) }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: false) }
  }

  /// Ends a transaction and resumes the callers that waited for it.
  ///
  /// - Returns: Its state; `nil` when it has ended already.
  /// - Throws: `INVALID_ARGUMENT` when it was never there, `ABORTED` when another engine has what it holds.
  @discardableResult
  func end(_ id: ID) throws(FirestoreServiceError) -> Open? {
    endExpired()
    try adopt(id, options.now())
    let (open, isKnown) = state.withLock { state in
      let open = state.open[id]
      return (open, open != nil || state.ended.contains(id))
    }
    guard isKnown else { throw .unknownTransaction }
    finish(id)
    return open
  }

  /// Waits until no transaction has documents that are about to be written, and keeps others from them until then.
  ///
  /// A write by itself waits for a bounded time. A write that would close a cycle continues at once, and the
  /// transaction fails.
  ///
  /// - Returns: The hold for `end(hold:)` after the write; `nil` where nothing is held.
  /// - Throws: `ABORTED` when it has waited for too long.
  func hold(_ pathKeys: [PathKey]) async throws(FirestoreServiceError) -> ID? {
    if state.withLock({ $0.locks.isEmpty }) { return nil }
    let now = options.now()
    let id = TransactionTicket(engine: engine, database: database, began: now, readVersion: nil).bytes
    let patience = now + options.lockWait.microseconds
    _ = add(Open(options: .readWrite(), began: now, lastUsed: now, patience: patience), as: id)
    do {
      try await lock(pathKeys, for: id, .exclusive)
      return id
    } catch {
      if error.code == .unavailable { throw error }
      if Task.isCancelled { throw .cancelled }
      finish(id)
      if error == .deadlock, options.now() < patience { return nil }
      throw .contention
    }
  }

  /// Ends what `hold` began.
  func end(hold id: ID?) {
    if let id { finish(id) }
  }

  /// Locks documents for a transaction, in an order that is the same for all.
  ///
  /// - Throws: `ABORTED` for a cycle of waits, and when the transaction ends while it waits.
  func lock(_ pathKeys: [PathKey], for id: ID, _ mode: LockTable<PathKey, ID>.Mode) async throws(FirestoreServiceError)
  {
    for pathKey in pathKeys.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
      switch acquire(pathKey, for: id, mode) {
      case .granted: continue
      case .deadlock:
        finish(id)
        throw .deadlock
      case .mustWait:
        guard await turn(of: id) else { throw state.withLock({ $0.isClosed }) ? .shutDown : .deadlock }
      }
    }
  }

  /// For how many microseconds readers have a document alone that transactions got in each other's way at.
  private static let contention: Int64 = 5_000_000

  /// Asks for a document.
  ///
  /// Of readers that share it and want to write it all but one must begin again; once that has happened, readers take
  /// their turns for a while, which is optional.
  func acquire(
    _ pathKey: PathKey, for id: ID, _ mode: LockTable<PathKey, ID>.Mode
  ) -> LockTable<PathKey, ID>.Answer {
    let now = options.now()
    return state.withLock { state in
      let isContended = state.contended[pathKey].map { $0 > now } ?? false
      let answer = state.locks.acquire(pathKey, for: id, isContended ? .exclusive : mode)
      if answer == .deadlock, mode == .exclusive {
        state.noteContention(at: pathKey, until: now + TransactionPool.contention, now, options.tuning.commits)
      }
      return answer
    }
  }

  private func turn(of id: ID) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Bool? in
          if state.granted.remove(id) != nil { return true }
          guard state.open[id] != nil else { return false }
          state.waiters[id] = continuation
          return nil
        }
        if let known { return continuation.resume(returning: known) }
        // Ends expired transactions while callers wait for them, since no later call may notice it.
        watch()
      }
    } onCancel: {
      finish(id)
    }
  }

  /// Sets a timer for the next transaction that expires, unless one is set for that time or an earlier one.
  private func watch() {
    endExpired()
    let now = options.now()
    let time = state.withLock { state -> Int64? in
      // One that waits itself may be past its idle time; it is looked at again each second.
      let due = state.nextExpiry < now ? now + 1_000_000 : min(state.nextExpiry, .max - 1)
      guard !state.waiters.isEmpty, due < state.nextLook else { return nil }
      state.nextLook = due
      return due
    }
    guard let time else { return }
    // Never cancelled: it holds nothing, and does nothing once an earlier one has taken its place.
    _ = options.clock.schedule(at: time + 1) { [weak self] in
      guard let self else { return }
      let isNext = state.withLock { state in
        guard state.nextLook == time else { return false }
        state.nextLook = .max
        return true
      }
      if isNext { watch() }
    }
    // The clock may have passed the time while the timer was set.
    if options.now() > time { endExpired() }
  }

  private func finish(_ id: ID) {
    let (gone, next) = state.withLock { state in
      if let open = state.open.removeValue(forKey: id) {
        state.reads -= open.reads.count
        if open.patience == nil { state.noteEnd(of: id, options.tuning.commits) }
      }
      let gone = state.waiters.removeValue(forKey: id)
      state.granted.remove(id)
      var next: [CheckedContinuation<Bool, Never>] = []
      for owner in state.locks.release(id) {
        // Granted between being refused and beginning to wait: noted, so that the turn is not missed.
        if let waiter = state.waiters.removeValue(forKey: owner) {
          next.append(waiter)
        } else {
          state.granted.insert(owner)
        }
      }
      return (gone, next)
    }
    gone?.resume(returning: false)
    for waiter in next { waiter.resume(returning: true) }
  }

  /// The number of open transactions.
  var openCount: Int { state.withLock { $0.open.count } }

  /// The number of ended transactions that are remembered.
  var endedCount: Int { state.withLock { $0.ended.count } }

  /// The number of contended documents that are remembered.
  var contendedCount: Int { state.withLock { $0.contended.count } }

  /// The number of transactions and writes that wait for a document.
  var waitingCount: Int { state.withLock { $0.waiters.count } }

  /// Returns the time at which a transaction ends unless it is used.
  private func expiry(of open: Open) -> Int64 {
    let end = min(open.began + options.transactionLifetime.microseconds, open.patience ?? .max)
    return min(end, open.lastUsed + options.transactionIdleTime.microseconds)
  }

  /// Ends the transactions whose time is up; looks at them only when one can be.
  private func endExpired() {
    let now = options.now()
    let total = options.transactionLifetime.microseconds
    let expired = state.withLock { state -> [ID] in
      if now <= state.nextExpiry { return [] }
      state.nextExpiry = state.open.values.reduce(.max) { min($0, expiry(of: $1)) }
      return state.open.filter { id, open in
        now - open.began > total || open.patience.map { $0 < now } ?? false
          || (expiry(of: open) < now && state.waiters[id] == nil)
      }.map(\.key)
    }
    for id in expired { finish(id) }
  }
}
