import Dispatch
import Testing
import VestaConcurrency

@testable import VestaCrypto

@Suite struct BoundedWorkersTests {
  private struct Broken: Error {}

  @Test func `a bounded number run at once and all get their turn`() async throws {
    let workers = BoundedWorkers(limit: 2)
    let running = Locked((now: 0, most: 0))
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<100 {
        group.addTask {
          try await workers.run {
            running.withLock {
              $0.now += 1
              $0.most = max($0.most, $0.now)
            }
            defer { running.withLock { $0.now -= 1 } }
            return index
          }
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == 4950)
    #expect(running.withLock { $0.now } == 0)
    #expect((1...2).contains(running.withLock { $0.most }))
  }

  @Test func `a waiting task that is cancelled leaves at once`() async throws {
    let workers = BoundedWorkers(limit: 1)
    let gate = DispatchSemaphore(value: 0)
    let first = Task { try await workers.run { gate.wait() } }
    let hasRun = Locked(false)
    let second = Task { try await workers.run { hasRun.withLock { $0 = true } } }
    // The second can wait only when the first has begun; until then either may be the one that runs.
    while workers.waitingCount == 0 && !hasRun.withLock({ $0 }) { await Task.yield() }
    if !hasRun.withLock({ $0 }) {
      second.cancel()
      await #expect(throws: CancellationError.self) { try await second.value }
      #expect(workers.waitingCount == 0)
      #expect(!hasRun.withLock { $0 })
    }
    gate.signal()
    try await first.value
    #expect(try await workers.run { 5 } == 5)
  }

  @Test func `a task that is cancelled before it starts runs nothing`() async {
    let workers = BoundedWorkers(limit: 1)
    let gate = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      for await _ in gate.stream {}
      return try await workers.run { 1 }
    }
    task.cancel()
    gate.continuation.finish()
    await #expect(throws: CancellationError.self) { try await task.value }
    await #expect(throws: Never.self) { try await workers.run { 1 } }
  }

  @Test func `a throw gives the turn back`() async throws {
    let workers = BoundedWorkers(limit: 1)
    for _ in 0..<5 { await #expect(throws: Broken.self) { try await workers.run { throw Broken() } } }
    #expect(try await workers.run { 1 } == 1)
  }

  @Test func `one core is left to others, and no more than eight passwords are hashed at once`() {
    let expected = [1: 1, 2: 1, 3: 2, 8: 7, 9: 8, 10: 8, 64: 8]
    for (cores, count) in expected { #expect(OpenSSLCrypto.slowOperations(cores: cores) == count, "\(cores) cores") }
  }
}
