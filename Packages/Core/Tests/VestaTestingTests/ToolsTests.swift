import Testing
import VestaConcurrency
import VestaTesting

@Suite struct GateTests {
  @Test func `a closed gate holds tasks and threads back until it opens`() async throws {
    let gate = Gate()
    let passed = Log<String>()
    let waiting = Task {
      await gate.wait()
      passed.add("task")
    }
    let passing = Task {
      try await gate.pass()
      passed.add("cancellable task")
    }
    let thread = Task { await TestThreads.run { gate.passes() } }
    while gate.waitingCount < 3 { await Task.yield() }
    #expect(passed.entries.isEmpty)
    gate.open()
    await waiting.value
    try await passing.value
    #expect(await thread.value)
    #expect(gate.passes(within: .zero))
  }

  @Test func `a cancelled call leaves a closed gate alone`() async throws {
    let gate = Gate()
    let cancelled = Task { try await gate.pass() }
    let patient = Task { try await gate.pass() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    gate.open()
    try await patient.value
  }

  @Test func `a gate that was closed again holds later calls back`() {
    let gate = Gate(isOpen: true)
    #expect(gate.passes(within: .zero))
    gate.close()
    #expect(!gate.passes(within: .zero))
    #expect(gate.waitingCount == 0)
  }
}

@Suite struct ManualClockTests {
  @Test func `timers fire in the order of their deadlines, and then of their setting`() {
    let clock = ManualClock(at: 0)
    let fired = Log<String>()
    clock.schedule(after: .seconds(2)) { fired.add("c at \(clock.now)") }
    clock.schedule(after: .seconds(1)) { fired.add("a at \(clock.now)") }
    clock.schedule(after: .seconds(1)) { fired.add("b at \(clock.now)") }
    let stopped = clock.schedule(after: .seconds(1)) { fired.add("never") }
    stopped.cancel()
    clock.advance(by: .milliseconds(999))
    #expect(fired.entries.isEmpty)
    clock.advance(by: .seconds(5))
    #expect(fired.entries == ["a at 1000000", "b at 1000000", "c at 2000000"])
    #expect(clock.now == 5_999_000)
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `a timer that is set by a timer fires in the same advance if it is due`() {
    let clock = ManualClock(at: 0)
    let fired = Log<Int64>()
    clock.schedule(after: .seconds(1)) {
      fired.add(clock.now)
      clock.schedule(after: .seconds(1)) { fired.add(clock.now) }
      clock.schedule(after: .seconds(9)) { fired.add(clock.now) }
    }
    clock.advance(by: .seconds(3))
    #expect(fired.entries == [1_000_000, 2_000_000])
    #expect(clock.fireNext())
    #expect(clock.now == 10_000_000)
    #expect(!clock.fireNext())
  }

  @Test func `a sleeper wakes at its time, or leaves when it is cancelled`() async throws {
    let clock = ManualClock()
    let sleeper = Task { try await clock.sleep(for: .seconds(10)) }
    let cancelled = Task { try await clock.sleep(for: .seconds(20)) }
    await clock.waitForTimers(2)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    clock.advance(by: .seconds(10))
    try await sleeper.value
    #expect(clock.deadlines.isEmpty)
  }
}

@Suite struct ToolsTests {
  @Test func `a generator repeats its numbers for its seed`() {
    var (first, second) = (SplitMix(seed: 7), SplitMix(seed: 7))
    #expect((0..<5).map { _ in first.next() } == (0..<5).map { _ in second.next() })
    var zero = SplitMix(seed: 0)
    #expect(zero.next() == 0xE220_A839_7B1D_CDAF)
  }

  @Test func `a log wakes who waits for what was added`() async {
    let log = Log<Int>()
    async let waited: Void = log.wait { $0.count == 2 }
    log.add(1)
    log.add(2)
    await waited
    #expect(log.drain() == [1, 2])
    #expect(log.entries.isEmpty)
  }

  @Test func `a temporary directory is deleted with its owner`() throws {
    var directory: TemporaryDirectory? = try TemporaryDirectory()
    try directory?.write([1, 2], to: "a")
    #expect(try directory?.bytes(of: "a") == [1, 2])
    #expect(directory?.names == ["a"])
    let path = directory?.path(of: "a") ?? ""
    directory = nil
    #expect(throws: (any Error).self) { try TemporaryDirectoryReader.read(path) }
  }

  private actor Elsewhere {
    func work(fails: Bool) throws { if fails { throw CancellationError() } }
  }

  @Test func `the probe sees executors that are kept`() async {
    #expect(await ExecutorProbe.violations { try await Task.sleep(for: .zero) } == [])
    #expect(await ExecutorProbe.violations { throw CancellationError() } == [])
    let elsewhere = Elsewhere()
    #expect(
      await ExecutorProbe.violations {
        do { try await elsewhere.work(fails: true) } catch { throw error }
      } == [])
  }
}
