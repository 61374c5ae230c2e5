import Dispatch
import Testing
import VestaConcurrency
import VestaTesting

/// Many threads at each type at once, with values that nothing but the type under test guards: a missing lock shows as
/// a wrong sum here, and as a report under Thread Sanitizer (`swift test --sanitize=thread --filter Stress`).
@Suite(.serialized) struct ToolkitStressTests {
  /// A counter that nothing guards.
  // Sound as @unchecked Sendable only if the type under test keeps its accesses apart: that is what is tested.
  final class Unguarded: @unchecked Sendable {
    var value = 0
  }

  let threads = 64

  @Test func `a locked value keeps every change of many threads`() {
    let table = Locked<[Int: Int]>([:])
    onThreads(threads) { thread in
      for number in 0..<4_000 {
        table.withLock { $0[number % 10, default: 0] += 1 }
        if number % 100 == thread { _ = table.withLockIfAvailable { $0.count } }
      }
    }
    #expect(table.withLock { $0.values.reduce(0, +) } == threads * 4_000)
  }

  @Test func `a lock around nothing keeps many threads apart`() {
    let (lock, count) = (Locked(()), Unguarded())
    onThreads(threads) { _ in
      for _ in 0..<2_000 { lock.withLock { _ in count.value += 1 } }
    }
    #expect(count.value == threads * 2_000)
  }

  @Test func `a critical section keeps many threads apart`() {
    let (section, count, timeOuts) = (CriticalSection(), Unguarded(), Locked(0))
    onThreads(threads) { thread in
      for number in 0..<5_000 {
        switch number % 3 {
        case 0: section.execute { section.execute { count.value += 1 } }
        case 1:
          let done = section.executeWithTimeout(0.000_05) { count.value += 1 }
          if !done { timeOuts.withLock { $0 += 1 } }
        default:
          if section.execute(timeout: .zero, { count.value += 1 }) == nil { timeOuts.withLock { $0 += 1 } }
        }
      }
    }
    #expect(section.execute { count.value } + timeOuts.withLock { $0 } == threads * 5_000)
  }

  @Test func `a read-write coordinator keeps many threads apart`() {
    let (coordinator, count, torn) = (ReadWriteCoordinator(), Unguarded(), Log<Int>())
    let mirror = Unguarded()
    onThreads(threads) { thread in
      for number in 0..<400 {
        if number % 4 == 0 {
          coordinator.enqueueWrite {
            count.value += 1
            mirror.value += 1
          }
        }
        coordinator.read {
          if count.value != mirror.value { torn.add(thread) }
          if number % 10 == 0 { coordinator.read { if count.value == -1 { torn.add(-1) } } }
        }
      }
    }
    #expect(coordinator.read { count.value } == threads * 100)
    #expect(torn.entries.isEmpty)
  }

  @Test func `async reads and writes of many tasks keep their order`() async throws {
    let (coordinator, count, begun) = (ReadWriteCoordinator(), Unguarded(), Locked(0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<threads {
        group.addTask {
          for number in 0..<300 {
            if (task + number) % 3 == 0 {
              try await coordinator.write { count.value += 1 }
              begun.withLock { $0 += 1 }
            } else {
              let value = try await coordinator.read { count.value }
              if value < 0 { Issue.record("torn read") }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let written = try await coordinator.read { count.value }
    #expect(written == begun.withLock { $0 })
  }

  @Test func `cancelled reads and writes leave no caller stuck`() async throws {
    let (coordinator, count, told) = (ReadWriteCoordinator(), Unguarded(), Locked(0))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<5_000 {
        group.addTask {
          let task = Task {
            if number % 2 == 0 {
              try await coordinator.write { count.value += 1 }
              told.withLock { $0 += 1 }
            } else {
              _ = try await coordinator.read { count.value }
            }
          }
          if number % 3 == 0 { task.cancel() }
          _ = await task.result
        }
      }
    }
    // A write that says it was cancelled has not run, and one that returned has.
    let written = try await coordinator.read { count.value }
    #expect(written == told.withLock { $0 })
  }

  @Test func `thread-local values of many threads stay apart`() {
    let locals = (0..<8).map { ThreadLocalValue<[Int]>(namespace: "Stress", key: "\($0)") { _ in [] } }
    let wrong = Log<Int>()
    onThreads(threads) { thread in
      for number in 0..<400 {
        let local = locals[number % locals.count]
        local.setValue((local.value() ?? []).suffix(10) + [thread])
        if local.cachedValue()?.contains(where: { $0 != thread }) != false { wrong.add(thread) }
      }
      _ = ThreadLocalValue<Int>(namespace: "Stress", key: "new \(thread)").value()
    }
    #expect(wrong.entries.isEmpty)
  }

  @Test func `work queues keep the order of many threads`() async throws {
    let root = WorkQueue(label: "root")
    let queues = [root] + (0..<3).map { WorkQueue(label: "child \($0)", target: root) }
    let count = Unguarded()
    let perThread = 300
    await waitFor(
      startThread {
        onThreads(self.threads) { thread in
          for number in 0..<perThread {
            let queue = queues[(thread + number) % queues.count]
            if number % 2 == 0 { queue.sync { count.value += 1 } } else { queue.async { count.value += 1 } }
          }
        }
      })
    for queue in queues { try await queue.run {} }
    #expect(try await root.run { count.value } == threads * perThread)
  }

  @Test func `a single flight serves many tasks`() async throws {
    let (flights, loads, answers) = (SingleFlight<Int, Int>(), Locked(0), Locked(0))
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<threads {
        group.addTask {
          for number in 0..<200 {
            let waiter = Task {
              try await flights.value(for: number % 3) {
                loads.withLock { $0 += 1 }
                await Task.yield()
                try Task.checkCancellation()
                if number % 7 == 0 { throw Failure(number) }
                return number % 3
              }
            }
            if (task + number) % 4 == 0 { waiter.cancel() }
            switch await waiter.result {
            case .success(let value): if value != number % 3 { Issue.record("another key's value") }
            case .failure(let error): if !(error is CancellationError || error is Failure) { Issue.record(error) }
            }
            answers.withLock { $0 += 1 }
          }
        }
      }
    }
    #expect(answers.withLock { $0 } == threads * 200)
    #expect((1...threads * 200).contains(loads.withLock { $0 }))
    #expect((0..<3).allSatisfy { !flights.isLoading($0) })
  }

  @Test func `a single flight calls the handlers of many threads once`() {
    let (flights, queue) = (SingleFlight<Int, Int>(), DispatchQueue(label: "loads"))
    let pending = DispatchGroup()
    let handled = Locked(0)
    onThreads(threads) { _ in
      for number in 0..<500 {
        pending.enter()
        flights.join(0, start: { finish in queue.async { finish(.success(number)) } }) { _ in
          handled.withLock { $0 += 1 }
          pending.leave()
        }
      }
    }
    pending.wait()
    #expect(handled.withLock { $0 } == threads * 500)
  }

  @Test func `a listener registry serves many threads`() async {
    let (registry, count) = (ListenerRegistry<Int>(), Unguarded())
    // Deliveries do not overlap, so nothing but the registry guards the counter.
    registry.add { _ in count.value += 1 }
    onThreads(threads) { thread in
      for number in 0..<500 {
        if thread % 4 == 0 {
          let registration = registry.add { _ in }
          registry.emit(number)
          registration.cancel()
        } else {
          registry.emit(number)
        }
      }
    }
    let seen = Log<Int>()
    registry.add { _ in seen.add(count.value) }
    registry.emit(0)
    // The last events may still be delivered on a queue: no turn is longer than 1,024.
    await seen.wait { !$0.isEmpty }
    #expect(seen.entries == [threads * 500 + 1])
    #expect(registry.count == 2)
  }

  @Test func `streams serve many tasks`() async throws {
    let registry = ListenerRegistry<Int>()
    let started = Locked(0)
    let taskCount = threads
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<taskCount {
        group.addTask {
          let consumer = Task {
            let stream = task % 2 == 0 ? registry.throwingEvents : registry.snapshots(merge: +)
            started.withLock { $0 += 1 }
            var taken = 0
            for try await _ in stream {
              taken += 1
              if task % 3 == 0, taken == 3 { break }
            }
          }
          for number in 0..<20 {
            registry.emit(number)
            await Task.yield()
          }
          if task % 3 == 1 { consumer.cancel() }
          if task % 3 == 2 {
            while started.withLock({ $0 }) < taskCount { await Task.yield() }
            registry.finish()
          }
          _ = await consumer.result
        }
      }
    }
    #expect(registry.count == 0)
  }
}
