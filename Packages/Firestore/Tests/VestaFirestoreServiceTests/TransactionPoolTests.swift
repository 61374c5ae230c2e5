import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// The memory of the pool of transactions, which is not emptied while an engine runs.
@Suite struct TransactionPoolTests {
  private static func pool(_ clock: ManualClock = ManualClock()) -> TransactionPool {
    var options = FirestoreServiceOptions()
    options.clock = clock.service
    return TransactionPool(
      of: DatabaseName(project: "p", database: "(default)"), options: options, engine: 1)
  }

  @Test func `a bounded number of ended transactions is remembered, and the last of them always`() throws {
    let pool = Self.pool()
    for _ in 0..<3 * CommitTuning().endedTransactions {
      let id = try pool.begin(.readWrite())
      #expect(try pool.end(id) != nil)
      #expect(try pool.end(id) == nil)
      if pool.endedCount > CommitTuning().endedTransactions { break }
    }
    #expect(pool.endedCount <= CommitTuning().endedTransactions)
    #expect(pool.openCount == 0)
  }

  /// Two transactions read a document and want to write it: the second has to begin again.
  private static func contend(_ number: Int, in pool: TransactionPool) throws {
    let pathKey = PathKey(ResourcePath(["rooms", "\(number)"]))
    let (one, other) = (try pool.begin(.readWrite()), try pool.begin(.readWrite()))
    for id in [one, other] { #expect(pool.acquire(pathKey, for: id, .shared) == .granted) }
    #expect(pool.acquire(pathKey, for: one, .exclusive) == .mustWait)
    #expect(pool.acquire(pathKey, for: other, .exclusive) == .deadlock)
    for id in [other, one] { _ = try pool.end(id) }
  }

  /// All within the five seconds for which a document counts as contended: no entry is out of date.
  @Test func `a bounded number of contended documents is remembered, also while all of them are contended`() throws {
    let clock = ManualClock()
    let pool = Self.pool(clock)
    for number in 0..<3 * CommitTuning().contendedDocuments {
      try Self.contend(number, in: pool)
      if pool.contendedCount > CommitTuning().contendedDocuments { break }
    }
    #expect(pool.contendedCount <= CommitTuning().contendedDocuments)
    #expect(pool.waitingCount == 0)
  }

  @Test func `a write waits no longer than it has to, also behind a transaction that may wait longer`() async throws {
    let clock = ManualClock()
    let pool = Self.pool(clock)
    let pathKey = PathKey(ResourcePath(["rooms", "1"]))
    let (owner, other) = (try pool.begin(.readWrite()), try pool.begin(.readWrite()))
    #expect(pool.acquire(pathKey, for: owner, .exclusive) == .granted)
    async let transaction: Void = pool.lock([pathKey], for: other, .exclusive)
    while pool.waitingCount < 1 { await Task.yield() }
    for _ in 0..<3 {
      let write = Task { await failure { _ = try await pool.hold([pathKey]) } }
      while pool.waitingCount < 2 { await Task.yield() }
      clock.advance(by: .milliseconds(14_999))
      #expect(pool.waitingCount == 2)
      clock.advance(by: .milliseconds(2))
      #expect(pool.waitingCount == 1)
      guard pool.waitingCount == 1 else { break }
      #expect(await write.value?.code == .aborted)
    }
    try pool.end(owner)
    try await transaction
    pool.close()
  }

  @Test func `readers take turns at a contended document for five seconds`() throws {
    let clock = ManualClock()
    let pool = Self.pool(clock)
    try Self.contend(1, in: pool)
    let pathKey = PathKey(ResourcePath(["rooms", "1"]))
    func readTogether() throws -> Bool {
      let (one, other) = (try pool.begin(.readWrite()), try pool.begin(.readWrite()))
      #expect(pool.acquire(pathKey, for: one, .shared) == .granted)
      let answer = pool.acquire(pathKey, for: other, .shared)
      for id in [other, one] { _ = try pool.end(id) }
      return answer == .granted
    }
    #expect(try !readTogether())
    clock.advance(by: .milliseconds(5001))
    #expect(try readTogether())
  }
}
