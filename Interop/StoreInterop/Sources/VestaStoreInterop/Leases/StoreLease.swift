import VestaBytes

/// The right to do a job, in a row of the store: its owner, and its end.
///
/// The times are the store's versions, which all engines share and which only grow. So no engine's clock has a say, and
/// a clock that jumps does no lasting harm: a lease ends its length of the store's time after its owner last renewed
/// it. The owner renews it in the transactions of the work itself: of two engines that both take themselves for the
/// owner, after a long pause of one, the store lets one continue.
///
/// | the row says | the asker is | answer |
/// |---|---|---|
/// | nothing | any engine | takes it for its length |
/// | an owner, and a time that has passed | any engine | takes it for its length |
/// | the asker, and a later time | the owner | keeps it; renews it when less than half is left |
/// | another one, and a later time | any engine | the holder, and its end |
///
/// ```swift
/// let lease = StoreLease(key: Keys.sweeper, owner: engineNumber)
/// try await store.write { transaction in
///   try await sweep(transaction)
///   try await lease.keep(in: transaction)
/// }
/// ```
public struct StoreLease: Sendable, Hashable {
  /// The holder of a lease that was asked for.
  public struct Holder: Sendable, Hashable {
    /// The version, in microseconds, with which the lease ends unless its owner renews it.
    public var until: Int64
    /// The microseconds that are left.
    public var remaining: Int64

    /// A holder.
    ///
    /// - Parameters:
    ///   - until: The version, in microseconds, with which the lease ends.
    ///   - remaining: The microseconds that are left.
    public init(until: Int64, remaining: Int64) {
      self.until = until
      self.remaining = remaining
    }
  }

  /// The length of a lease unless given: ten seconds.
  public static let usualLength = Duration.seconds(10)

  /// The key of the row.
  public let key: [UInt8]

  /// The number of the engine, drawn at random when it starts.
  public let owner: UInt64

  private let length: Int64

  /// A lease that is not taken yet.
  ///
  /// - Parameters:
  ///   - key: The key of the row.
  ///   - owner: The number of the engine.
  ///   - length: The time for which it is taken.
  public init(key: [UInt8], owner: UInt64, length: Duration = StoreLease.usualLength) {
    self.key = key
    self.owner = owner
    let (seconds, attoseconds) = length.components
    self.length = max(1, seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
  }

  /// Takes the lease, or keeps it.
  ///
  /// It asks for the version of the commit, so call it at the end of a long transaction.
  ///
  /// - Parameter transaction: The transaction of the work.
  /// - Returns: `nil` where it is the asker's now; else its holder.
  public func take(in transaction: any StoreTransaction) async throws -> Holder? {
    let row = try await transaction.get(key).map { try LeaseRow(row: $0) }
    let now = try await transaction.commitVersion().microseconds
    if let row, row.until > now {
      guard row.owner == owner else { return Holder(until: row.until, remaining: row.until - now) }
      if row.until - now > length / 2 { return nil }
    }
    try await transaction.put(LeaseRow(owner: owner, until: now + length).fieldBytes(), for: key)
    return nil
  }

  /// Keeps the lease in a transaction of the work that it is for.
  ///
  /// - Parameter transaction: The transaction of the work.
  /// - Throws: `StoreLeaseLost` where another engine has it; nothing of the transaction is kept then.
  public func keep(in transaction: any StoreTransaction) async throws {
    if let holder = try await take(in: transaction) { throw StoreLeaseLost(holder: holder) }
  }

  /// Returns the lease, if it is the asker's.
  ///
  /// - Parameter transaction: A transaction.
  public func release(in transaction: any StoreTransaction) async throws {
    guard let bytes = try await transaction.get(key), try LeaseRow(row: bytes).owner == owner else { return }
    try await transaction.delete(key)
  }
}

/// Another engine does the job now.
public struct StoreLeaseLost: Error, Sendable, Hashable {
  /// The engine that has the lease.
  public let holder: StoreLease.Holder

  /// A loss.
  ///
  /// - Parameter holder: The engine that has the lease.
  public init(holder: StoreLease.Holder) { self.holder = holder }
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

  init(row: [UInt8]) throws {
    do {
      self = try LeaseRow(fieldBytes: row)
    } catch {
      throw Self.damaged("\(error)")
    }
    // A row that was cut has no end.
    guard until > 0 else { throw Self.damaged("It has no end.") }
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    var bits = Int64(bitPattern: owner)
    try visitor.field(1, &bits)
    owner = UInt64(bitPattern: bits)
    try visitor.field(2, &until)
  }

  private static func damaged(_ cause: String) -> StoreError {
    StoreError(.corrupt, operation: "read", message: "The row of a lease is damaged: \(cause)")
  }
}
