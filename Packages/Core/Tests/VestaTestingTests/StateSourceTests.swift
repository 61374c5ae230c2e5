import Testing
import VestaConcurrency
import VestaTesting

@Suite struct StateSourceTests {
  private let source = StateSource<Int, Int>(0, greeting: { $0 })

  private func set(_ value: Int) {
    source.change { state, announce in
      state = value
      announce(value)
    }
  }

  @Test func `a stream adds its listener at once and misses nothing`() async {
    let stream = source.events
    #expect(source.listenerCount == 1)
    for value in 1...3 { set(value) }
    var heard: [Int] = []
    for await value in stream {
      heard.append(value)
      if value == 3 { break }
    }
    #expect(heard == [0, 1, 2, 3])
  }

  @Test func `leaving the loop of a stream removes its listener`() async {
    for await _ in source.events { break }
    #expect(source.listenerCount == 0)
  }

  @Test func `dropping an unread stream removes its listener`() {
    do { _ = source.events }
    #expect(source.listenerCount == 0)
  }

  @Test func `cancelling the task that reads a stream removes its listener`() async {
    let heard = EventLog<Int>(patience: .seconds(60))
    let task = Task { [source] in
      for await value in source.events { heard.record(value) }
      return source.listenerCount
    }
    try? await heard.wait(for: "the greeting") { $0 == [0] }
    #expect(source.listenerCount == 1)
    task.cancel()
    #expect(await task.value == 0)
  }

  @Test func `cancel runs the closure once`() {
    let calls = EventLog<Int>(patience: .seconds(60))
    let registration = ListenerRegistration { calls.record(1) }
    for _ in 1...3 { registration.cancel() }
    #expect(calls.events == [1])
  }

  @Test func `a source that finishes ends its streams after the events announced before`() async {
    let stream = source.events
    set(1)
    source.finish()
    set(2)
    var heard: [Int] = []
    for await value in stream { heard.append(value) }
    #expect(heard == [0, 1])
    for await _ in source.events { Issue.record("a finished source has no events") }
  }

  @Test func `a removed listener and what it captured are released at once`() {
    let released = Log<Int>()
    do {
      let witness = Witness { released.add(1) }
      let registration = source.add { _ in withExtendedLifetime(witness) {} }
      registration.cancel()
    }
    set(1)
    #expect(source.listenerCount == 0)
  }

  @Test func `what a change has done before it throws stays`() {
    #expect(throws: CancellationError.self) {
      try source.change { state, _ in
        state = 5
        throw CancellationError()
      }
    }
    #expect(source.read { $0 } == 5)
  }
}
