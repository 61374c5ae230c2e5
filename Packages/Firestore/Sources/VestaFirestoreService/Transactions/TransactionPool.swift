import VestaFirestoreIndexes
import VestaFirestoreBackend
import VestaConcurrency

/// The open transactions of a database.
///
/// They live in this process. What makes their commits right is not here: it is `ReadSet`, checked against the store.
/// The locks only keep those who would fail from trying.
final class TransactionPool: Sendable {
  typealias ID = [UInt8]

  struct Open: Sendable {
    var options: TransactionOptions
    var reads = ReadSet()
    /// The moment that a transaction that only reads has settled on.
    var readVersion: Int64?
    var began: Int64
    var lastUsed: Int64
  }

  private struct State: Sendable {
    var open: [ID: Open] = [:]
    var ended: Set<ID> = []
    var locks = LockTable<Place, ID>()
    var waiters: [ID: CheckedContinuation<Bool, Never>] = [:]
    var granted: Set<ID> = []
    var isClosed = false
  }

  private let state = Locked(State())
  private let options: FirestoreServiceOptions

  init(options: FirestoreServiceOptions) { self.options = options }

  func begin(_ kind: TransactionOptions) -> ID {
    let now = options.now()
    let id = (0..<16).map { _ in UInt8.random(in: 0...255) }
    state.withLock { $0.open[id] = Open(options: kind, began: now, lastUsed: now) }
    endExpired()
    return id
  }

  /// An open transaction, whose idle time begins again.
  ///
  /// - Throws: `INVALID_ARGUMENT` when it has ended or never began.
  func use(_ id: ID) throws(FirestoreError) -> Open {
    endExpired()
    let now = options.now()
    let open = state.withLock { state in
      state.open[id]?.lastUsed = now
      return state.open[id]
    }
    guard let open else { throw .unknownTransaction }
    return open
  }

  func note(_ id: ID, _ change: (inout Open) -> Void) {
    state.withLock { state in
      // In place: a copy of what was read for each document would make reading quadratic.
      guard let index = state.open.index(forKey: id) else { return }
      change(&state.open.values[index])
    }
  }

  /// Ends every transaction; whoever waits for a document is refused with `UNAVAILABLE`.
  func close() {
    let waiters = state.withLock { state in
      defer { state = State(isClosed: true) }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: false) }
  }

  /// Ends a transaction and lets those go on who waited for it.
  ///
  /// - Returns: What it was; `nil` when it has ended already.
  /// - Throws: `INVALID_ARGUMENT` when it was never there.
  @discardableResult
  func end(_ id: ID) throws(FirestoreError) -> Open? {
    endExpired()
    let (open, isKnown) = state.withLock { state in
      let open = state.open[id]
      return (open, open != nil || state.ended.contains(id))
    }
    guard isKnown else { throw .unknownTransaction }
    finish(id)
    return open
  }

  /// Locks documents for a transaction, in an order that is the same for all.
  ///
  /// - Throws: `ABORTED` for a circle of waits, and when the transaction ends while it waits.
  func lock(_ places: [Place], for id: ID) async throws(FirestoreError) {
    for place in places.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
      switch state.withLock({ $0.locks.acquire(place, for: id) }) {
      case .granted: continue
      case .deadlock:
        finish(id)
        throw .deadlock
      case .mustWait:
        guard await turn(of: id) else { throw state.withLock({ $0.isClosed }) ? .shutDown : .deadlock }
      }
    }
  }

  private func turn(of id: ID) async -> Bool {
    // Ends what has expired while somebody waits for it, since no call may come to notice.
    let watch = Task {
      while (try? await Task.sleep(for: .seconds(1))) != nil { self.endExpired() }
    }
    defer { watch.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Bool? in
          if state.granted.remove(id) != nil { return true }
          guard state.open[id] != nil else { return false }
          state.waiters[id] = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      finish(id)
    }
  }

  private func finish(_ id: ID) {
    let (gone, next) = state.withLock { state in
      if state.open.removeValue(forKey: id) != nil { state.ended.insert(id) }
      if state.ended.count > 4096 { state.ended.removeAll() }
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

  /// How many transactions are open.
  var openCount: Int { state.withLock { $0.open.count } }

  private func endExpired() {
    let now = options.now()
    let idle = options.transactionIdleTime * 1_000_000
    let total = options.transactionLifetime * 1_000_000
    let expired = state.withLock { state in
      state.open.filter { id, open in
        now - open.began > total || (now - open.lastUsed > idle && state.waiters[id] == nil)
      }.map(\.key)
    }
    for id in expired { finish(id) }
  }
}
