import Dispatch
import Foundation
import Testing
import VestaConcurrency
import VestaTesting

@Suite struct BlockingPoolTests {
  @Test(.timeLimit(.minutes(10))) func `many blocked closures hold up neither tasks nor other lanes`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let blocked = Log<Int>()
    let lanes = (0..<64).map { _ in BlockingLane() }
    for (number, lane) in lanes.enumerated() {
      lane.async {
        blocked.add(number)
        gate.wait()
      }
    }
    await blocked.wait { $0.count == 64 }
    let another = try await BlockingLane().run { "served" }
    let task = await Task.detached { "served" }.value
    #expect(another == "served" && task == "served")
    for _ in lanes { gate.signal() }
  }

  @Test(.timeLimit(.minutes(10))) func `a lane runs one closure at a time, in order`() async throws {
    let lane = BlockingLane()
    let order = Log<Int>()
    for number in 0..<1_000 { lane.async { order.add(number) } }
    try await lane.run {}
    #expect(order.entries == Array(0..<1_000))
  }

  @Test(.timeLimit(.minutes(10))) func `at the limit work waits in the order of its submission`() async throws {
    let pool = BlockingPool(limit: 2)
    let gate = DispatchSemaphore(value: 0)
    let order = Log<Int>()
    for _ in 0..<2 { pool.async { gate.wait() } }
    for number in 0..<5 { pool.async { order.add(number) } }
    #expect(pool.threadCount == 2)
    #expect(pool.waitingCount == 5)
    gate.signal()
    await order.wait { $0.count == 5 }
    #expect(order.entries == [0, 1, 2, 3, 4])
    gate.signal()
  }

  @Test(.timeLimit(.minutes(10))) func `a lane with much to do lets another one have the only thread`() async throws {
    let pool = BlockingPool(limit: 1)
    let gate = DispatchSemaphore(value: 0)
    let order = Log<String>()
    let busy = BlockingLane(on: pool)
    let quiet = BlockingLane(on: pool)
    busy.async { gate.wait() }
    for _ in 0..<100 { busy.async { order.add("busy") } }
    quiet.async { order.add("quiet") }
    gate.signal()
    await order.wait { $0.count == 101 }
    #expect(order.entries.firstIndex(of: "quiet").map { $0 < 3 } == true)
  }

  @Test(.timeLimit(.minutes(10))) func `an idle thread serves the next work, and ends when there is none`() async throws
  {
    let pool = BlockingPool(limit: 8, idleTime: .milliseconds(20))
    for _ in 0..<50 { try await pool.run {} }
    #expect(pool.threadCount <= 8)
    while pool.threadCount > 0 { await Task.yield() }
    #expect(try await pool.run { 7 } == 7)
  }

  @Test(.timeLimit(.minutes(10)))
  func `work that runs to its end runs in a cancelled task as well`() async throws {
    struct Refusal: Error, Equatable {}
    let task = Task { () -> Int in
      withUnsafeCurrentTask { $0?.cancel() }
      return await BlockingPool(limit: 1).runToEnd { Task.isCancelled ? -1 : 7 }
    }
    #expect(await task.value == 7)
    await #expect(throws: Refusal()) {
      try await BlockingPool(limit: 1).runToEnd { () throws(Refusal) in throw Refusal() }
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `a task that is cancelled before its work has begun leaves, and the work never runs`()
    async throws
  {
    let pool = BlockingPool(limit: 1)
    let gate = DispatchSemaphore(value: 0)
    let ran = Log<String>()
    pool.async { gate.wait() }
    let cancelled = Task { try await pool.run { ran.add("cancelled") } }
    while pool.waitingCount < 1 { await Task.yield() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    gate.signal()
    try await pool.run { ran.add("next") }
    #expect(ran.entries == ["next"])
  }

  @Test(.timeLimit(.minutes(10))) func `an error of the work reaches its caller`() async throws {
    struct Refused: Error {}
    await #expect(throws: Refused.self) { try await BlockingPool.shared.run { throw Refused() } }
    await #expect(throws: Refused.self) { try await BlockingLane().run { throw Refused() } }
  }

  @Test(.timeLimit(.minutes(10))) func `a receiver on a lane gets its events in order, and none once it is silenced`()
    async throws
  {
    let lane = BlockingLane()
    let received = Log<Int>()
    let receiver = QueuedReceiver<Int>(lane: lane) { received.add($0) }
    for number in 0..<10 { receiver.post(number) }
    try await lane.run {}
    receiver.silence()
    receiver.post(10)
    try await lane.run {}
    #expect(received.entries == Array(0..<10))
  }
}

@Suite struct BlockingPoolStressTests {
  @Test(.timeLimit(.minutes(10))) func `lanes of many submitters keep their order while threads start and end`()
    async throws
  {
    let pool = BlockingPool(limit: 5, idleTime: .microseconds(50))
    let lanes = (0..<8).map { _ in BlockingLane(on: pool) }
    let logs = (0..<8).map { _ in Log<Int>() }
    await withTaskGroup(of: Void.self) { group in
      for (lane, log) in zip(lanes, logs) {
        group.addTask {
          for number in 0..<2_000 {
            lane.async { log.add(number) }
            if number % 64 == 0 { await Task.yield() }
          }
        }
      }
    }
    for (lane, log) in zip(lanes, logs) {
      try await lane.run {}
      #expect(log.entries == Array(0..<2_000))
    }
    while pool.threadCount > 0 { await Task.yield() }
  }

  @Test func `a task that prefers a pool runs there, and returns`() async {
    let pool = BlockingPool(limit: 2, isBackground: true)
    #expect(pool.threadCount == 0)
    let threads = await withTaskExecutorPreference(pool) {
      await Task.yield()
      return pool.threadCount
    }
    #expect(threads >= 1)
    // More tasks than threads, each of which lets the others run.
    let order = Log<Int>()
    await withTaskGroup { group in
      for number in 0..<8 {
        group.addTask(executorPreference: pool) {
          for _ in 0..<10 {
            order.add(number)
            await Task.yield()
          }
        }
      }
    }
    #expect(order.entries.count == 80)
    #expect(pool.threadCount <= 2)
  }
}

@Suite struct BlockingExecutorTests {
  @Test func `more blocked tasks than cores hold up no other task`() async throws {
    let count = ProcessInfo.processInfo.activeProcessorCount + 1
    let executor = BlockingExecutor(BlockingPool(limit: count))
    let blocked = DispatchSemaphore(value: 0)
    let begun = Log<Int>()
    let tasks = (0..<count).map { number in
      Task(executorPreference: executor) {
        begun.add(number)
        blocked.wait()
        await Task.yield()
        return number
      }
    }
    await begun.wait { $0.count == count }
    #expect(await Task { 7 }.value == 7)
    for _ in tasks { blocked.signal() }
    var numbers: [Int] = []
    for task in tasks { numbers.append(await task.value) }
    #expect(numbers == Array(0..<count))
  }
}
