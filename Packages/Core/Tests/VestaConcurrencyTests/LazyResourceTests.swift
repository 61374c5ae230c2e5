import Testing
import VestaConcurrency

@Suite struct LazyResourceTests {
  private struct Closed: Error {}
  private struct Broken: Error {}

  /// What happened to a resource, in order.
  private let diary = Locked<[String]>([])

  private func resource(open: @escaping @Sendable () async throws -> Int) -> LazyResource<Int> {
    let diary = diary
    return LazyResource(whenClosed: Closed()) {
      try await open()
    } close: { number in
      diary.withLock { $0.append("close \(number)") }
    }
  }

  @Test func manyWhoAskAtOnceOpenItOnce() async throws {
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

  @Test func aFailureIsNotRemembered() async throws {
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

  @Test func itIsClosedOnceAndNeverOpenedAgain() async throws {
    let lazy = resource { 7 }
    _ = try await lazy.get()
    try await lazy.close()
    try await lazy.close()
    #expect(diary.withLock { $0 } == ["close 7"])
    await #expect(throws: Closed.self) { try await lazy.get() }
  }

  @Test func whatWasNeverOpenedIsNotClosed() async throws {
    let lazy = resource { 7 }
    try await lazy.close()
    #expect(diary.withLock { $0 }.isEmpty)
    await #expect(throws: Closed.self) { try await lazy.get() }
  }

  @Test func whatOpensAfterTheEndIsClosedAtOnce() async throws {
    let (reached, release) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let lazy = resource {
      reached.continuation.finish()
      for await _ in release.stream {}
      return 7
    }
    let asking = Task { try await lazy.get() }
    for await _ in reached.stream {}
    try await lazy.close()
    release.continuation.finish()
    await #expect(throws: Closed.self) { try await asking.value }
    #expect(diary.withLock { $0 } == ["close 7"])
  }
}
