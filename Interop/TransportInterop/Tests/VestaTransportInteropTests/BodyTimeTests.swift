import Testing
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@Suite(.timeLimit(.minutes(10))) struct BodyTimeTests {
  @Test func `a body that does not end in time is refused, and one that does is whole`() async throws {
    let (clock, stream) = (ManualClock(), ByteStream())
    let reading = Task {
      try await HTTPBody.stream(stream).collect(upTo: 100, within: .seconds(5), by: clock.service)
    }
    stream.offer([1, 2])
    await clock.waitForTimers()
    clock.advance(by: .seconds(5))
    let error = await #expect(throws: TransportError.self) { try await reading.value }
    #expect(error?.code == .timedOut && !stream.offer([3]))

    let whole = ByteStream(whole: [1, 2])
    #expect(try await HTTPBody.stream(whole).collect(upTo: 2, within: .seconds(5), by: clock.service) == [1, 2])
    #expect(try await HTTPBody.bytes([1]).collect(upTo: 1, within: .zero, by: clock.service) == [1])
    let long = ByteStream(whole: [1, 2, 3])
    let tooLarge = await #expect(throws: TransportError.self) {
      try await HTTPBody.stream(long).collect(upTo: 2, within: .seconds(5), by: clock.service)
    }
    #expect(tooLarge?.code == .tooLarge)
  }

  @Test func `a task that is cancelled while it reads a body is not late`() async throws {
    let (clock, stream) = (ManualClock(), ByteStream())
    let reading = Task {
      try await HTTPBody.stream(stream).collect(upTo: 100, within: .seconds(5), by: clock.service)
    }
    await clock.waitForTimers()
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
  }

  @Test func `the time of an exchange is that of head and body together`() async throws {
    let (clock, travel) = (ManualClock(), ManualClock())
    let (network, body) = (FakeNetwork(clock: travel), ByteStream())
    network.setLatency(.seconds(3))
    let handler = HTTPClosureHandler { _ in .response(HTTPResponse(body: .stream(body))) }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let request = HTTPRequest(.get, "/", authority: "localhost")
    let asking = Task {
      try await network.send(request, collecting: 100, within: .seconds(5), by: clock.service)
    }
    await travel.waitForTimers(2)
    clock.advance(by: .seconds(3))
    travel.advance(by: .seconds(3))
    await clock.waitForTimers()
    clock.advance(by: .seconds(2))
    let error = await #expect(throws: TransportError.self) { try await asking.value }
    #expect(error?.code == .timedOut)
  }
}
