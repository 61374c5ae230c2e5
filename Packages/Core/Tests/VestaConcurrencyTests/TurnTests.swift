import Dispatch
import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct TurnTests {
  @Test(.timeLimit(.minutes(10))) func `a turn is over when it was served and when it was cancelled`() async throws {
    let served = Turn<Int>()
    #expect(!served.isOver)
    let value = try await served.wait { turn in
      #expect(!turn.isOver)
      turn.begin()?.resume(returning: 7)
    }
    #expect(value == 7)
    #expect(served.isOver)
    #expect(served.begin() == nil)

    let cancelled = Turn<Int>()
    let submitted = Gate()
    let waiting = Task { try await cancelled.wait { _ in submitted.open() } }
    await submitted.wait()
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(cancelled.isOver)
    #expect(cancelled.begin() == nil)
  }

  @Test(.timeLimit(.minutes(10))) func `a task that waits for a state is resumed by the change`() async {
    struct State {
      var count = 2
      var ended = Waiters()
    }
    let state = Locked(State())
    let end = {
      let ended = state.withLock { state in
        state.count -= 1
        return state.count == 0 ? state.ended.takeAll() : Waiters()
      }
      ended.resume()
    }
    let waiting = (0..<3).map { _ in Task { await state.wait(in: \.ended) { $0.count == 0 } } }
    while state.withLock({ $0.ended.count }) < 3 { await Task.yield() }
    end()
    #expect(state.withLock { $0.ended.count } == 3)
    end()
    for task in waiting { await task.value }
    #expect(state.withLock { $0.ended.count } == 0)
    // No other caller is needed after the condition holds.
    await state.wait(in: \.ended) { $0.count == 0 }
  }

  @Test(.timeLimit(.minutes(10))) func `a latch opens once for waiting and later callers`() async {
    let latch = Latch()
    let waiting = Task { await latch.wait() }
    while latch.waitingCount < 1 { await Task.yield() }
    #expect(!latch.isOpen)
    latch.open()
    await waiting.value
    await latch.wait()
    latch.open()
    #expect(latch.isOpen)
  }

  @Test func `a direct check of isolation stops the process elsewhere`() async {
    await #expect(processExitsWith: .failure) { WorkQueue(label: "auth").checkIsolated() }
    let queue = WorkQueue(label: "auth")
    queue.sync { queue.checkIsolated() }
  }
}

/// Emitting and sending are bounded, whatever others do at the same time.
@Suite struct BoundedTurnTests {
  @Test(.timeLimit(.minutes(10))) func `an emit returns although its listener continues to emit`() async {
    let registry = ListenerRegistry<Int>()
    let isStopped = Locked(false)
    let heard = Log<Int>()
    registry.add { [weak registry] number in
      if number % 100 == 0 { heard.add(number) }
      if !isStopped.withLock({ $0 }) { registry?.emit(number + 1) }
    }
    registry.emit(0)
    // Delivery continues elsewhere, in order.
    await heard.wait { $0.count >= 20 }
    isStopped.withLock { $0 = true }
    let entries = heard.entries
    #expect(entries == (0..<entries.count).map { $0 * 100 })
  }

  @Test(.timeLimit(.minutes(10))) func `senders of slow merges are not kept, and lose nothing`() async throws {
    let (sinks, stream) = (Log<StreamSink<[Int]>>(), Locked<AsyncThrowingStream<[Int], any Error>?>(nil))
    stream.withLock {
      $0 = .snapshots(merge: { $0 + $1 }) { sink in
        sinks.add(sink)
        return ListenerRegistration {}
      }
    }
    let sink = sinks.entries[0]
    await withTaskGroup(of: Void.self) { group in
      for sender in 0..<4 {
        group.addTask {
          await TestThreads.run { for number in 0..<500 { sink.send([sender * 1_000 + number]) } }
        }
      }
    }
    sink.finish()
    var heard: [Int] = []
    guard let snapshots = stream.withLock({ $0.take() }) else { return }
    for try await batch in snapshots { heard += batch }
    #expect(heard.count == 2_000)
    for sender in 0..<4 {
      #expect(heard.filter { $0 / 1_000 == sender } == (0..<500).map { sender * 1_000 + $0 })
    }
  }

  @Test(.timeLimit(.minutes(10))) func `a merge that sends does not wait for itself`() async throws {
    let sinks = Log<StreamSink<Int>>()
    let stream: AsyncThrowingStream<Int, any Error> = .snapshots(
      merge: { old, new in
        // From within the merge, more than fit in the queue.
        if new == 1 { for _ in 0..<200 { sinks.entries[0].send(2) } }
        return old + new
      }) { sink in
        sinks.add(sink)
        return ListenerRegistration {}
      }
    let sink = sinks.entries[0]
    sink.send(0)
    sink.send(1)
    sink.finish()
    var total = 0
    for try await number in stream { total += number }
    #expect(total == 401)
  }

  @Test(.timeLimit(.minutes(10))) func `who asks an abandoned mailbox again gets the end`() async throws {
    let mailbox = SnapshotMailbox<Int> { $0 + $1 }
    mailbox.abandon()
    #expect(try await mailbox.next() == nil)
    #expect(try await mailbox.next() == nil)
  }
}
