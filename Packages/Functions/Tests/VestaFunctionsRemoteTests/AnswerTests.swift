import Testing
import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaFunctionsRemote
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFunctionsService

/// Answers as hosts of functions give them, and streams that end on either side.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
  private func remote(
    _ clock: ServiceClock = .system, _ answer: @escaping @Sendable () -> HTTPResponse
  ) throws -> FunctionsRemote {
    let network = FakeNetwork()
    try network.serve(HTTPClosureHandler { _ in .response(answer()) }, at: .internet(host: "localhost", port: 80))
    return FunctionsRemote(project: "project", on: try RESTService(network, at: "http://localhost", clock: clock))
  }

  @Test func `a refusal says when to come again if its host says so, and keeps its own words`() async throws {
    let body = Array(#"{"error":{"status":"RESOURCE_EXHAUSTED","message":"full","details":{"by":"ada"}}}"#.utf8)
    for field in [nil, "7"] as [String?] {
      let remote = try remote {
        var answer = HTTPResponse.json(body, status: HTTPStatus(429))
        if let field { answer.fields.append("retry-after", field) }
        return answer
      }
      let error = await #expect(throws: FunctionsServiceError.self) {
        try await remote.call(.named("f"), context: CallContext())
      }
      #expect(error?.code == .resourceExhausted && error?.message == "full" && error?.details == ["by": "ada"])
      #expect(error?.errorDetails.isEmpty == (field == nil))
    }
  }

  @Test func `a stream that ends before its result is a loss, and not late`() async throws {
    let remote = try remote {
      let events = "data: {\"message\":1}\n\n"
      return HTTPResponse(fields: [.contentType: ServerSentEvent.contentType], body: .text(events))
    }
    var events: [FunctionEvent] = []
    let error = await #expect(throws: FunctionsServiceError.self) {
      for try await event in remote.stream(.named("f"), context: CallContext()) { events.append(event) }
    }
    #expect(error?.code == .dataLoss && events == [.message(1)])
  }

  @Test func `a stream of a host that goes silent ends at the deadline`() async throws {
    let (clock, body) = (ManualClock(), ByteStream())
    let remote = try remote(clock.service) {
      body.offer(Array("data: {\"message\":1}\n\n".utf8))
      return HTTPResponse(fields: [.contentType: ServerSentEvent.contentType], body: .stream(body))
    }
    let context = CallContext(deadline: clock.service.now() + 5_000_000)
    let error = await #expect(throws: FunctionsServiceError.self) {
      for try await _ in remote.stream(.named("f"), context: context) { clock.advance(by: .seconds(6)) }
    }
    #expect(error?.code == .deadlineExceeded)
  }

  /// The time of the function is long, so that it is not cancelled because that is over.
  @Test(arguments: [false, true])
  func `a client that leaves its stream cancels the function`(isRemote: Bool) async throws {
    var options = FunctionsServiceOptions()
    options.timeout = .seconds(100_000)
    let served = try await Served.onFakeNetwork(options: options)
    let cancelled = Gate()
    served.registry.onStreamingCall("hold") { _, stream in
      do {
        try await stream.send(Int32(1))
        try await Gate().pass()
      } catch {
        cancelled.open()
        throw error
      }
      return nil
    }
    if isRemote {
      for try await _ in served.remote.stream(.named("hold"), context: CallContext()) { break }
    } else {
      let fields: HTTPFields = [.contentType: "application/json", .accept: "text/event-stream"]
      let answer = try await served.answer(.post, "/project/us-central1/hold", fields, #"{"data":null}"#)
      let stream = answer.body.stream
      _ = try await stream.next()
      stream.cancel()
    }
    await cancelled.wait()
  }
}
