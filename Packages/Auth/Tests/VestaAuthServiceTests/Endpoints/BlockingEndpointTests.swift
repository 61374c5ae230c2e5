import Testing
import VestaAuthBackend
import VestaAuthEndpoints
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Blocking functions of other programs that answer badly.
@Suite(.timeLimit(.minutes(10))) struct BlockingEndpointTests {
  @Test func `a function whose answer does not end is given up after its time`() async throws {
    let (network, clock, body) = (FakeNetwork(), ManualClock(), ByteStream())
    let handler = HTTPClosureHandler { _ in .response(HTTPResponse(body: .stream(body))) }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let functions = HTTPBlockingFunctions(clock: clock.service) { network }
    let question = BlockingQuestion(
      event: .beforeCreate, url: "http://localhost:80/f", project: "p", user: AuthUser(localID: "ada"),
      signInMethod: "password")
    let asking = Task { try await functions.answer(to: question) }
    body.offer([0x20])
    await clock.waitForTimers()
    clock.advance(by: BlockingTuning().timeout)
    let error = await #expect(throws: AuthServiceError.self) { try await asking.value }
    #expect(error?.code == .blockingFunctionError)
    #expect(error?.detail?.contains("Deadline exceeded") == true)
  }
}
