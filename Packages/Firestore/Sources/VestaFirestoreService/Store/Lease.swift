import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// A job in the background that one engine at a time does for a database, however many have its store open.
enum LeasedJob: Sendable, Hashable {
  /// Making the index with this number.
  case building(Int64)
  /// Deleting the entries of dropped indexes.
  case sweeping
  /// Dropping unused indexes.
  case aging
  /// Deleting the log that is older than the retention.
  case pruning
}

/// The right to do a job, in a row of the store: its owner, and until when.
///
/// The times are the store's versions, which all engines share and which only grow. So no engine's clock has a say, and
/// a clock that jumps does no lasting harm: a lease ends ten seconds of the store's time after its owner has last
/// renewed it, whatever that time is called. Whoever works under a lease renews it in the transactions of the work
/// itself: of two engines that both take themselves for the owner, after a long pause of one, the store lets one
/// continue.
///
/// | the row says | the asker is | answer |
/// |---|---|---|
/// | nothing | any engine | takes it for ten seconds |
/// | an owner, and a time in the past | any engine | takes it for ten seconds |
/// | the asker, and a time in the future | the owner | keeps it; renews it when less than half is left |
/// | another one, and a time in the future | any engine | receives that time |
struct Lease: Sendable {
  /// For how many microseconds it is taken.
  static let length: Int64 = 10_000_000

  /// The holder of a lease that was asked for.
  struct Holder: Sendable, Equatable {
    /// The version with which it ends, unless its owner renews it.
    var until: Int64
    /// The microseconds that are left.
    var remaining: Int64
  }

  let key: [UInt8]
  /// The number of the engine.
  let owner: UInt64

  init(_ job: LeasedJob, of owner: UInt64, keys: DatabaseKeys) {
    key = keys.lease(job)
    self.owner = owner
  }

  /// Takes the lease, or keeps it.
  ///
  /// It asks for the version of the commit, so call it at the end of a long transaction.
  ///
  /// - Returns: `nil` where it is the asker's now; else who has it.
  func take(in transaction: any StoreTransaction) async throws -> Holder? {
    let row = try await transaction.get(key).map { try LeaseRow(row: $0) }
    let now = try await transaction.commitVersion().microseconds
    if let row, row.until > now {
      guard row.owner == owner else { return Holder(until: row.until, remaining: row.until - now) }
      if row.until - now > Lease.length / 2 { return nil }
    }
    try await transaction.put(LeaseRow(owner: owner, until: now + Lease.length).fieldBytes(), for: key)
    return nil
  }

  /// Keeps the lease in a transaction of the work that it is for.
  ///
  /// - Throws: `LeaseLost` where another engine has it; nothing of the transaction is kept then.
  func keep(in transaction: any StoreTransaction) async throws {
    if let holder = try await take(in: transaction) { throw LeaseLost(holder: holder) }
  }

  /// Gives the lease back, if it is the asker's.
  func release(in transaction: any StoreTransaction) async throws {
    guard let bytes = try await transaction.get(key), try LeaseRow(row: bytes).owner == owner else { return }
    try await transaction.delete(key)
  }
}

/// Another engine does the job now.
struct LeaseLost: Error {
  let holder: Lease.Holder
}

/// A lease as it is stored.
struct LeaseRow: FieldRecord, Equatable {
  /// The number of the engine that has it.
  var owner: UInt64 = 0
  /// The version with which it ends.
  var until: Int64 = 0

  init() {}

  init(owner: UInt64, until: Int64) {
    self.owner = owner
    self.until = until
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    var bits = Int64(bitPattern: owner)
    try visitor.field(1, &bits)
    owner = UInt64(bitPattern: bits)
    try visitor.field(2, &until)
    // A row that was cut has no end.
    guard until > 0 else { throw FirestoreServiceError.damaged }
  }
}
