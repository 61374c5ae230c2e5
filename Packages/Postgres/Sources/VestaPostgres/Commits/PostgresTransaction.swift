import VestaStoreInterop

/// A transaction: reads of one snapshot, and changes that are kept here until the commit.
///
/// It holds no lock: the snapshot is opened with the first read, and the commit checks whether the values that were
/// read are still current. So bodies run side by side, in this process and in others, and a slow one delays no other
/// up.
final class PostgresTransaction: StoreTransaction {
  private let core: StoreCore
  private let isInside: Bool
  private var snapshot: PostgresSnapshot?
  private var changes = WriteBuffer()
  private var reads = ChangedKeys()
  private var reserved: Int64?
  private var hasEnded = false
  /// The version that is known to be committed when it begins; the snapshot's version once it has ended.
  private var known: Int64
  private(set) var failure: StoreError?

  /// - Parameter isInside: Whether it was begun in a body of the store.
  init(_ core: StoreCore, isInside: Bool) {
    self.core = core
    self.isInside = isInside
    known = core.leader.known
  }

  var version: StoreVersion { StoreVersion(microseconds: snapshot?.version ?? known) }

  /// Ends the transaction; uncommitted reservations are released.
  func end() {
    hasEnded = true
    if let snapshot {
      failure = failure ?? snapshot.failure
      known = snapshot.version
      snapshot.end()
    }
    snapshot = nil
  }

  /// The request to commit, once its body has returned.
  func outcome() async throws -> CommitRequest? {
    if let failure = failure ?? snapshot?.failure { throw failure }
    if changes.isEmpty { return nil }
    if changes.onlyDeletes, !(try await deletesSomething()) { return nil }
    let version = reserved ?? core.leader.reserve()
    reserved = nil
    return CommitRequest(
      version: version, changes: changes, reads: reads, readVersion: snapshot?.version, since: core.schema.tuning.now())
  }

  /// Gives up the reservation if it is not committed.
  func abandon() {
    if let reserved { core.leader.abandon(reserved) }
    reserved = nil
  }

  private func deletesSomething() async throws -> Bool {
    let keys = changes.values.keys.map { $0 }
    let snapshot = try await moment("delete", reading: .keys(keys))
    for key in keys { reads.add(key) }
    for range in changes.ranges { reads.add(range) }
    if try await snapshot.values(of: keys).contains(where: { $0 != nil }) { return true }
    for range in changes.ranges {
      for isLong in snapshot.hasLong ? [false, true] : [false] {
        let page = try await snapshot.page(of: range, .ascending, PageSize(limit: 1, snapshot.tuning), isLong: isLong)
        if !page.entries.isEmpty { return true }
      }
    }
    return false
  }

  private func check(_ operation: String) throws {
    if hasEnded { throw StoreError.ended(operation) }
    try Task.checkCancellation()
  }

  /// - Parameter first: The keys to read at the beginning.
  private func moment(_ operation: String, reading first: StoreFirstRead) async throws -> PostgresSnapshot {
    if let snapshot { return snapshot }
    do {
      let snapshot = try await PostgresSnapshot.begin(core.pool, core.schema, isInside: isInside, reading: first)
      self.snapshot = snapshot
      return snapshot
    } catch let error as PostgresFailure {
      let failure = StoreError(error, operation: operation)
      self.failure = failure
      throw failure
    }
  }

  // MARK: StoreTransaction

  func commitVersion() async throws -> StoreVersion {
    try check("commitVersion")
    let version = reserved ?? core.leader.reserve()
    reserved = version
    return StoreVersion(microseconds: version)
  }

  func get(_ key: [UInt8]) async throws -> [UInt8]? { try await get([key])[0] }

  func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try check("get")
    let unchanged = keys.filter { changes.change(of: $0) == nil }
    if unchanged.isEmpty { return keys.map { changes.change(of: $0) ?? nil } }
    let values = try await moment("get", reading: .keys(unchanged)).values(of: unchanged)
    for key in unchanged { reads.add(key) }
    var next = values.makeIterator()
    return keys.map { key in
      if let change = changes.change(of: key) { return change }
      return next.next() ?? nil
    }
  }

  func scan(
    _ range: KeyRange, order: ScanOrder, limit: Int?,
    _ visit: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
  ) async throws -> ScanEnd {
    try check("scan")
    if range.isEmpty { return ScanEnd(visited: 0, rest: nil) }
    let snapshot = try await moment("scan", reading: .scan(range, order: order, limit: limit))
    var scan = EntryScan(snapshot, range, order, limit: limit)
    do {
      let end = try await scan.run(over: &changes, visit)
      reads.add(scan.seen(end))
      return end
    } catch {
      reads.add(range)
      throw error
    }
  }

  func put(_ value: [UInt8], for key: [UInt8]) async throws {
    try check("put")
    try StoreLimits.check(value, for: key)
    changes.put(value, for: key)
  }

  func delete(_ key: [UInt8]) async throws {
    try check("delete")
    changes.delete(key)
  }

  func deleteRange(_ range: KeyRange) async throws {
    try check("deleteRange")
    changes.delete(range)
  }
}
