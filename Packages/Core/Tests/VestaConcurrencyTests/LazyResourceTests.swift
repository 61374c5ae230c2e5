import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct LazyResourceTests {
  private struct Closed: Error {}
  private struct Broken: Error {}

  /// The events of a resource, in order.
  private let diary = Locked<[String]>([])

  private func resource(open: @escaping @Sendable () async throws -> Int) -> LazyResource<Int> {
    let diary = diary
    return LazyResource(whenClosed: Closed()) {
      try await open()
    } close: { number in
      diary.withLock { $0.append("close \(number)") }
    }
  }

  @Test func `many who ask at once open it once`() async throws {
    let opens = Locked(0)
    let lazy = resource {
      opens.withLock { $0 += 1 }
      await Task.yield()
      return 7
    }
    let numbers = try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
      for _ in 0..<64 { group.addTask { try await lazy.get() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(numbers == [Int](repeating: 7, count: 64))
    #expect(opens.withLock { $0 } == 1)
  }

  @Test func `a failure is not remembered`() async throws {
    let opens = Locked(0)
    let lazy = resource {
      if opens.withLock({
        $0 += 1; return $0
      }) == 1 {
        throw Broken()
      }
      return 7
    }
    await #expect(throws: Broken.self) { try await lazy.get() }
    #expect(try await lazy.get() == 7)
  }

  @Test func `it is closed once and never opened again`() async throws {
    let lazy = resource { 7 }
    _ = try await lazy.get()
    try await lazy.close()
    try await lazy.close()
    #expect(diary.withLock { $0 } == ["close 7"])
    await #expect(throws: Closed.self) { try await lazy.get() }
  }

  @Test func `what was never opened is not closed`() async throws {
    let lazy = resource { 7 }
    try await lazy.close()
    #expect(diary.withLock { $0 }.isEmpty)
    await #expect(throws: Closed.self) { try await lazy.get() }
  }

  @Test(.timeLimit(.minutes(10))) func `what opens after the end is closed at once`() async throws {
    let (reached, release) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let lazy = resource {
      reached.continuation.finish()
      for await _ in release.stream {}
      return 7
    }
    let asking = Task { try await lazy.get() }
    for await _ in reached.stream {}
    let closing = Task {
      try await lazy.close()
      diary.withLock { $0.append("closed") }
    }
    while (try? await lazy.isRefusing) != true { await Task.yield() }
    release.continuation.finish()
    await #expect(throws: Closed.self) { try await asking.value }
    try await closing.value
    #expect(diary.withLock { $0 } == ["close 7", "closed"])
  }

  @Test(.timeLimit(.minutes(10))) func `a cancelled caller does not spoil the opening for the next one`() async throws {
    let gate = Gate()
    let opens = Locked(0)
    let entered = Gate()
    let lazy = resource {
      opens.withLock { $0 += 1 }
      entered.open()
      await gate.wait()
      return 7
    }
    let first = Task { try await lazy.get() }
    await entered.wait()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    let second = Task { try await lazy.get() }
    await Task.yield()
    gate.open()
    #expect(try await second.value == 7)
    #expect(try await lazy.get() == 7)
    #expect(opens.withLock { $0 } == 1)
    #expect(diary.withLock { $0 }.isEmpty)
  }

  @Test(.timeLimit(.minutes(10))) func `closes at the same time all return after the end`() async throws {
    let diary = diary
    let gate = Gate()
    let lazy = LazyResource(whenClosed: Closed()) {
      7
    } close: { number in
      await gate.wait()
      diary.withLock { $0.append("close \(number)") }
    }
    _ = try await lazy.get()
    let closes = (0..<4).map { _ in
      Task {
        try await lazy.close()
        return diary.withLock { $0 }
      }
    }
    await Task.yield()
    gate.open()
    for close in closes { #expect(try await close.value == ["close 7"]) }
  }

  @Test(.timeLimit(.minutes(5))) func `a hanging opening keeps the callers that wait, and few of those that left`()
    async throws
  {
    let gate = Gate()
    let lazy = resource {
      await gate.wait()
      return 7
    }
    let waiting = (0..<3).map { _ in Task { try await lazy.get() } }
    while lazy.storedCount < 3 { await Task.yield() }
    for _ in 0..<200 {
      let before = lazy.storedCount
      let task = Task { try await lazy.get() }
      while lazy.storedCount == before { await Task.yield() }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(lazy.storedCount <= 36)
    }
    gate.open()
    for task in waiting { #expect(try await task.value == 7) }
    #expect(lazy.storedCount == 0)
    try await lazy.close()
  }
}

extension LazyResource {
  /// Whether a caller is refused at once, because the resource is being closed.
  fileprivate var isRefusing: Bool {
    get async throws {
      let probe = Task { try await get() }
      probe.cancel()
      do {
        _ = try await probe.value
        return false
      } catch is CancellationError {
        return false
      } catch {
        return true
      }
    }
  }
}
