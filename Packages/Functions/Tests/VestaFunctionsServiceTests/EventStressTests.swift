import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaTesting

@testable import VestaFunctionsService

/// Everything at once: meant for Thread Sanitizer.
@Suite struct EventStressTests {
  @Test func `functions are added and removed while events are recorded and delivered`() async throws {
    let bench = EventBench()
    let (delivered, kept) = (Log<String>(), Locked<Set<String>>([]))
    try bench.registry.log(delivered, as: "stable") { event in
      if Int.random(in: 0..<20) == 0 { throw Broken() }
      kept.withLock { _ = $0.insert(event.id) }
    }
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<40 { try? await bench.create("a/\(number % 5)", "a/\(task)-\(number)") }
        }
        group.addTask {
          for number in 0..<20 {
            try? bench.registry.onDocumentCreated("f\(task)", document: "a/{id}") { _ in await Task.yield() }
            if number % 3 == 0 { bench.registry.removeEventFunction("f\(task)") }
            bench.clock.advance(by: .milliseconds(30))
            await Task.yield()
          }
        }
      }
    }
    await bench.pass { kept.withLock { $0.count } == 320 }
    try await bench.pass { try await bench.queue("stable").isEmpty }
    await bench.events.close()
  }

  @Test(arguments: [true, false])
  func `a commit is found however many others are read and delivered at the moment`(isShort: Bool) async throws {
    // The clock stands still: nothing looks at the queue that was not told to.
    let bench = EventBench { $0.tuning.pace.enough = isShort ? 0 : 32 }
    let log = Log<String>()
    try bench.registry.onDocumentCreated("f", document: "a/{id}") { log.add($0.subject) }
    try await withThrowingTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<200 { try await bench.create("a/\(task)-\(number)") }
        }
      }
      try await group.waitForAll()
    }
    await log.wait { $0.count == 800 }
    #expect(Set(log.entries).count == 800)
    await bench.events.close()
  }

  @Test func `closing at any time leaves nothing running`() async throws {
    for round in 0..<20 {
      let bench = EventBench()
      let running = Locked(0)
      try bench.registry.onDocumentCreated("f", document: "a/{id}") { _ in
        running.withLock { $0 += 1 }
        defer { running.withLock { $0 -= 1 } }
        for _ in 0..<3 { await Task.yield() }
        try Task.checkCancellation()
      }
      async let writing: Void = {
        for number in 0..<20 { try? await bench.create("a/\(number)") }
      }()
      for _ in 0..<round { await Task.yield() }
      await bench.events.close()
      await writing
      await bench.pass { running.withLock { $0 } == 0 }
    }
  }
}
