import Testing
import VestaTesting

@testable import VestaFirestoreService

struct LockTableTests {
  @Test func `the first to wait is served first`() {
    var table = LockTable<String, Int>()
    #expect(table.acquire("a", for: 1) == .granted)
    #expect(table.acquire("a", for: 1) == .granted)
    #expect(table.acquire("a", for: 2) == .mustWait)
    #expect(table.acquire("a", for: 3) == .mustWait)
    #expect(table.release(1) == [2])
    #expect(table.release(2) == [3])
    #expect(table.release(3) == [])
    #expect(table.isEmpty)
  }

  @Test func `a cycle is refused however long it is`() {
    var table = LockTable<Int, Int>()
    for owner in 0..<5 { #expect(table.acquire(owner, for: owner) == .granted) }
    for owner in 0..<4 { #expect(table.acquire(owner + 1, for: owner) == .mustWait) }
    #expect(table.acquire(0, for: 4) == .deadlock)
  }

  @Test func `who gives up waiting is passed over`() {
    var table = LockTable<String, Int>()
    _ = table.acquire("a", for: 1)
    _ = table.acquire("a", for: 2)
    _ = table.acquire("a", for: 3)
    #expect(table.release(2) == [])
    #expect(table.release(1) == [3])
  }

  @Test func `readers share, and a writer that waits precedes later readers`() {
    var table = LockTable<String, Int>()
    #expect(table.acquire("a", for: 1, .shared) == .granted)
    #expect(table.acquire("a", for: 2, .shared) == .granted)
    #expect(table.acquire("a", for: 3, .exclusive) == .mustWait)
    #expect(table.acquire("a", for: 4, .shared) == .mustWait)
    #expect(table.release(1) == [])
    #expect(table.release(2) == [3])
    #expect(table.release(3) == [4])
    #expect(table.release(4) == [] && table.isEmpty)
  }

  @Test func `a reader becomes a writer when it is alone, before the waiting ones`() {
    var table = LockTable<String, Int>()
    _ = table.acquire("a", for: 1, .shared)
    _ = table.acquire("a", for: 2, .shared)
    #expect(table.acquire("a", for: 3, .exclusive) == .mustWait)
    #expect(table.acquire("a", for: 1, .exclusive) == .mustWait)
    // The second reader that wants to write would wait for the first for ever.
    #expect(table.acquire("a", for: 2, .exclusive) == .deadlock)
    #expect(table.release(2) == [1])
    #expect(table.acquire("a", for: 1, .exclusive) == .granted)
    #expect(table.release(1) == [3])
  }

  /// A random walk: one holder at most, and every waiter is served or gives up in the end.
  @Test(arguments: [UInt64(1), 2, 3, 4])
  func `no caller waits for ever`(seed: UInt64) {
    var data = SplitMix(seed: seed)
    var table = LockTable<Int, Int>()
    var waiting: Set<Int> = []
    var active: Set<Int> = []
    for _ in 0..<2000 {
      let owner = data.pick(Array(0..<12))
      if waiting.contains(owner) || data.pick([true, false, false]) {
        guard !waiting.contains(owner) else { continue }
        for next in table.release(owner) { #expect(waiting.remove(next) != nil, "seed \(seed)") }
        active.remove(owner)
        continue
      }
      switch table.acquire(data.pick(Array(0..<6)), for: owner, data.pick([.shared, .exclusive])) {
      case .granted: active.insert(owner)
      case .mustWait:
        waiting.insert(owner)
        active.insert(owner)
      case .deadlock:
        for next in table.release(owner) { waiting.remove(next) }
        active.remove(owner)
      }
      // One of them can always continue: no state is a cycle of waits.
      #expect(active.isEmpty || waiting.count < active.count, "seed \(seed)")
    }
    while let owner = active.subtracting(waiting).first {
      active.remove(owner)
      for next in table.release(owner) { waiting.remove(next) }
    }
    #expect(waiting.isEmpty && table.isEmpty, "seed \(seed)")
  }
}
