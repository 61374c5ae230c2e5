import Testing
import VestaServiceInterop
import VestaTesting

@Suite struct DuplexTests {
  private func source(limit: Int = .max) -> DuplexSource<Int, String> {
    DuplexSource(limit: limit) { SampleFailure(.resourceExhausted, $0) }
  }

  @Test(.timeLimit(.minutes(10))) func `requests and responses keep their order, and finish ends the call`()
    async throws
  {
    let source = source()
    let ended = Log<Int>()
    source.start {
      source.send(["\($0)"])
    } onFinish: {
      source.end()
    } onEnd: {
      ended.add(1)
    }
    let call = source.call
    for number in 0..<100 { call.send(number) }
    call.finish()
    call.send(1_000)
    var heard: [String] = []
    for try await batch in call.responses { heard += batch }
    #expect(heard == (0..<100).map(String.init))
    #expect(ended.entries == [1])
  }

  @Test(.timeLimit(.minutes(10))) func `an error ends the responses after what was sent before`() async throws {
    let source = source()
    source.start { _ in }
    let call = source.call
    source.send(["a"])
    source.end(throwing: SampleFailure(.unavailable, "gone"))
    var iterator = call.responses.makeAsyncIterator()
    #expect(try await iterator.next() == ["a"])
    await #expect(throws: SampleFailure.self) { _ = try await iterator.next() }
  }

  @Test(.timeLimit(.minutes(10))) func `cancelling the call ends it once on both sides`() async throws {
    let source = source()
    let ended = Log<Int>()
    source.start({ _ in Issue.record("a request after the end") }, onEnd: { ended.add(1) })
    let call = source.call
    call.cancel()
    call.cancel()
    call.send(1)
    source.send(["late"])
    for try await _ in call.responses { Issue.record("a response after the end") }
    #expect(ended.entries == [1])
  }

  @Test(.timeLimit(.minutes(10))) func `dropping the responses ends the call`() async {
    let source = source()
    let ended = Log<Int>()
    source.start({ _ in }, onEnd: { ended.add(1) })
    do { _ = source.call }
    await ended.wait { $0 == [1] }
  }

  @Test(.timeLimit(.minutes(10))) func `a cancelled consumer ends the call`() async {
    let source = source()
    let ended = Log<Int>()
    source.start({ _ in }, onEnd: { ended.add(1) })
    let call = source.call
    let consumer = Task { for try await _ in call.responses {} }
    consumer.cancel()
    _ = await consumer.result
    await ended.wait { $0 == [1] }
  }

  @Test(.timeLimit(.minutes(10))) func `a consumer that does not read is given up beyond the limit`() async {
    let source = source(limit: 3)
    source.start { _ in }
    let call = source.call
    for number in 0..<4 { source.send(["\(number)"]) }
    await #expect(throws: SampleFailure.self) { for try await _ in call.responses {} }
  }

  @Test(.timeLimit(.minutes(10))) func `what was read makes room again`() async throws {
    let source = source(limit: 3)
    source.start { _ in }
    let call = source.call
    var iterator = call.responses.makeAsyncIterator()
    for _ in 0..<20 {
      source.send(["a", "b"])
      #expect(try await iterator.next() == ["a", "b"])
    }
  }
}
