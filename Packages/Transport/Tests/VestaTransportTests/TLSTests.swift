import CVestaTLS
import Testing
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropContracts

@testable import VestaTransport

/// A server and a client that the contracts see, with TLS between them.
struct SecureTransport: HTTPServer, HTTPClient {
  let server: VestaTransportServer
  let client: VestaTransportClient
  let certificates: TLSCertificates
  var version: TransportPeer.Version?

  func listen(at address: TransportAddress, handler: any HTTPHandler) async throws -> any HTTPListener {
    try await server.listen(at: address, security: TLSServerSettings(certificates), handler: handler)
  }

  func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    var request = secure(request)
    if let version { request.version = version }
    return try await client.send(request, timeout: timeout)
  }

  func openWebSocket(_ request: HTTPRequest, subprotocols: [String], timeout: Duration?) async throws -> WebSocket {
    try await client.openWebSocket(secure(request), subprotocols: subprotocols, timeout: timeout)
  }

  func close() async { await client.close() }

  func stop() async {
    await client.close()
    await server.stop()
  }

  private func secure(_ request: HTTPRequest) -> HTTPRequest {
    var request = request
    request.scheme = "https"
    return request
  }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct TLSTests {
  private static let certificates = try? TLSCertificates([
    TestAuthority.shared.identity(names: "DNS:localhost,IP:127.0.0.1")
  ])

  @Test(arguments: TransportContracts.all)
  func `server and client keep every promise with TLS between them`(contract: Contract<TransportSubject>) async throws {
    let transport = SecureTransport(
      server: try VestaTransportServer(loops: 2), client: try VestaTransportClient(security: .testing),
      certificates: try #require(Self.certificates))
    try await contract.verify(TransportSubject(server: transport, client: transport))
    await transport.stop()
  }

  @Test(arguments: UInt64(1)...6)
  func `server and client keep every promise with TLS and small limits`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var tuning = TransportTuning()
    tuning.readBytes = random.pick([1_000, 4_096, 17_000])
    tuning.backlogBytes = random.pick([1, 100, 5_000])
    tuning.requestsPerTurn = 1 + random.below(3)
    tuning.eventsPerTurn = 1 + random.below(3)
    tuning.keptSessions = random.below(3)
    for contract in TransportContracts.all {
      let transport = SecureTransport(
        server: try VestaTransportServer(loops: 1 + random.below(2), tuning: tuning),
        client: try VestaTransportClient(security: .testing, tuning: tuning),
        certificates: try #require(Self.certificates))
      let outcomes = await [contract].run { TransportSubject(server: transport, client: transport) }
      #expect(outcomes.filter { !$0.isKept }.map(\.description) == [], "seed \(seed)")
      await transport.stop()
    }
  }

  @Test(arguments: [TLSVersion.tls1_2, .tls1_3])
  func `a request over TLS says that it is secure`(oldest: TLSVersion) async throws {
    let handler = HTTPClosureHandler { request in
      .response(HTTPResponse(body: .text("\(request.scheme) \(request.peer?.isSecure ?? false)")))
    }
    let settings = TLSServerSettings(try #require(Self.certificates), oldestVersion: oldest)
    try await SecureTestServer.run(settings, handler: handler) { server in
      let client = try VestaTransportClient(security: .testing)
      let body = try await client.send(server.request(), timeout: nil).body.collect(upTo: 100)
      #expect(String(decoding: body, as: UTF8.self) == "https true")
      await client.close()
    }
  }

  // MARK: Certificates

  struct BadCertificate: Sendable, CustomTestStringConvertible {
    let name: String
    let identity: TLSIdentity
    let problem: TransportError.SecurityProblem
    let words: String
    var testDescription: String { name }
  }

  private static var badCertificates: [BadCertificate] {
    let names = "DNS:localhost,IP:127.0.0.1"
    return [
      BadCertificate(
        name: "expired", identity: TestAuthority.shared.identity(names: names, days: -3 ... -1), problem: .expired,
        words: "renewed"),
      BadCertificate(
        name: "not yet valid", identity: TestAuthority.shared.identity(names: names, days: 1...3),
        problem: .notYetValid, words: "clock"),
      BadCertificate(
        name: "another name", identity: TestAuthority.shared.identity(names: "DNS:example.com"), problem: .wrongName,
        words: "another host"),
      BadCertificate(
        name: "a part of a name", identity: TestAuthority.shared.identity(names: "DNS:localhost.example.com"),
        problem: .wrongName, words: "another host"),
      BadCertificate(
        name: "self-signed", identity: TestAuthority.selfSigned(names: names), problem: .unknownRoot,
        words: "signed its certificate itself"),
      BadCertificate(
        name: "another root", identity: TestAuthority.make().identity(names: names), problem: .unknownRoot,
        words: "Nobody who is trusted"),
    ]
  }

  @Test(arguments: badCertificates)
  func `a certificate that proves nothing is refused, and the error says what is wrong`(
    bad: BadCertificate
  ) async throws {
    try await SecureTestServer.run([bad.identity]) { server in
      let client = try VestaTransportClient(security: .testing)
      for host in bad.name == "a part of a name" ? ["localhost"] : ["localhost", "127.0.0.1"] {
        let error = await #expect(throws: TransportError.self) {
          try await client.send(server.request(host: host), timeout: .seconds(20))
        }
        #expect(error?.code == .insecure && error?.problem == bad.problem && error?.mayHaveBeenProcessed == false)
        #expect(error?.message.contains(bad.words) ?? false, "\(String(describing: error))")
      }
      await client.close()
      await server.waitForConnections(0)
    }
  }

  @Test func `a client trusts the roots of the system alone unless it is told otherwise`() async throws {
    try await SecureTestServer.run { server in
      let client = try VestaTransportClient()
      let error = await #expect(throws: TransportError.self) {
        try await client.send(server.request(), timeout: .seconds(20))
      }
      #expect(error?.problem == .unknownRoot)
      await client.close()
      let both = try VestaTransportClient(
        security: TLSClientSettings(roots: .systemAnd(pem: TestAuthority.shared.root)))
      #expect(try await both.send(server.request(), timeout: nil).status == .ok)
      await both.close()
    }
    #expect(throws: TransportError.self) {
      try VestaTransportClient(security: TLSClientSettings(roots: .pem(Array("no roots".utf8))))
    }
  }

  @Test func `clients share the roots of the system, which are read once, and no others`() throws {
    func store(_ settings: TLSClientSettings) throws -> OpaquePointer? {
      let context = try TLSClientContext(settings)
      defer { withExtendedLifetime(context) {} }
      return SSL_CTX_get_cert_store(context.pointer)
    }
    let system = try store(TLSClientSettings())
    #expect(try system != nil && system == store(TLSClientSettings()))
    let more = try TLSClientContext(TLSClientSettings(roots: .systemAnd(pem: TestAuthority.shared.root)))
    #expect(SSL_CTX_get_cert_store(more.pointer) != system)
  }

  @Test func `a certificate of an address is for it, and one of a name is not for an address`() async throws {
    try await SecureTestServer.run([TestAuthority.shared.identity(names: "IP:127.0.0.1")]) { server in
      let client = try VestaTransportClient(security: .testing)
      #expect(try await client.send(server.request(host: "127.0.0.1"), timeout: nil).status == .ok)
      let error = await #expect(throws: TransportError.self) {
        try await client.send(server.request(host: "localhost"), timeout: .seconds(20))
      }
      #expect(error?.problem == .wrongName)
      await client.close()
    }
  }

  @Test func `certificates that are none, or not of their key, are refused with what is wrong`() throws {
    let (chain, key) = TestAuthority.shared.files(names: "DNS:a")
    let other = TestAuthority.shared.files(names: "DNS:b").key
    let cases: [([TLSIdentity], String)] = [
      ([], "needs a certificate"), ([.pem(chain: [], key: key)], "no certificate"),
      ([.pem(chain: chain, key: chain)], "no private key"), ([.pem(chain: chain, key: other)], "not the key"),
      ([.files(chain: "/absent/chain", key: "/absent/key")], "/absent/chain cannot be read"),
    ]
    for (identities, words) in cases {
      let error = #expect(throws: TransportError.self) { try TLSCertificates(identities) }
      #expect(error?.code == .invalidArgument && error?.message.contains(words) ?? false, "\(words)")
    }
  }

  // MARK: Names, protocols, sessions

  @Test func `the certificate is that of the host which the client names`() async throws {
    let identities = ["DNS:localhost", "DNS:a.test", "DNS:*.b.test,DNS:c.test"].map {
      TestAuthority.shared.identity(names: $0)
    }
    try await SecureTestServer.run(identities) { server in
      for host in ["localhost", "a.test", "x.b.test", "c.test"] {
        let context = try TLSClientContext(.testing)
        #expect(try TLSRawPeer(server.listener.address, context, host: host).handshake() == nil, "\(host)")
      }
      for host in ["b.test", "x.y.b.test", "other.test"] {
        let context = try TLSClientContext(.testing)
        let error = try TLSRawPeer(server.listener.address, context, host: host).handshake()
        #expect(error?.problem == .wrongName, "\(host)")
      }
    }
  }

  @Test(
    arguments: [
      (["h2", "http/1.1"], ["http/1.1", "h2"], "h2"), (["http/1.1"], ["h2", "http/1.1"], "http/1.1"),
      (["http/1.1"], [], nil), ([], ["h2"], nil),
    ] as [([String], [String], String?)])
  func `the protocol is the server's favourite among those offered`(
    server protocols: [String], client offered: [String], expected: String?
  ) async throws {
    try await SecureTestServer.run(protocols: protocols) { server in
      let context = try TLSClientContext(TLSClientSettings(roots: .pem(TestAuthority.shared.root), protocols: offered))
      let peer = try TLSRawPeer(server.listener.address, context, host: "localhost")
      #expect(try peer.handshake() == nil)
      #expect(peer.session.negotiatedProtocol == expected)
    }
  }

  @Test func `no common protocol is an error that says so`() async throws {
    try await SecureTestServer.run(protocols: ["http/1.1"]) { server in
      let client = try VestaTransportClient(
        security: TLSClientSettings(roots: .pem(TestAuthority.shared.root), protocols: ["other"]))
      let error = await #expect(throws: TransportError.self) {
        try await client.send(server.request(), timeout: .seconds(20))
      }
      #expect(error?.problem == .noAgreement && error?.message.contains("ALPN") ?? false)
      await client.close()
    }
  }

  @Test func `a client resumes the session of before, also on another loop of the server`() async throws {
    try await SecureTestServer.run { server in
      let context = try TLSClientContext(.testing)
      var kept: TLSResumption?
      for round in 0..<8 {
        let peer = try TLSRawPeer(server.listener.address, context, host: "localhost", resuming: kept)
        peer.session.onResumption = { kept = $0 }
        #expect(try peer.handshake() == nil)
        peer.send("GET /x HTTP/1.1\r\nhost: localhost\r\n\r\n")
        #expect(peer.receive(until: "/x").hasSuffix("/x"))
        #expect(peer.session.isResumed == (round > 0), "round \(round)")
      }
    }
  }

  @Test func `certificates are replaced while the server runs, and open connections stay`() async throws {
    let certificates = try TLSCertificates([TestAuthority.shared.identity(names: "DNS:old.test")])
    try await SecureTestServer.run(TLSServerSettings(certificates)) { server in
      let context = try TLSClientContext(.testing)
      let old = try TLSRawPeer(server.listener.address, context, host: "old.test")
      #expect(try old.handshake() == nil)
      try certificates.replace(with: [TestAuthority.shared.identity(names: "DNS:new.test")])
      #expect(try TLSRawPeer(server.listener.address, context, host: "new.test").handshake() == nil)
      #expect(try TLSRawPeer(server.listener.address, context, host: "old.test").handshake()?.problem == .wrongName)
      old.send("GET /still HTTP/1.1\r\nhost: h\r\n\r\n")
      #expect(old.receive(until: "/still").hasSuffix("/still"))
    }
  }

  @Test func `changed files are noticed, and unusable ones leave the certificates of before`() async throws {
    let folder = try TemporaryDirectory()
    func write(_ names: String) throws {
      let (chain, key) = TestAuthority.shared.files(names: names)
      try folder.write(chain, to: "chain")
      try folder.write(key, to: "key")
    }
    try write("DNS:old.test")
    let certificates = try TLSCertificates([.files(chain: folder.path(of: "chain"), key: folder.path(of: "key"))])
    try await SecureTestServer.run(TLSServerSettings(certificates)) {
      $0.certificateInterval = .milliseconds(5)
    } _: { server in
      let context = try TLSClientContext(.testing)
      func isServed(_ host: String) throws -> Bool {
        try TLSRawPeer(server.listener.address, context, host: host).handshake() == nil
      }
      #expect(try isServed("old.test"))
      try folder.write(Array("half".utf8), to: "chain")
      while certificates.lastFailure == nil { await Task.yield() }
      #expect(try isServed("old.test"))
      try write("DNS:new.test")
      while try !isServed("new.test") { await Task.yield() }
      #expect(certificates.lastFailure == nil)
    }
  }
}
