import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct FairQueueTests {
  private struct Closed: Error {}

  @Test(.timeLimit(.minutes(10))) func `waiting callers get places in order of arrival`() async throws {
    let queue = FairQueue(limit: 2)
    let order = Log<Int>()
    try await queue.enter()
    try await queue.enter()
    #expect(try !queue.enterIfFree())
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<5 {
      tasks.append(
        Task {
          try await queue.enter()
          order.add(number)
        })
      while queue.waitingCount <= number { await Task.yield() }
    }
    for number in 0..<5 {
      queue.leave()
      await order.wait { $0.count > number }
    }
    #expect(order.entries == [0, 1, 2, 3, 4])
    for task in tasks { try await task.value }
    queue.leave()
    queue.leave()
    #expect(queue.runningCount == 0)
  }

  @Test(.timeLimit(.minutes(10))) func `a cancelled caller leaves at once and the next one gets its place`()
    async throws
  {
    let queue = FairQueue(limit: 1)
    try await queue.enter()
    let cancelled = Task { try await queue.enter() }
    while queue.waitingCount < 1 { await Task.yield() }
    let next = Task { try await queue.enter() }
    while queue.waitingCount < 2 { await Task.yield() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(queue.waitingCount == 1)
    queue.leave()
    try await next.value
    #expect(queue.runningCount == 1)
    queue.leave()
    #expect(queue.runningCount == 0)
  }

  @Test(.timeLimit(.minutes(10))) func `a closed queue refuses waiting and new callers, and drains`()
    async throws
  {
    let queue = FairQueue(limit: 1)
    try await queue.enter()
    let waiting = Task { try await queue.enter() }
    while queue.waitingCount < 1 { await Task.yield() }
    #expect(queue.close(throwing: Closed()))
    #expect(!queue.close(throwing: CancellationError()))
    await #expect(throws: Closed.self) { try await waiting.value }
    await #expect(throws: Closed.self) { try await queue.enter() }
    let drained = Task { await queue.drained() }
    while queue.drainWaiterCount < 1 { await Task.yield() }
    queue.leave()
    try #require(queue.drainWaiterCount == 0)
    await drained.value
  }

  @Test(.timeLimit(.minutes(10))) func `a place is given back when the work throws`() async {
    let queue = FairQueue(limit: 1)
    await #expect(throws: Closed.self) { try await queue.run { throw Closed() } }
    #expect(queue.runningCount == 0)
  }

  @Test(.timeLimit(.minutes(10))) func `FairQueue Stress: never more inside than the limit, and all are served`()
    async
  {
    let queue = FairQueue(limit: 3)
    let inside = Locked((now: 0, most: 0))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<2_000 {
        group.addTask {
          let task = Task {
            try await queue.run {
              inside.withLock { inside in
                inside.now += 1
                inside.most = max(inside.most, inside.now)
              }
              await Task.yield()
              inside.withLock { $0.now -= 1 }
            }
          }
          if number % 3 == 0 { task.cancel() }
          _ = await task.result
        }
      }
    }
    #expect(inside.withLock { $0.most } <= 3)
    #expect(queue.runningCount == 0)
    #expect(queue.waitingCount == 0)
  }
}

@Suite struct WriterTurnsTests {
  private enum Refused: Error, Equatable { case closed(String), nested(String) }

  private let turns = WriterTurns { refusal, operation in
    refusal == .closed ? Refused.closed(operation) : Refused.nested(operation)
  }

  @Test(.timeLimit(.minutes(10))) func `writers run one at a time while readers run at once`() async throws {
    let turns = turns
    let gate = Gate()
    let log = Log<String>()
    let first = Task {
      try await turns.write {
        log.add("first begins")
        await gate.wait()
        log.add("first ends")
      }
    }
    await log.wait { $0.count == 1 }
    let second = Task { try await turns.write { log.add("second") } }
    while turns.waitingWriters < 1 { await Task.yield() }
    try await turns.read { log.add("read") }
    gate.open()
    try await first.value
    try await second.value
    #expect(log.entries == ["first begins", "read", "first ends", "second"])
  }

  @Test(.timeLimit(.minutes(10))) func `a call that would wait for itself is refused`() async throws {
    let turns = turns
    try await turns.write {
      #expect(turns.isInsideWriter)
      await #expect(throws: Refused.nested("write")) { try await turns.write {} }
      await #expect(throws: Refused.nested("close")) { try await turns.close() }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await #expect(throws: Refused.nested("write")) { try await turns.write {} } }
      }
      try await turns.read {}
    }
    #expect(!turns.isInsideWriter)
  }

  @Test(.timeLimit(.minutes(10))) func `a task that outlives the body it was started in may write`() async throws {
    let turns = turns
    let gate = Gate()
    let late = try await turns.write {
      Task {
        await gate.wait()
        try await turns.write {}
      }
    }
    gate.open()
    try await late.value
  }

  @Test(.timeLimit(.minutes(10))) func `close refuses and waits for those inside`() async throws {
    let turns = turns
    let gate = Gate()
    let log = Log<String>()
    let reader = Task {
      try await turns.read {
        log.add("reading")
        await gate.wait()
        log.add("read")
      }
    }
    await log.wait { $0.count == 1 }
    let closing = Task {
      let isFirst = try await turns.close()
      log.add("closed")
      return isFirst
    }
    while (try? await turns.read({})) != nil { await Task.yield() }
    await #expect(throws: Refused.closed("write")) { try await turns.write {} }
    gate.open()
    try await reader.value
    #expect(try await closing.value)
    #expect(try await !turns.close())
    #expect(log.entries == ["reading", "read", "closed"])
  }
}
