import Testing

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
  @Test(.timeLimit(.minutes(1))) func `cancelled callers are forgotten while the place is held`() async throws {
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
    // A place that is given back passes those that have left, and the count begins anew.
    queue.leave()
    #expect(queue.storedCount == 0 && queue.runningCount == 0)
    try await queue.enter()
    await cancelMany()
    queue.leave()
  }

  @Test(.timeLimit(.minutes(1))) func `the last one to leave lets those go on who wait for the end`() async throws {
    let queue = FairQueue(limit: 2)
    try await queue.enter()
    try await queue.enter()
    let drained = (0..<3).map { _ in Task { await queue.drained() } }
    while queue.drainWaiterCount < 3 { await Task.yield() }
    queue.leave()
    #expect(queue.drainWaiterCount == 3)
    queue.leave()
    for task in drained { await task.value }
    #expect(queue.drainWaiterCount == 0)
    await queue.drained()
  }
}
