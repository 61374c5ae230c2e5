import Testing
import VestaConcurrency
import VestaStoreInterop
import VestaTesting

@testable import VestaSQLite

extension StoreTuning {
  /// The usual figures, with all pauses on a clock.
  init(on clock: ManualClock) {
    self.init()
    let (start, first) = (ContinuousClock.now, clock.now)
    now = { start + .microseconds(clock.now - first) }
    sleep = { try await clock.sleep(for: $0) }
  }
}

extension OneAtATime {
  /// Pauses on a clock that the test advances.
  @Suite(.timeLimit(.minutes(20))) struct PauseTests {
    private let clock = ManualClock()

    @Test func `a writer at the limit of the log waits for a reader as long as its patience lasts`() async throws {
      let directory = try TemporaryDirectory()
      var tuning = StoreTuning(on: clock)
      (tuning.checkpointPages, tuning.logLimit) = (10, 40)
      let store = try directory.open(.relaxed, tuning: tuning)
      try await store.put([1], for: key(0))
      let (inside, gate) = (Gate(), Gate())
      let reader = Task.detached {
        try await store.read { reader in
          _ = try await reader.get(key(0))
          inside.open()
          await gate.wait()
        }
      }
      await inside.wait()
      var hasWaited = false
      for number in 0..<100 where !hasWaited {
        let isDone = Locked(false)
        let put = Task.detached {
          defer { isDone.withLock { $0 = true } }
          try await store.put(value(number, length: 1_500), for: key(number % 20))
        }
        while !isDone.withLock({ $0 }), clock.deadlines.isEmpty { await Task.yield() }
        let start = clock.now
        while !isDone.withLock({ $0 }) {
          hasWaited = clock.fireNext() || hasWaited
          await Task.yield()
        }
        try await put.value
        if hasWaited { #expect(clock.now - start == 250_000) }
      }
      #expect(hasWaited)
      gate.open()
      try await reader.value
      try await store.close()
    }

    @Test func `readers that are not needed close one interval after another`() async throws {
      let directory = try TemporaryDirectory()
      let tuning = StoreTuning(on: clock)
      let store = try directory.open(tuning: tuning)
      try await store.put([1], for: [1])
      let (count, gate) = (Locked(0), Gate())
      let tasks = (0..<20).map { _ in
        Task.detached {
          try await store.read { reader in
            _ = try await reader.get([1])
            count.withLock { $0 += 1 }
            await gate.wait()
          }
        }
      }
      while count.withLock({ $0 }) < 20 { await Task.yield() }
      gate.open()
      for task in tasks { try await task.value }
      await clock.waitForTimers()
      #expect(store.readers.openCount == 20)
      clock.advance(by: tuning.readerTrimInterval)
      // The later ones were in use during the first interval.
      await clock.waitForTimers()
      #expect((tuning.idleReaders + 1..<20).contains(store.readers.openCount))
      clock.advance(by: tuning.readerTrimInterval)
      while store.readers.openCount > tuning.idleReaders { await Task.yield() }
      #expect(clock.deadlines.isEmpty)
      try await store.close()
    }
  }
}
