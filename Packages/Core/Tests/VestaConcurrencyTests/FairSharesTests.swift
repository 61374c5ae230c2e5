import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct FairSharesTests {
  /// Waits until a queue has `count` waiters.
  private func wait(_ places: FairShares<String>, _ count: Int) async {
    while places.waitingCount != count { await Task.yield() }
  }

  @Test func `a place that becomes free is given to the owner that has the fewest`() async throws {
    let places = FairShares<String>(limit: 3)
    for _ in 0..<3 { try await places.enter("busy") }
    let log = Log<String>()
    var tasks: [Task<Void, any Error>] = []
    for (count, name) in ["busy", "busy", "new", "new"].enumerated() {
      tasks.append(
        Task {
          try await places.enter(name)
          log.add(name)
        })
      await wait(places, count + 1)
    }
    for count in 1...4 {
      places.leave("busy")
      await log.wait { $0.count == count }
    }
    #expect(log.entries == ["new", "busy", "new", "busy"])
    for task in tasks { try await task.value }
    #expect(places.runningCount == 3)
  }

  @Test func `an owner with less than its share enters beyond a soft limit`() async throws {
    let places = FairShares<String>(limit: 4, bound: .soft)
    for _ in 0..<4 { #expect(try places.enterIfFree("slow")) }
    #expect(try !places.enterIfFree("slow"))
    for _ in 0..<2 { #expect(try places.enterIfFree("quick")) }
    // Two owners share four places.
    #expect(try !places.enterIfFree("quick"))
    let hard = FairShares<String>(limit: 1)
    #expect(try hard.enterIfFree("slow"))
    #expect(try !hard.enterIfFree("quick"))
  }

  @Test func `a caller that returns precedes the waiting ones`() async throws {
    let places = FairShares<String>(limit: 1)
    try await places.enter("a")
    let log = Log<String>()
    let waiter = Task {
      try await places.enter("b")
      log.add("b")
    }
    await wait(places, 1)
    let returning = Task {
      try await places.enter("a", isReturning: true)
      log.add("returned")
    }
    await wait(places, 2)
    places.leave("a")
    try await returning.value
    places.leave("a")
    try await waiter.value
    #expect(log.entries == ["returned", "b"])
  }

  @Test func `a caller that is cancelled while it waits leaves at once, and one that waits after it gets in`()
    async throws
  {
    let places = FairShares<String>(limit: 1)
    try await places.enter("a")
    var cancelled: [Task<Void, any Error>] = []
    for _ in 0..<100 { cancelled.append(Task { try await places.enter("b") }) }
    await wait(places, 100)
    let last = Task { try await places.enter("c") }
    await wait(places, 101)
    for task in cancelled { task.cancel() }
    for task in cancelled { await #expect(throws: CancellationError.self) { try await task.value } }
    #expect(places.waitingCount == 1)
    places.leave("a")
    try await last.value
    #expect(places.runningCount == 1)
  }

  @Test func `a closed queue refuses waiting and new callers`() async throws {
    struct Closed: Error {}
    let places = FairShares<String>(limit: 1)
    try await places.enter("a")
    let waiter = Task { try await places.enter("b") }
    await wait(places, 1)
    places.close(throwing: Closed())
    await #expect(throws: Closed.self) { try await waiter.value }
    await #expect(throws: Closed.self) { try await places.enter("a") }
    places.leave("a")
    #expect(places.runningCount == 0)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `whatever callers enter and leave, the bound holds and none waits while there is room`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let limit = 1 + random.below(5)
    let bound: FairShares<Int>.Bound = random.oneIn(2) ? .hard : .soft
    var table = ShareTable<Int, Int>(limit: limit, bound: bound)
    var inside: [Int] = []
    var waiting: [Int: Int] = [:]
    var ticket = 0
    for _ in 0..<200 {
      let owner = random.below(4)
      if random.oneIn(2), !inside.isEmpty {
        let left = inside.remove(at: random.below(inside.count))
        if random.oneIn(4) {
          ticket += 1
          waiting[ticket] = left
          table.leave(left)
          table.wait(ticket, left, isReturning: true)
        } else {
          table.leave(left)
        }
        while let next = table.next() {
          #expect(waiting.removeValue(forKey: next.waiter) == next.owner, "seed \(seed)")
          inside.append(next.owner)
        }
      } else if table.enter(owner) {
        inside.append(owner)
      } else {
        ticket += 1
        waiting[ticket] = owner
        table.wait(ticket, owner, isReturning: false)
      }
      #expect(table.total == inside.count, "seed \(seed)")
      #expect(inside.count <= (bound == .hard ? limit : 2 * limit + 4), "seed \(seed)")
      #expect(waiting.isEmpty || inside.count >= limit, "seed \(seed)")
      if bound == .soft {
        for owner in Set(waiting.values) { #expect(inside.contains(owner) || inside.count >= limit, "seed \(seed)") }
      }
    }
  }
}
