import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Requests that are for hosts of the public internet alone, with a name server of a test.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PublicHostTests {
  /// Returns addresses by name; each look-up of a name has the next answer, and the last one stays.
  private final class Names: Sendable {
    let asked = Log<String>()
    private let answers: Locked<[String: [[String]]]>

    init(_ answers: [String: [[String]]]) { self.answers = Locked(answers) }

    @Sendable func lookUp(_ host: String, _ port: Int) -> [SocketAddress] {
      asked.add(host)
      let hosts = answers.withLock { answers in
        guard let list = answers[host], let first = list.first else { return [String]() }
        if list.count > 1 { answers[host]?.removeFirst() }
        return first
      }
      return hosts.compactMap { SocketAddress(host: $0, port: port) }
    }
  }

  private func request(_ server: TestServer, _ host: String, isForPublicHosts: Bool = true) -> HTTPRequest {
    let port = server.listener.address.port ?? 0
    var request = HTTPRequest(.get, "/", authority: host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)")
    request.isForPublicHosts = isForPublicHosts
    return request
  }

  private func code(_ client: VestaTransportClient, _ request: HTTPRequest) async -> TransportError.Code? {
    let error = await #expect(throws: TransportError.self) { try await client.send(request, timeout: .seconds(20)) }
    return error?.code
  }

  @Test func `a public name that leads to a private address is not connected to`() async throws {
    let names = Names([
      "inside.example": [["127.0.0.1"]], "mapped.example": [["::ffff:127.0.0.1", "::1"]],
      "metadata.example": [["169.254.169.254"]],
    ])
    try await TestServer.run { server in
      let client = try VestaTransportClient(proxies: ProxySettings(), lookUp: names.lookUp)
      for host in ["inside.example", "mapped.example", "metadata.example", "127.0.0.1", "::1", "::ffff:7f00:1"] {
        #expect(await code(client, request(server, host)) == .forbiddenAddress, "\(host)")
      }
      #expect(
        try await client.send(request(server, "inside.example", isForPublicHosts: false), timeout: nil).status == .ok)
      // The connection that is kept now is not for requests to public hosts.
      #expect(await code(client, request(server, "inside.example")) == .forbiddenAddress)
      await client.close()
    }
  }

  @Test func `a name whose address changes between two look-ups is looked at each time`() async throws {
    // A network that was given back: nothing there answers.
    let names = Names(["rebinding.example": [["3ffe::1"], ["127.0.0.1"]]])
    try await TestServer.run { server in
      var tuning = TransportTuning()
      tuning.connectTimeout = .milliseconds(50)
      let client = try VestaTransportClient(proxies: ProxySettings(), tuning: tuning, lookUp: names.lookUp)
      // Whatever the result of the public address, it is tried.
      #expect(await code(client, request(server, "rebinding.example")) == .cannotConnect)
      #expect(await code(client, request(server, "rebinding.example")) == .forbiddenAddress)
      #expect(names.asked.entries.count == 2)
      await client.close()
    }
  }

  @Test func `of several addresses the public ones alone are tried`() async throws {
    let names = Names(["mixed.example": [["127.0.0.1", "3ffe::1", "10.0.0.1"]]])
    try await TestServer.run { server in
      var tuning = TransportTuning()
      tuning.connectTimeout = .milliseconds(50)
      let client = try VestaTransportClient(proxies: ProxySettings(), tuning: tuning, lookUp: names.lookUp)
      #expect(await code(client, request(server, "mixed.example")) == .cannotConnect)
      #expect(
        try await client.send(request(server, "mixed.example", isForPublicHosts: false), timeout: nil).status == .ok)
      await client.close()
    }
  }
}
