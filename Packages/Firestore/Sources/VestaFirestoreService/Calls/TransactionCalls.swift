import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The snapshot and the transaction that a call reads in.
struct ReadContext {
  let snapshot: Snapshot
  let pool: TransactionPool
  /// The transaction; `nil` for a read by itself.
  let transaction: TransactionPool.ID?
  /// Whether the call has begun the transaction.
  let isNew: Bool

  var newTransaction: [UInt8]? { isNew ? transaction : nil }

  /// The part that is valid after the store has been left.
  var kept: KeptContext {
    KeptContext(version: snapshot.version, pool: pool, transaction: transaction, newTransaction: newTransaction)
  }

  func note(_ query: NormalQuery) {
    guard let transaction else { return }
    pool.note(transaction) { $0.reads.add(query, version: snapshot.version) }
  }
}

/// The part of a read context that is valid after the store has been left: later pages read at the same version.
struct KeptContext: Sendable {
  let version: Int64
  let pool: TransactionPool
  let transaction: TransactionPool.ID?
  let newTransaction: TransactionPool.ID?

  var readTime: Timestamp { Timestamp(microseconds: version) }

  func note(_ reads: [(pathKey: PathKey, row: DocumentRow?)]) {
    guard let transaction else { return }
    pool.note(transaction) { open in
      for (pathKey, row) in reads { open.reads.add(pathKey, version: row?.updated) }
    }
  }
}

extension FirestoreCall {
  /// Reads at the time, or in the transaction, that a request asks for.
  ///
  /// - Parameters:
  ///   - scope: The scope of the reads.
  ///   - pathKeys: Documents that will be read by name; a pessimistic transaction locks them first.
  func reading<Result>(
    _ consistency: ReadConsistency, _ scope: ChangeScope, locking pathKeys: [PathKey] = [],
    _ body: (ReadContext) async throws -> Result
  ) async throws -> Result {
    switch consistency {
    case .latest: return try await engine.reading(expecting: engine.expected(scope)) { try await body(context($0)) }
    case .readTime(let time): return try await engine.reading(at: time, scope) { try await body(context($0)) }
    case .transaction(let id): return try await reading(in: id, isNew: false, scope, locking: pathKeys, body)
    case .newTransaction(let options):
      let id = try await begin(options)
      do {
        return try await reading(in: id, isNew: true, scope, locking: pathKeys, body)
      } catch {
        // The caller does not know of a transaction whose first call failed.
        _ = try? transactions.end(id)
        throw error
      }
    }
  }

  /// Begins a transaction; one that only reads settles on its version, which is in its identifier for any engine.
  func begin(_ options: TransactionOptions) async throws -> TransactionPool.ID {
    guard case .readOnly(let time) = options else { return try transactions.begin(options) }
    guard let time else { return try transactions.begin(options, reading: try await engine.reading { $0.version }) }
    return try transactions.begin(options, reading: try await engine.settled(time))
  }

  /// Ends a transaction without a commit.
  func rollback(_ id: TransactionPool.ID) throws { _ = try transactions.end(id) }

  private func context(_ snapshot: Snapshot) -> ReadContext {
    ReadContext(snapshot: timed(snapshot), pool: transactions, transaction: nil, isNew: false)
  }

  private func reading<Result>(
    in id: TransactionPool.ID, isNew: Bool, _ scope: ChangeScope, locking pathKeys: [PathKey],
    _ body: (ReadContext) async throws -> Result
  ) async throws -> Result {
    let open = try transactions.use(id, reading: max(1, pathKeys.count))
    let pool = transactions
    func run(_ snapshot: Snapshot) async throws -> Result {
      try await body(ReadContext(snapshot: timed(snapshot), pool: pool, transaction: id, isNew: isNew))
    }
    switch open.options {
    case .readOnly: return try await engine.reading(version: open.readVersion ?? 0, scope) { try await run($0) }
    case .readWrite(_, let concurrency):
      if concurrency != .optimistic { try await pool.lock(pathKeys, for: id, .shared) }
      return try await engine.reading(expecting: engine.expected(scope)) { try await run($0) }
    }
  }
}
