import Testing
import VestaStoreInterop
import VestaTesting

@testable import VestaDatabaseService

/// The sessions that have ended and the engines that have stopped, event by event.
@Suite struct SessionLedgerTests {
  private typealias Verdict = SessionLedger.Verdict

  private func lease(_ until: Int64) -> [UInt8] { SessionLease(until: until).bytes }

  private func at(_ time: Int64) -> StoreVersion { StoreVersion(microseconds: time) }

  @Test func `the worked example`() {
    var ledger = SessionLedger()
    ledger.ended(["s"])
    #expect(ledger.owed == ["s"] && ledger.hasUnfinishedEnds && !ledger.isSettled)
    ledger.carriedOut("s")
    #expect(ledger.owed == [] && !ledger.hasUnfinishedEnds && ledger.isSettled)
    let (owners, own, b) = (Set(["B", "C"]), lease(500), lease(100))
    let leases = ["A": own, "B": b]
    #expect(ledger.judge(owners: owners, leases: leases, own: "A", now: at(90)) == Verdict(stopped: ["C"]))
    #expect(ledger.judge(owners: ["B"], leases: leases, own: "A", now: at(110)) == Verdict())
    var same = ledger
    #expect(same.judge(owners: ["B"], leases: leases, own: "A", now: at(120)) == Verdict(expired: ["B": b]))
    let renewed = ["A": own, "B": lease(115)]
    #expect(ledger.judge(owners: ["B"], leases: renewed, own: "A", now: at(120)) == Verdict())
    #expect(ledger.judge(owners: ["B"], leases: renewed, own: "A", now: at(121)) == Verdict(expired: ["B": lease(115)]))
  }

  @Test func `sessions that are owed keep an order, and each one is carried out by itself`() {
    var ledger = SessionLedger()
    ledger.ended(["b", "a"])
    ledger.ended(["c", "a"])
    #expect(ledger.owed == ["a", "b", "c"])
    ledger.carriedOut("b")
    ledger.carriedOut("x")
    #expect(ledger.owed == ["a", "c"])
  }

  @Test func `sessions of earlier engines are owed until they have been ended`() {
    var ledger = SessionLedger()
    ledger.foreignEndsBegan()
    #expect(ledger.hasForeignEnds && ledger.hasUnfinishedEnds && ledger.isSettled)
    ledger.foreignEndsCarriedOut()
    #expect(!ledger.hasForeignEnds && !ledger.hasUnfinishedEnds)
  }

  @Test func `an engine judges neither itself nor one whose lease holds`() {
    var ledger = SessionLedger()
    let leases = ["A": lease(1), "B": lease(200)]
    for _ in 0..<3 {
      #expect(ledger.judge(owners: ["A", "B"], leases: leases, own: "A", now: at(100)) == Verdict())
    }
  }

  @Test func `a lease is over at its end, and a damaged one is always`() {
    var ledger = SessionLedger()
    let leases: [String: [UInt8]] = ["B": lease(100), "C": [0xff]]
    _ = ledger.judge(owners: [], leases: leases, own: "A", now: at(99))
    #expect(ledger.judge(owners: [], leases: leases, own: "A", now: at(99)) == Verdict(expired: ["C": [0xff]]))
    #expect(ledger.judge(owners: [], leases: leases, own: "A", now: at(100)) == Verdict(expired: ["C": [0xff]]))
    #expect(ledger.judge(owners: [], leases: leases, own: "A", now: at(100)) == Verdict(expired: leases))
  }

  @Test func `a lease that was absent in between is found for the first time again`() {
    var ledger = SessionLedger()
    let leases = ["B": lease(1)]
    _ = ledger.judge(owners: [], leases: leases, own: "A", now: at(9))
    _ = ledger.judge(owners: [], leases: [:], own: "A", now: at(9))
    #expect(ledger.judge(owners: [], leases: leases, own: "A", now: at(9)) == Verdict())
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `in any order of events an engine that renews its lease in time is never found to have stopped`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var ledger = SessionLedger()
    var (now, leases): (Int64, [String: [UInt8]]) = (0, [:])
    for _ in 0..<400 {
      // The time of the store may jump; B is looked at twice without a renewal only where it does not live.
      now += Int64.random(in: 0..<300, using: &random)
      leases["B"] = lease(now + 100 - Int64.random(in: 0..<50, using: &random))
      if Bool.random(using: &random) { now += Int64.random(in: 0..<1_000, using: &random) }
      let owners: Set<String> = Bool.random(using: &random) ? ["A", "B"] : ["A"]
      let verdict = ledger.judge(owners: owners, leases: leases, own: "A", now: at(now))
      #expect(verdict.stopped.isEmpty && verdict.expired["A"] == nil)
      if let row = verdict.expired["B"] { #expect(row == leases["B"] && SessionLease(row).until <= now) }
    }
  }
}
