import VestaListenerInterop
import VestaListenerInteropContracts
import VestaListenerInteropFakes
import Testing

@Suite struct FakeSourceTests {
  private let source = FakeSource<Int, Int>(0, greeting: { $0 })

  private func set(_ value: Int) {
    source.change { state, announce in
      state = value
      announce(value)
    }
  }

  @Test func aStreamAddsItsListenerAtOnceAndMissesNothing() async {
    let stream = AsyncStream(listening: source.add)
    #expect(source.listenerCount == 1)
    for value in 1...3 { set(value) }
    var heard: [Int] = []
    for await value in stream {
      heard.append(value)
      if value == 3 { break }
    }
    #expect(heard == [0, 1, 2, 3])
  }

  @Test func leavingTheLoopOfAStreamRemovesItsListener() async {
    for await _ in AsyncStream(listening: source.add) { break }
    #expect(source.listenerCount == 0)
  }

  @Test func droppingAStreamThatNobodyReadRemovesItsListener() {
    do { _ = AsyncStream(listening: source.add) }
    #expect(source.listenerCount == 0)
  }

  @Test func cancellingTheTaskThatReadsAStreamRemovesItsListener() async {
    let heard = EventLog<Int>(patience: .seconds(60))
    let task = Task { [source] in
      for await value in AsyncStream(listening: source.add) { heard.record(value) }
      return source.listenerCount
    }
    try? await heard.wait(for: "the greeting") { $0 == [0] }
    #expect(source.listenerCount == 1)
    task.cancel()
    #expect(await task.value == 0)
  }

  @Test func cancelRunsTheClosureOnce() {
    let calls = EventLog<Int>(patience: .seconds(60))
    let registration = InteropRegistration { calls.record(1) }
    for _ in 1...3 { registration.cancel() }
    #expect(calls.events == [1])
  }
}

@Suite struct FakeGateTests {
  @Test func aClosedGateHoldsCallsBackUntilItOpens() async throws {
    let gate = FakeGate()
    let passed = EventLog<Int>(patience: .seconds(60))
    await gate.close()
    let task = Task {
      try await gate.pass()
      passed.record(1)
    }
    #expect(passed.events.isEmpty)
    await gate.open()
    try await task.value
    #expect(passed.events == [1])
  }

  @Test func aCancelledCallLeavesAClosedGateAlone() async throws {
    let gate = FakeGate()
    await gate.close()
    let cancelled = Task { try await gate.pass() }
    let patient = Task { try await gate.pass() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    await gate.open()
    try await patient.value
  }
}
