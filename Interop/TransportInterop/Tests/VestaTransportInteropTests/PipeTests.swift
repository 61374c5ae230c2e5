import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@Suite(.timeLimit(.minutes(10))) struct PipeTests {
  private func pipe(_ limit: Int) -> DemandPipe<Int> { DemandPipe(limit: limit) { _ in 1 } }

  @Test func `elements arrive in order, then the end`() async throws {
    let pipe = pipe(10)
    for number in 1...3 { try await pipe.write(number) }
    pipe.finish()
    var read: [Int] = []
    for try await number in pipe { read.append(number) }
    #expect(read == [1, 2, 3])
    #expect(try await pipe.next() == nil)
  }

  @Test func `a writer waits at the limit and continues at half of it`() async throws {
    let (pipe, log) = (pipe(4), Log<Int>())
    let writer = Task {
      for number in 1...10 {
        try await pipe.write(number)
        log.add(number)
      }
    }
    await log.wait(for: 3)
    while pipe.backlog < 4 { await Task.yield() }
    #expect(log.entries == [1, 2, 3])
    _ = try await pipe.next()
    #expect(pipe.backlog == 3)
    _ = try await pipe.next()
    await log.wait(for: 5)
    for _ in 3...10 { _ = try await pipe.next() }
    try await writer.value
  }

  @Test func `hooks are called once each time they are due`() {
    let (pipe, log) = (pipe(2), Log<String>())
    pipe.setReadable { log.add("readable") }
    pipe.setDemand({ log.add("demand") }, onCancel: { log.add("cancelled") })
    #expect(pipe.offer(1))
    #expect(!pipe.offer(2))
    #expect(!pipe.offer(3))
    #expect(log.drain() == ["readable"])
    for expected in 1...3 {
      guard case .element(expected) = pipe.take() else {
        Issue.record("not \(expected)")
        return
      }
    }
    #expect(log.drain() == ["demand"])
    guard case .nothingYet = pipe.take() else {
      Issue.record("something there")
      return
    }
    pipe.offer(4)
    pipe.finish()
    #expect(log.drain() == ["readable"])
    pipe.cancel()
    pipe.cancel()
    #expect(log.drain() == ["cancelled"])
    #expect(!pipe.offer(5))
  }

  @Test func `a reader that is cancelled loses nothing`() async throws {
    let pipe = pipe(10)
    for round in 0..<200 {
      let reader = Task { try await pipe.next() }
      if round % 2 == 0 { await Task.yield() }
      let writer = Task { try await pipe.write(round) }
      reader.cancel()
      try await writer.value
      let first = try? await reader.value
      let number = if let first { first } else { try await pipe.next() }
      #expect(number == round)
    }
  }

  @Test func `a reader sees an end that precedes a cancellation`() async throws {
    for round in 0..<2_000 {
      let pipe = pipe(10)
      let reader = Task { try await pipe.next() }
      if round % 3 == 0 { await Task.yield() }
      if round % 2 == 0 { pipe.finish() } else { pipe.offer(round) }
      reader.cancel()
      #expect(try await reader.value == (round % 2 == 0 ? nil : round))
    }
  }

  @Test func `a writer that is cancelled has written`() async throws {
    let pipe = pipe(1)
    try? await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await pipe.write(7)
    }.value
    #expect(try await pipe.next() == 7)
  }

  @Test func `a reader that leaves stops writers that wait and later ones`() async throws {
    let pipe = pipe(1)
    let writers = (1...3).map { number in Task { try await pipe.write(number) } }
    while pipe.backlog < 3 { await Task.yield() }
    pipe.cancel()
    for writer in writers { await #expect(throws: TransportError.self) { try await writer.value } }
    await #expect(throws: TransportError.self) { try await pipe.write(4) }
    await #expect(throws: CancellationError.self) { try await pipe.next() }
    #expect(pipe.backlog == 0)
  }

  @Test func `two readers at once are refused`() async throws {
    let pipe = pipe(1)
    let readers = (1...2).map { _ in Task { try await pipe.next() } }
    var refused = 0
    // The first one waits until something is written; the other one is refused at once.
    let outcomes = Log<Result<Int?, any Error>>()
    for reader in readers { Task { outcomes.add(await reader.result) } }
    await outcomes.wait(for: 1)
    try await pipe.write(1)
    for outcome in await outcomes.wait(for: 2) { if case .failure = outcome { refused += 1 } }
    #expect(refused == 1)
  }

  @Test(arguments: UInt64(1)...20) func `random use gives every element once`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let (count, limit) = (300, 1 + random.below(5))
    let pipe = pipe(limit)
    let plan = (0..<count).map { _ in random.oneIn(3) }
    let writer = Task {
      for number in 0..<count { if plan[number] { pipe.offer(number) } else { try await pipe.write(number) } }
      pipe.finish()
    }
    var read: [Int] = []
    while let number = try await pipe.next() { read.append(number) }
    try await writer.value
    #expect(read == Array(0..<count), "seed \(seed)")
  }
}
