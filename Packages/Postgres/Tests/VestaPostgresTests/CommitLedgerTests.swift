import Testing
import VestaStoreInterop

@testable import VestaPostgres

/// The versions of a store as one process knows them, without a server and without a clock.
@Suite struct CommitLedgerTests {
  private let start = ContinuousClock.now

  private func ledger(version: Int64 = 1_000, offset: Int64? = nil) -> CommitLedger {
    CommitLedger(CommitState(version: version, floor: 0, hasLong: false), offset: offset, now: start, PostgresTuning())
  }

  private func time(_ wall: Int64) -> StoreTime { StoreTime(wall: wall, steady: wall) }

  private func reading(
    _ version: Int64, floor: Int64 = 0, others: [Int64] = [], known: Int64, server: Int64? = nil, at wall: Int64 = 5_000
  ) -> CommitLedger.Reading {
    CommitLedger.Reading(
      state: CommitState(version: version, floor: floor, hasLong: false),
      others: others.map { ($0, ChangedKeys()) }, known: known, server: server, asked: time(wall), answered: time(wall))
  }

  @Test func `versions are above everything known, and belong to a body until it gives them back`() {
    var ledger = ledger()
    let (first, second) = (ledger.reserve(at: time(500)), ledger.reserve(at: time(500)))
    #expect(first > 1_000 && second > first && ledger.running == [first, second])
    ledger.release(first)
    #expect(ledger.running == [second])
    ledger.absorb(reading(9_000, floor: 9_500, others: [9_000], known: 1_000), now: start)
    #expect(ledger.known == 9_000 && ledger.reserve(at: time(600)) > 9_500)
  }

  @Test func `a commit of another process is listed, and says that the next guess would fail`() {
    var ledger = ledger()
    ledger.absorb(reading(2_000, others: [2_000], known: 1_000), now: start)
    #expect(!ledger.isAlone && ledger.log.base == 1_000)
    ledger.absorb(reading(2_000, known: 2_000), now: start)
    #expect(ledger.isAlone)
    // Another process has raised the floor alone.
    ledger.absorb(reading(2_000, floor: 3_000, known: 2_000), now: start)
    #expect(!ledger.isAlone)
  }

  @Test func `after a long silence, or a store that was put back, nothing older is taken as listed`() {
    var (silent, restored) = (ledger(), ledger())
    silent.absorb(reading(2_000, others: [2_000], known: 1_000), now: start + .seconds(3_001))
    #expect(silent.log.base == 2_000)
    restored.absorb(reading(900, known: 1_000), now: start)
    #expect(restored.log.base == 900 && restored.known == 1_000)
  }

  @Test func `a clock that is more than two seconds wrong is put right, where the server's is followed`() {
    let hour: Int64 = 3_600_000_000
    for (offset, wall) in [(hour, hour + 5_000), (-hour, 5_000), (2_000_000, 5_000), (nil, 5_000)] as [(Int64?, Int64)]
    {
      var ledger = ledger(offset: offset)
      let version = ledger.reserve(at: time(offset == -hour ? hour + 5_000 : 5_000))
      #expect(version == wall, "\(String(describing: offset))")
    }
    var followed = ledger(offset: 0)
    followed.absorb(reading(1_000, known: 1_000, server: hour), now: start)
    #expect(followed.reserve(at: time(6_000)) == hour + 1_000)
    var steadfast = ledger()
    steadfast.absorb(reading(1_000, known: 1_000, server: hour), now: start)
    #expect(steadfast.reserve(at: time(6_000)) == 6_000)
  }

  @Test func `a floor of the past is done, one soon is committed, one far in the future is refused`() {
    var ledger = ledger()
    guard case .done(let done) = ledger.raise(to: StoreVersion(microseconds: 1_000), at: time(5_000)) else {
      Issue.record("a committed version is no floor to commit")
      return
    }
    #expect(done.microseconds == 1_000)
    guard case .commit(let soon) = ledger.raise(to: StoreVersion(microseconds: 9_000), at: time(5_000)) else {
      Issue.record("a floor above the last commit is committed")
      return
    }
    #expect(soon.microseconds == 9_000 && ledger.reserve(at: time(5_000)) > 9_000)
    guard case .refused = ledger.raise(to: StoreVersion(microseconds: 3_600_000_000), at: time(5_000)) else {
      Issue.record("a floor an hour ahead is refused")
      return
    }
  }

  @Test func `commits are forgotten after an hour of the steady clock`() {
    var ledger = ledger()
    #expect(ledger.horizon(at: start) == nil)
    ledger.absorb(reading(2_000, others: [2_000], known: 1_000), now: start)
    #expect(ledger.horizon(at: start + .seconds(3_599)) == nil)
    #expect(ledger.horizon(at: start + .seconds(3_601)) == 1_000)
    #expect(ledger.horizon(at: start + .seconds(3_599 + 3_602)) == 2_000)
  }
}
