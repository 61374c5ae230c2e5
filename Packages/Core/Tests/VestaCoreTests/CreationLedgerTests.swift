import Testing
import VestaTesting

@testable import VestaCore

@Suite struct CreationLedgerTests {
  @Test func `the first thread creates and the second waits`() {
    var ledger = CreationLedger<String, Int>()
    #expect(ledger.request("A", by: 1) == .create)
    #expect(ledger.request("A", by: 2) == .wait)
    ledger.finish("A", by: 1)
    #expect(ledger.request("A", by: 2) == .create)
  }

  @Test func `a thread that returns to its own item gets the path`() {
    var ledger = CreationLedger<String, Int>()
    _ = ledger.request("A", by: 1)
    _ = ledger.request("B", by: 1)
    #expect(ledger.request("A", by: 1) == .cycle(path: ["A", "B", "A"]))
    #expect(ledger.request("B", by: 1) == .cycle(path: ["B", "B"]))
  }

  @Test func `a cycle across threads is reported to the thread that would close it`() {
    var ledger = CreationLedger<String, Int>()
    _ = ledger.request("A", by: 1)
    _ = ledger.request("B", by: 2)
    #expect(ledger.request("B", by: 1) == .wait)
    #expect(ledger.request("A", by: 2) == .cycle(path: ["A", "B", "A"]))
  }

  @Test func `waiting for a thread that continues is not a cycle`() {
    var ledger = CreationLedger<String, Int>()
    _ = ledger.request("A", by: 1)
    _ = ledger.request("B", by: 2)
    #expect(ledger.request("B", by: 1) == .wait)
    #expect(ledger.request("C", by: 2) == .create)
    ledger.finish("C", by: 2)
    ledger.finish("B", by: 2)
    #expect(ledger.request("A", by: 2) == .wait)
  }

  /// Plays random threads against the ledger: no thread creates what is being created, and whenever all threads that
  /// are in the middle of something wait, the ledger has broken its promise.
  @Test(arguments: 1...40) func `no random course ends in a deadlock`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var ledger = CreationLedger<Int, Int>()
    var stacks = [[Int]](repeating: [], count: 5)
    var waitsFor = [Int?](repeating: nil, count: 5)
    for _ in 0..<2_000 {
      let thread = Int(random.next() % 5)
      guard waitsFor[thread] == nil else { continue }
      if !stacks[thread].isEmpty, random.next() % 3 == 0 {
        let item = stacks[thread].removeLast()
        ledger.finish(item, by: thread)
        for sleeper in waitsFor.indices where waitsFor[sleeper] == item { waitsFor[sleeper] = nil }
        continue
      }
      let item = Int(random.next() % 6)
      let isTaken = stacks.contains { $0.contains(item) }
      switch ledger.request(item, by: thread) {
      case .create:
        #expect(!isTaken)
        stacks[thread].append(item)
      case .wait:
        #expect(isTaken && !stacks[thread].contains(item))
        waitsFor[thread] = item
      case .cycle(let path):
        #expect(isTaken && path.first == item && path.last == item)
      }
      let busy = stacks.indices.filter { !stacks[$0].isEmpty }
      #expect(busy.isEmpty || busy.contains { waitsFor[$0] == nil }, "all busy threads wait (seed \(seed))")
    }
  }
}
