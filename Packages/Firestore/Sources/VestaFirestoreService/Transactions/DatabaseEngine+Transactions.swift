import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// The moment and the transaction that a call reads in.
struct ReadContext {
  let snapshot: Snapshot
  let pool: TransactionPool
  /// The transaction; `nil` for a read by itself.
  let transaction: TransactionPool.ID?
  /// Whether the call has begun the transaction.
  let isNew: Bool

  var newTransaction: [UInt8]? { isNew ? transaction : nil }

  func note(_ place: Place, _ row: DocumentRow?) {
    guard let transaction else { return }
    pool.note(transaction) { $0.reads.add(place, version: row?.updated) }
  }

  func note(_ query: NormalQuery) {
    guard let transaction else { return }
    pool.note(transaction) { $0.reads.add(query, version: snapshot.version) }
  }
}

extension DatabaseEngine {
  /// Reads in the moment that a request asks for.
  ///
  /// - Parameter places: Documents that will be read by name; a pessimistic transaction locks them first.
  func reading<Result>(
    _ consistency: ReadConsistency, locking places: [Place] = [], _ body: (ReadContext) async throws -> Result
  ) async throws -> Result {
    switch consistency {
    case .latest: return try await reading { try await body(context($0)) }
    case .readTime(let time): return try await reading(at: time) { try await body(context($0)) }
    case .transaction(let id): return try await reading(in: id, isNew: false, locking: places, body)
    case .newTransaction(let options):
      let id = transactions.begin(options)
      do {
        return try await reading(in: id, isNew: true, locking: places, body)
      } catch {
        // The caller does not know of a transaction whose first call failed.
        _ = try? transactions.end(id)
        throw error
      }
    }
  }

  private func context(_ snapshot: Snapshot) -> ReadContext {
    ReadContext(snapshot: snapshot, pool: transactions, transaction: nil, isNew: false)
  }

  private func reading<Result>(
    in id: TransactionPool.ID, isNew: Bool, locking places: [Place], _ body: (ReadContext) async throws -> Result
  ) async throws -> Result {
    let open = try transactions.use(id)
    let pool = transactions
    func run(_ snapshot: Snapshot) async throws -> Result {
      try await body(ReadContext(snapshot: snapshot, pool: pool, transaction: id, isNew: isNew))
    }
    switch open.options {
    case .readOnly(let time):
      let settled = time ?? open.readVersion.map(Timestamp.init(microseconds:))
      return try await reading(at: settled) { snapshot in
        pool.note(id) { if $0.readVersion == nil { $0.readVersion = snapshot.version } }
        return try await run(snapshot)
      }
    case .readWrite(_, .optimistic): return try await reading { try await run($0) }
    case .readWrite:
      try await pool.lock(places, for: id)
      return try await reading { try await run($0) }
    }
  }

  /// Commits in a transaction, which ends whatever happens.
  func commit(_ writes: [Write], in id: TransactionPool.ID) async throws -> CommitResponse {
    let open = try transactions.use(id)
    defer { _ = try? transactions.end(id) }
    if case .readOnly = open.options {
      guard writes.isEmpty else { throw FirestoreError.refused("Cannot modify entities in a read-only transaction.") }
      return CommitResponse(writeResults: [], commitTime: try await reading { $0.readTime })
    }
    return try await commit(writes, validating: open.reads)
  }
}
