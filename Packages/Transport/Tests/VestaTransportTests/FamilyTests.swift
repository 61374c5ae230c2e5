import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.timeLimit(.minutes(10))) struct FamilyTests {
  private static let hasBothFamilies: Bool = {
    guard let place = SocketAddress(host: "::", port: 0),
      let descriptor = try? PlatformSocket.listen(at: place, shares: false, backlog: 0)
    else { return false }
    PlatformSocket.close(descriptor)
    return true
  }()

  @Test(.enabled(if: hasBothFamilies, "the system has no IPv6"))
  func `all addresses of one family leave those of the other one free`() async throws {
    let server = try VestaTransportServer(loops: 1)
    let handler = HTTPClosureHandler { _ in .response(HTTPResponse()) }
    var opened: [any HTTPListener] = []
    // Another program may have the number in the other family, but not each time.
    for _ in 1...5 where opened.count < 2 {
      for listener in opened { await listener.shutDown(within: .zero) }
      let first = try await server.listen(at: .internet(host: "::", port: 0), handler: handler)
      let place = TransportAddress.internet(host: "0.0.0.0", port: first.address.port ?? 0)
      opened = [first] + [try? await server.listen(at: place, handler: handler)].compactMap { $0 }
    }
    #expect(opened.count == 2)
    for listener in opened { await listener.shutDown(within: .zero) }
    await server.stop()
  }
}
