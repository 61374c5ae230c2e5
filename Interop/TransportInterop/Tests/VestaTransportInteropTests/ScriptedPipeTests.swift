import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@Suite struct ScriptedPipeTests {
  private let clock = ManualClock()

  private func connected(_ conditions: ScriptedPipe.Conditions) -> (ScriptedPipe, Log<ScriptedPipe.Event>) {
    let (pipe, log) = (ScriptedPipe(clock: clock, seed: 5), Log<ScriptedPipe.Event>())
    pipe.setConditions(conditions)
    pipe.server.setReceiver { log.add($0) }
    return (pipe, log)
  }

  private func bytes(_ log: Log<ScriptedPipe.Event>) -> [UInt8] {
    log.entries.flatMap { if case .bytes(let bytes) = $0 { bytes } else { [UInt8]() } }
  }

  @Test func `bytes arrive after their latency, in order, then the end`() {
    let (pipe, log) = connected(.init(latency: .milliseconds(10)))
    pipe.client.send([1])
    clock.advance(by: .milliseconds(5))
    pipe.client.send([2])
    pipe.client.finish()
    pipe.client.send([3])
    #expect(log.entries.isEmpty)
    clock.advance(by: .milliseconds(5))
    #expect(log.entries == [.bytes([1])])
    clock.advance(by: .milliseconds(5))
    #expect(log.entries == [.bytes([1]), .bytes([2]), .finished])
  }

  @Test func `a latency that shrinks does not let bytes overtake`() {
    let (pipe, log) = connected(.init(latency: .seconds(1)))
    pipe.client.send([1])
    pipe.setConditions(.init())
    pipe.client.send([2])
    clock.advance(by: .seconds(2))
    #expect(bytes(log) == [1, 2])
  }

  @Test func `pieces are small and join to what was sent`() {
    let (pipe, log) = connected(.init(largestPiece: 3))
    pipe.client.send([UInt8](0..<100))
    clock.advance(by: .zero)
    #expect(bytes(log) == [UInt8](0..<100))
    #expect(log.entries.count >= 34)
  }

  @Test func `a silent network delivers nothing more, not even the end`() {
    let (pipe, log) = connected(.init(silentAfter: 3))
    pipe.client.send([1, 2])
    pipe.client.send([3, 4])
    pipe.client.finish()
    clock.advance(by: .seconds(1_000))
    #expect(bytes(log) == [1, 2, 3] && !log.entries.contains(.finished))
  }

  @Test func `a cut reaches both ends, and nothing follows`() {
    let (pipe, log) = connected(.init(cutAfter: 2))
    let client = Log<ScriptedPipe.Event>()
    pipe.client.setReceiver { client.add($0) }
    pipe.server.send([9])
    pipe.client.send([1, 2, 3])
    clock.advance(by: .zero)
    pipe.client.send([4])
    pipe.server.send([5])
    clock.advance(by: .seconds(1))
    #expect(log.entries == [.bytes([1, 2]), .lost])
    #expect(client.entries == [.bytes([9]), .lost])
  }
}

@Suite(.timeLimit(.minutes(10))) struct FakeNetworkTests {
  private let network = FakeNetwork()
  private let handler = HTTPClosureHandler { _ in .response(HTTPResponse(body: .text("hello"))) }
  private let request = HTTPRequest(.get, "/", authority: "localhost")

  private func listen(_ handler: HTTPClosureHandler) async throws {
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
  }

  @Test func `a silent network ends by the time-out`() async throws {
    try await listen(handler)
    network.setSilent(true)
    let call = Task { try await network.send(request, timeout: .seconds(5)) }
    await network.clock.waitForTimers()
    network.clock.advance(by: .seconds(5))
    await #expect { try await call.value } throws: { TransportError.Code.timedOut ~= $0 }
    #expect(network.exchangeCount == 0)
    network.setSilent(false)
    #expect(try await network.send(request, timeout: nil).status == .ok)
  }

  @Test func `a network that is down refuses, safe to repeat`() async throws {
    try await listen(handler)
    network.setDown(true)
    let error = await #expect(throws: TransportError.self) { try await network.send(request, timeout: nil) }
    #expect(error?.code == .cannotConnect && error?.mayHaveBeenProcessed == false)
  }

  @Test func `latency is that of the clock`() async throws {
    try await listen(handler)
    network.setLatency(.milliseconds(30))
    let call = Task { try await network.send(request, timeout: nil) }
    await network.clock.waitForTimers()
    network.clock.advance(by: .milliseconds(30))
    #expect(try await call.value.status == .ok)
  }

  @Test func `a cut loses bodies and sockets that are under way`() async throws {
    let stream = ByteStream()
    try await listen(
      HTTPClosureHandler { request in
        request.target == "/socket"
          ? .webSocket(WebSocketService { for try await _ in $0.messages {} })
          : .response(HTTPResponse(body: .stream(stream)))
      })
    let body = try await network.send(request, timeout: nil).body.stream
    var upgrade = request
    upgrade.target = "/socket"
    let socket = try await network.openWebSocket(upgrade, subprotocols: [], timeout: nil)
    network.cut()
    #expect(await socket.closed().code == .abnormal)
    await #expect { while try await body.next() != nil {} } throws: { TransportError.Code.connectionLost ~= $0 }
    await #expect(throws: TransportError.self) { while true { try await stream.write([1]) } }
  }

  @Test func `changes reach their listeners until they are removed`() {
    let log = Log<Void>()
    let registration = network.addChangeListener { log.add(()) }
    network.change()
    registration.cancel()
    network.change()
    #expect(log.entries.count == 1)
  }
}
