import Dispatch
import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct ReadWriteCoordinatorTests {
  /// Calls the synchronous form also from an asynchronous test, where the other form would be chosen.
  private func readNow<Result>(_ coordinator: ReadWriteCoordinator, _ body: () throws -> Result) rethrows -> Result {
    try coordinator.read(body)
  }

  /// Occupies the coordinator with a write until the semaphore is signalled.
  private func occupy(_ coordinator: ReadWriteCoordinator) -> DispatchSemaphore {
    let leave = DispatchSemaphore(value: 0)
    coordinator.enqueueWrite { leave.wait() }  // is active at once: nobody else is there
    return leave
  }

  @Test func `read returns what the closure returns and rethrows`() {
    let coordinator = ReadWriteCoordinator()
    #expect(coordinator.read { 42 } == 42)
    #expect(throws: Failure(2)) { try coordinator.read { () throws(Failure) in throw Failure(2) } }
    coordinator.enqueueWrite {}
    #expect(coordinator.read { 43 } == 43)
  }

  @Test func `any number of readers run at once`() {
    let coordinator = ReadWriteCoordinator()
    let everybodyIsIn = DispatchGroup()
    for _ in 0..<16 { everybodyIsIn.enter() }
    // Ends only if all sixteen are inside at the same time.
    onThreads(16) { _ in
      coordinator.read {
        everybodyIsIn.leave()
        everybodyIsIn.wait()
      }
    }
  }

  @Test func `a read submitted before a write runs before it`() {
    let coordinator = ReadWriteCoordinator()
    let log = Log<String>()
    let (inside, leave, written) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let reader = startThread {
      coordinator.read {
        inside.signal()
        leave.wait()
        log.add("read")
      }
    }
    inside.wait()
    coordinator.enqueueWrite {
      log.add("write")
      written.signal()
    }
    leave.signal()
    written.wait()
    reader.wait()
    #expect(log.entries == ["read", "write"])
  }

  @Test func `a read submitted after a write sees it`() {
    let coordinator = ReadWriteCoordinator()
    let value = Log<Int>()
    for round in 0..<500 {
      coordinator.enqueueWrite { value.add(round) }
      #expect(coordinator.read { value.entries.count } == round + 1)
    }
    #expect(value.entries == Array(0..<500))
  }

  @Test func `a read that follows a write waits even while others read`() {
    let coordinator = ReadWriteCoordinator()
    let log = Log<String>()
    let (inside, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let early = startThread {
      coordinator.read {
        inside.signal()
        leave.wait()
        log.add("early read")
      }
    }
    inside.wait()
    coordinator.enqueueWrite { log.add("write") }
    let late = startThread { coordinator.read { log.add("late read") } }
    leave.signal()
    early.wait()
    late.wait()
    #expect(log.entries == ["early read", "write", "late read"])
  }

  @Test func `enqueueWrite returns before the write has run`() {
    let coordinator = ReadWriteCoordinator()
    let log = Log<String>()
    coordinator.read {
      coordinator.enqueueWrite { log.add("write") }
      log.add("read goes on")
    }
    coordinator.read {}
    #expect(log.entries == ["read goes on", "write"])
  }

  @Test func `writes run in the order of their submission`() {
    let coordinator = ReadWriteCoordinator()
    let log = Log<Int>()
    for number in 0..<1_000 { coordinator.enqueueWrite { log.add(number) } }
    #expect(coordinator.read { log.entries } == Array(0..<1_000))
  }

  @Test func `a read inside a read runs at once even if a write waits`() {
    let coordinator = ReadWriteCoordinator()
    let written = Log<Int>()
    let seen = coordinator.read {
      coordinator.enqueueWrite { written.add(1) }
      return coordinator.read { coordinator.read { written.entries.count } }
    }
    #expect(seen == 0)
    #expect(coordinator.read { written.entries } == [1])
  }

  @Test func `a read inside a write runs at once and a write inside a write follows it`() {
    let coordinator = ReadWriteCoordinator()
    let log = Log<String>()
    coordinator.enqueueWrite {
      coordinator.read { log.add("read inside write") }
      coordinator.enqueueWrite { log.add("write inside write") }
      coordinator.read { log.add("still the first write") }
    }
    // Two reads: the first may run between the two writes.
    coordinator.read {}
    coordinator.read {}
    #expect(log.entries == ["read inside write", "still the first write", "write inside write"])
  }

  @Test func `two coordinators nest without knowing of each other`() {
    let (outer, inner) = (ReadWriteCoordinator(), ReadWriteCoordinator())
    let log = Log<Int>()
    inner.enqueueWrite { log.add(1) }
    let seen = outer.read { inner.read { outer.read { log.entries } } }
    #expect(seen == [1])
  }

  @Test func `async read waits for a write that is ahead`() async throws {
    let coordinator = ReadWriteCoordinator()
    let leave = occupy(coordinator)
    let log = Log<String>()
    coordinator.enqueueWrite { log.add("write") }
    async let seen = coordinator.read { log.entries }
    leave.signal()
    #expect(try await seen == ["write"])
    await #expect(throws: Failure(4)) { try await coordinator.read { throw Failure(4) } }
    #expect(readNow(coordinator) { 5 } == 5)
  }

  @Test func `async write returns the value when it has run`() async throws {
    let coordinator = ReadWriteCoordinator()
    let log = Log<Int>()
    let value = try await coordinator.write {
      log.add(1)
      return "done"
    }
    #expect(value == "done")
    #expect(log.entries == [1])
    await #expect(throws: Failure(5)) { try await coordinator.write { throw Failure(5) } }
    #expect(try await coordinator.read { log.entries } == [1])
  }

  @Test func `a cancelled read ends at once and never runs`() async throws {
    let coordinator = ReadWriteCoordinator()
    let leave = occupy(coordinator)
    let ran = Log<Int>()
    let tasks = (0..<8).map { _ in Task { try await coordinator.read { ran.add(1) } } }
    while coordinator.waitingCount < 8 { await Task.yield() }
    for task in tasks { task.cancel() }
    // The write is still running: the readers end before their turn.
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    leave.signal()
    // The cancelled readers' places in the line are given up: a write can pass.
    #expect(try await coordinator.write { 1 } == 1)
    #expect(ran.entries.isEmpty)
  }

  @Test func `a write cancelled before it began never runs`() async throws {
    let coordinator = ReadWriteCoordinator()
    let leave = occupy(coordinator)
    let ran = Log<Int>()
    let task = Task { try await coordinator.write { ran.add(1) } }
    while coordinator.waitingCount < 1 { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    leave.signal()
    #expect(try await coordinator.read { ran.entries }.isEmpty)
  }

  @Test func `a write cancelled after it began runs to its end`() async throws {
    let coordinator = ReadWriteCoordinator()
    let (begun, leave) = (Gate(), DispatchSemaphore(value: 0))
    let task = Task {
      try await coordinator.write {
        begun.open()
        leave.wait()
        return 7
      }
    }
    await begun.wait()
    task.cancel()
    leave.signal()
    #expect(try await task.value == 7)
  }
}
