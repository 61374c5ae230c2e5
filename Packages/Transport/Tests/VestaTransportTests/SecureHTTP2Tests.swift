import Testing
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropContracts

@testable import VestaTransport

/// HTTP/2 and gRPC over TLS, agreed on by ALPN.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SecureHTTP2Tests {
  private static let certificates = try? TLSCertificates([
    TestAuthority.shared.identity(names: "DNS:localhost,IP:127.0.0.1")
  ])
  private static let both = ["h2", "http/1.1"]

  private func transport(_ tuning: TransportTuning = TransportTuning(), loops: Int = 2) throws -> SecureTransport {
    SecureTransport(
      server: try VestaTransportServer(loops: loops, tuning: tuning),
      client: try VestaTransportClient(loops: loops, security: .testing, tuning: tuning),
      certificates: try #require(Self.certificates), version: .http2)
  }

  // MARK: Contracts

  @Test(arguments: TransportContracts.all + GRPCContracts.all)
  func `server and client keep every promise by HTTP 2 over TLS`(contract: Contract<TransportSubject>) async throws {
    let transport = try transport()
    try await contract.verify(TransportSubject(server: transport, client: transport))
    await transport.stop()
  }

  @Test(arguments: UInt64(1)...4)
  func `server and client keep every promise by HTTP 2 over TLS with small limits`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var tuning = TransportTuning()
    tuning.readBytes = random.pick([1_000, 4_096, 17_000])
    tuning.backlogBytes = random.pick([1, 100, 5_000])
    tuning.eventsPerTurn = 1 + random.below(3)
    tuning.keptSessions = random.below(3)
    tuning.http2StreamWindow = random.pick([5_000, 70_000])
    tuning.http2ConnectionWindow = 65_535
    // Windows of few bytes make many window updates.
    tuning.http2ControlFrames = 1_000_000
    for contract in TransportContracts.all + GRPCContracts.all {
      let transport = try transport(tuning, loops: 1 + random.below(2))
      let outcomes = await [contract].run {
        TransportSubject(server: transport, client: transport, slack: 2 << 20)
      }
      #expect(outcomes.filter { !$0.isKept }.map(\.description) == [], "seed \(seed)")
      await transport.stop()
    }
  }

  // MARK: Agreement

  private func run(
    _ protocols: [String], handler: any HTTPHandler = TestHandler(),
    _ body: (SecureTestServer, VestaTransportClient) async throws -> Void
  ) async throws {
    let settings = TLSServerSettings(try #require(Self.certificates), protocols: protocols)
    try await SecureTestServer.run(settings, handler: handler) { server in
      let client = try VestaTransportClient(
        security: TLSClientSettings(roots: .pem(TestAuthority.shared.root), protocols: Self.both))
      let result: Result<Void, any Error>
      do { result = .success(try await body(server, client)) } catch { result = .failure(error) }
      await client.close()
      try result.get()
    }
  }

  private func request(
    _ server: SecureTestServer, _ target: String = "/", body: HTTPBody = .empty
  ) -> HTTPRequest {
    var request = HTTPRequest(
      body.length == 0 ? .get : .post, target, scheme: "https", authority: "localhost:\(server.port)", body: body)
    request.version = .http2
    return request
  }

  @Test func `a request says by which version it was sent, and that it is secure`() async throws {
    let handler = HTTPClosureHandler { request in
      let peer = request.peer
      let text = "\(request.scheme) \(peer?.isSecure ?? false) \(peer?.version == .http2)"
      return .response(HTTPResponse(body: .text(text)))
    }
    try await run(Self.both, handler: handler) { server, client in
      let secure = try await client.send(request(server), timeout: .seconds(20))
      #expect(try await secure.body.collect(upTo: 100) == Array("https true true".utf8))
      // The client's settings offer HTTP/2 too; a request that does not ask for it uses HTTP/1.1.
      let usual = try await client.send(server.request(), timeout: .seconds(20))
      #expect(try await usual.body.collect(upTo: 100) == Array("https true false".utf8))
    }
  }

  @Test(arguments: [["http/1.1"], []])
  func `a server without HTTP 2 is an error that says so, and nothing was sent`(protocols: [String]) async throws {
    try await run(protocols) { server, client in
      for _ in 0..<3 {
        let error = await #expect(throws: TransportError.self) {
          try await client.send(request(server, "/echo", body: .bytes([1])), timeout: .seconds(20))
        }
        #expect(error?.code == .insecure && error?.problem == .noAgreement && error?.mayHaveBeenProcessed == false)
        #expect(error?.message.contains("ALPN") ?? false)
      }
      let channel = GRPCChannel(client, authority: "localhost:\(server.port)", scheme: "https")
      let failure = await #expect(throws: GRPCError.self) { try await channel.unary("/t.T/Unary", []) }
      #expect(failure?.code == .unavailable && failure?.message.contains("ALPN") ?? false)
      await server.waitForConnections(0)
      let usual = try await client.send(server.request("/usual"), timeout: .seconds(20))
      #expect(try await usual.body.collect(upTo: 100) == Array("/usual".utf8))
    }
  }

  @Test func `what TLS has not agreed on is not HTTP 2, whatever the first bytes are`() async throws {
    try await SecureTestServer.run(protocols: Self.both) { server in
      for offered in [["http/1.1"], []] {
        let context = try TLSClientContext(
          TLSClientSettings(roots: .pem(TestAuthority.shared.root), protocols: offered))
        let peer = try TLSRawPeer(server.listener.address, context, host: "localhost")
        #expect(try peer.handshake() == nil)
        peer.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        #expect(peer.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 "))
      }
      let context = try TLSClientContext(
        TLSClientSettings(roots: .pem(TestAuthority.shared.root), protocols: ["h2"]))
      let peer = try TLSRawPeer(server.listener.address, context, host: "localhost")
      #expect(try peer.handshake() == nil)
      peer.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n")
      var all = ""
      while let more = peer.receive(), !more.isEmpty { all += more }
      #expect(!all.contains("HTTP/1.1 "))
      #expect(try await server.isAlive())
    }
  }

  @Test func `many requests share a connection, and a session is resumed`() async throws {
    try await run(Self.both) { server, client in
      for _ in 0..<3 {
        try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<50 {
            group.addTask {
              let content = [UInt8](repeating: 7, count: 70_000)
              let response = try await client.send(
                request(server, "/echo", body: .bytes(content)), timeout: .seconds(30))
              return try await response.body.collect(upTo: 100_000).count
            }
          }
          for try await count in group { #expect(count == 70_000) }
        }
        #expect(server.listener.connectionCount == 1)
        client.closeIdleConnections()
        await server.waitForConnections(0)
      }
    }
  }

  @Test func `after a change of the network, new requests take a new connection, and others end on theirs`()
    async throws
  {
    try await run(Self.both) { server, client in
      let upload = ByteStream()
      let body = HTTPBody.stream(upload)
      async let running = client.send(request(server, "/stream", body: body), timeout: .seconds(30))
      try await upload.write([1, 2])
      while server.listener.connectionCount < 1 { await Task.yield() }
      client.closeIdleConnections()
      let other = try await client.send(request(server, "/other"), timeout: .seconds(30))
      #expect(try await other.body.collect(upTo: 100) == Array("/other".utf8))
      #expect(server.listener.connectionCount == 2)
      upload.finish()
      #expect(try await running.body.collect(upTo: 100) == Array("2".utf8))
      await server.waitForConnections(1)
    }
  }

  // MARK: Other programs

  @Test(.enabled(if: Peer.isThere("/usr/bin/curl"), "curl is not installed"))
  func `curl agrees on HTTP 2 or HTTP 1 over TLS`() async throws {
    let folder = try TemporaryDirectory()
    try folder.write(TestAuthority.shared.root, to: "root.pem")
    try await SecureTestServer.run(protocols: Self.both) { server in
      let base = "https://localhost:\(server.port)"
      let version = ["-o", "/dev/null", "-w", "%{http_code} %{http_version} %{num_connects}\n"]
      let cases: [([String], String)] = [
        (["--http2", "\(base)/a", "\(base)/b"], "/a/b"), (["--http2", "-d", "content", "\(base)/echo"], "content"),
        (["--http2"] + version + ["\(base)/a"], "200 2 1\n"), (["--http1.1"] + version + ["\(base)/a"], "200 1.1 1\n"),
        (["--http2", "--tls-max", "1.2"] + version + ["\(base)/a"], "200 2 1\n"),
        (["--http2", "-o", "/dev/null", "-w", "%{size_download}", "\(base)/large"], "20000000"),
        (["--http2", "-d", String(repeating: "x", count: 90_000), "\(base)/stream"], "90000"),
        (["--no-alpn"] + version + ["\(base)/a"], "200 1.1 1\n"),
      ]
      for (arguments, expected) in cases {
        let options = ["-sS", "-m", "20", "--noproxy", "*", "--cacert", folder.path(of: "root.pem")]
        let output = try await Peer.run("/usr/bin/curl", options + arguments).output
        #expect(output == expected, "\(arguments)")
      }
    }
  }

  @Test(.enabled(if: Peer.isThere("/usr/bin/nghttp"), "nghttp is not installed"))
  func `nghttp and h2load see connections without errors over TLS`() async throws {
    try await SecureTestServer.run(protocols: Self.both) { server in
      let base = "https://localhost:\(server.port)"
      let (status, output) = try await Peer.run(
        "/usr/bin/nghttp", ["-v", "-n", "--no-verify-peer", "\(base)/a", "\(base)/large", "\(base)/task"])
      #expect(status == 0 && output.components(":status: 200") == 3 && !output.contains("PROTOCOL_ERROR"))
      guard Peer.isThere("/usr/bin/h2load") else { return }
      for (path, count) in [("/small", 5_000), ("/large", 10)] {
        let load = try await Peer.run("/usr/bin/h2load", ["-n", "\(count)", "-c", "8", "-m", "16", "\(base)\(path)"])
        #expect(load.output.contains("\(count) succeeded, 0 failed"), "\(load.output)")
      }
    }
  }
}
