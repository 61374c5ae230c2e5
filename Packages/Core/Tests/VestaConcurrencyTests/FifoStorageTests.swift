import Testing
import VestaTesting

@testable import VestaConcurrency

/// The memory of a queue after its elements were taken.
@Suite struct FifoStorageTests {
  @Test func `a queue that never runs empty forgets what was taken`() {
    var queue = Fifo<Int>()
    for number in 0..<300 { queue.append(number) }
    var longest = 0
    for number in 0..<20_000 {
      #expect(queue.popFirst() == number)
      queue.append(number + 300)
      longest = max(longest, queue.slots.count)
    }
    #expect(queue.count == 300)
    #expect(longest <= 602)
  }

  @Test func `what was taken is released at once`() {
    final class Thing: Sendable {}
    var queue = Fifo<Thing>()
    weak var first: Thing?
    do {
      let thing = Thing()
      first = thing
      queue.append(thing)
      for _ in 0..<10 { queue.append(Thing()) }
    }
    #expect(first != nil)
    _ = queue.popFirst()
    #expect(first == nil)
    #expect(queue.count == 10)
  }
}

/// The memory of a waiting line, and the callers that wait for its end.
@Suite struct FairQueueStorageTests {
  @Test(.timeLimit(.minutes(10))) func `cancelled callers are forgotten while the place is held`() async throws {
    let queue = FairQueue(limit: 1)
    try await queue.enter()
    func cancelMany() async {
      for _ in 0..<200 {
        let waiting = Task { try await queue.enter() }
        while queue.waitingCount < 1 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(queue.storedCount <= 34)
      }
    }
    await cancelMany()
    // A returned place skips the callers that have left, and the count begins again.
    queue.leave()
    #expect(queue.storedCount == 0 && queue.runningCount == 0)
    try await queue.enter()
    await cancelMany()
    queue.leave()
  }

  @Test(.timeLimit(.minutes(10))) func `the last one to leave releases the callers that wait for the end`() async throws
  {
    let queue = FairQueue(limit: 2)
    try await queue.enter()
    try await queue.enter()
    let drained = (0..<3).map { _ in Task { await queue.drained() } }
    while queue.drainWaiterCount < 3 { await Task.yield() }
    queue.leave()
    #expect(queue.drainWaiterCount == 3)
    queue.leave()
    // Looked at before it is awaited: a caller that was forgotten would wait for ever.
    try #require(queue.drainWaiterCount == 0)
    for task in drained { await task.value }
    await queue.drained()
  }

  @Test(.timeLimit(.minutes(5))) func `callers that a place passed over are not counted as cancelled a second time`()
    async throws
  {
    let queue = FairQueue(limit: 1)
    func cancel(_ count: Int, keeping bound: Int) async {
      for number in 0..<count {
        let (live, task) = (queue.waitingCount, Task { try await queue.enter() })
        while queue.waitingCount == live { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(queue.storedCount <= bound, "\(number)")
      }
    }
    try await queue.enter()
    // Twenty cancelled turns before one that waits: the place is given to that one, past the twenty.
    await cancel(20, keeping: 20)
    let next = Task { try await queue.enter() }
    while queue.waitingCount < 1 { await Task.yield() }
    queue.leave()
    try await next.value
    await cancel(100, keeping: 33)
    queue.leave()
    #expect(queue.storedCount == 0 && queue.runningCount == 0)
  }

  /// A random course of arrivals, cancellations and departures, compared with a plain list.
  ///
  /// After each step: no caller is inside beyond the limit, a place is free only without waiters, and places are
  /// given in order of arrival. After each cancellation the line keeps no more cancelled turns than live ones, or 32.
  @Test(.timeLimit(.minutes(5)), arguments: 1...6)
  func `a random course keeps the order, the limit and the bound of the line`(_ seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let limit = 1 + random.below(3)
    let queue = FairQueue(limit: limit)
    let admitted = Log<Int>()
    var waiting: [(number: Int, task: Task<Void, any Error>)] = []
    var (inside, expected, arrivals) = (0, [Int](), 0)
    func admit(_ number: Int) async throws {
      expected.append(number)
      inside += 1
      let count = expected.count
      await admitted.wait { $0.count >= count }
      try #require(admitted.entries == expected, "seed \(seed)")
    }
    for step in 0..<600 {
      // Long phases of arrivals, cancellations and departures, so that the line grows, dies off and is served.
      switch [0, 0, 1, 1, 1, 2][(random.below(3) + step / 60) % 6] {
      case 0:
        let number = arrivals
        arrivals += 1
        let task = Task {
          try await queue.enter()
          admitted.add(number)
        }
        if inside < limit {
          try await admit(number)
        } else {
          waiting.append((number, task))
          while queue.waitingCount < waiting.count { await Task.yield() }
        }
      case 1 where !waiting.isEmpty:
        let cancelled = waiting.remove(at: random.below(waiting.count))
        cancelled.task.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.task.value }
        let (stored, live) = (queue.storedCount, queue.waitingCount)
        try #require(stored - live <= max(32, live), "seed \(seed), step \(step): \(stored), \(live) of them wait")
      default:
        guard inside > 0 else { continue }
        queue.leave()
        inside -= 1
        if !waiting.isEmpty { try await admit(waiting.removeFirst().number) }
      }
      try #require(
        queue.waitingCount == waiting.count && queue.runningCount == inside, "seed \(seed), step \(step)")
    }
    for (_, task) in waiting { task.cancel() }
    for _ in 0..<inside { queue.leave() }
    #expect(queue.runningCount == 0 && queue.waitingCount == 0)
    await queue.drained()
  }
}
