import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The headers by which remote backends name their app, as Firebase's SDKs send them.
@Suite(.timeLimit(.minutes(10))) struct RemoteServicesTests {
  private struct Failure: ServiceFailure, Equatable {
    let status: ServiceStatus
    init(_ status: ServiceStatus) { self.status = status }
  }

  private static let days = #"{"heartbeats":[{"agent":"a/1","dates":["2026-11-23"]}],"version":2}"#
  private let network = FakeNetwork()
  private let seen = Log<HTTPFields>()

  private var identity: ClientIdentity {
    let waiting = Locked<String?>(Self.days)
    let heartbeats = HeartbeatSource {
      waiting.withLock { $0.take() }
    } takeToday: {
      waiting.withLock { $0.take() } != nil
    }
    return ClientIdentity(
      userAgent: "a/1 b/2", appID: "1:7:ios:3", apiKey: "key", bundleID: "b.c", heartbeats: heartbeats)
  }

  /// The fields of two calls after each other.
  private func fields(
    _ facts: ClientFacts, _ options: RESTOptions = RESTOptions(), context: CallContext = CallContext()
  ) async throws -> [HTTPFields] {
    let handler = HTTPClosureHandler { [seen] request in
      seen.add(request.fields)
      return .response(.json(Array("{}".utf8)))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let services = RemoteServices(network, app: identity, options: options)
    let service = try services.service(at: "http://localhost", isEmulator: false, sending: facts)
    let channel = RESTChannel<Failure>(service)
    for _ in 0..<2 { _ = try await channel.call(RESTCall(.get, "/"), context: context) { $0.status } }
    return seen.entries
  }

  /// A compression that shows what it was given.
  private static let visible = TransportCompression(name: "gzip") {
    Array("<".utf8) + $0 + Array(">".utf8)
  } decompress: { bytes, _ in
    bytes
  }

  @Test func `a product sends the facts that it names, and no others`() async throws {
    let all = try await fields([.apiKey, .appID, .bundleID]).first
    #expect(all?[.userAgent] == "a/1 b/2" && all?["x-firebase-gmpid"] == "1:7:ios:3")
    #expect(all?["x-goog-api-key"] == "key" && all?["x-ios-bundle-identifier"] == "b.c")
    #expect(all?.contains("x-firebase-client") == false)
    let none = try await RemoteServicesTests().fields([]).first
    #expect(none?[.userAgent] == "a/1 b/2")
    for name in ["x-firebase-gmpid", "x-goog-api-key", "x-ios-bundle-identifier", "x-firebase-client"] {
      #expect(none?.contains(HTTPFieldName(stringLiteral: name)) == false)
    }
  }

  @Test func `days are sent once, compressed and in base64url without padding`() async throws {
    let sent = try await fields(.heartbeats, RESTOptions(compression: Self.visible))
    let expected = "PHsiaGVhcnRiZWF0cyI6W3siYWdlbnQiOiJhLzEiLCJkYXRlcyI6WyIyMDI2LTExLTIzIl19XSwidmVyc2lvbiI6Mn0-"
    #expect(sent[0]["x-firebase-client"] == expected)
    #expect(try Base64.url.decode(expected) == Array("<\(Self.days)>".utf8))
    #expect(!sent[1].contains("x-firebase-client") && !sent[1].contains("x-firebase-client-log-type"))
  }

  @Test func `without a compression days are sent as they are`() async throws {
    let sent = try await fields(.heartbeats)
    #expect(try Base64.url.decode(sent[0]["x-firebase-client"] ?? "") == Array(Self.days.utf8))
  }

  @Test func `Firestore's form names the libraries each time, and marks one call of a day`() async throws {
    let sent = try await fields(.heartbeatMark)
    #expect(sent.map { $0["x-firebase-client"] } == ["a/1 b/2", "a/1 b/2"])
    #expect(sent.map { $0["x-firebase-client-log-type"] } == ["2", nil])
  }

  @Test func `what a program has chosen by itself counts`() async throws {
    let own: HTTPFields = ["x-firebase-client": "mine", "x-firebase-gmpid": "g", .userAgent: "u"]
    let sent = try await fields(
      [.apiKey, .appID, .bundleID, .heartbeats, .heartbeatMark], RESTOptions(fields: own, apiKey: "own"))
    for fields in sent {
      #expect(fields["x-firebase-client"] == "mine" && fields["x-firebase-gmpid"] == "g" && fields[.userAgent] == "u")
      #expect(fields["x-goog-api-key"] == "own" && !fields.contains("x-firebase-client-log-type"))
    }
  }

  @Test func `a call that is refused before it is sent takes no day`() async throws {
    let services = RemoteServices(network, app: identity)
    let far = RESTChannel<Failure>(
      try services.service(at: "http://example.com", isEmulator: false, sending: .heartbeats))
    await #expect(throws: Failure.self) {
      try await far.call(RESTCall(.get, "/"), context: CallContext(caller: .credential(.idToken("t")))) { $0.status }
    }
    let handler = HTTPClosureHandler { [seen] request in
      seen.add(request.fields)
      return .response(.json(Array("{}".utf8)))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let near = RESTChannel<Failure>(
      try services.service(at: "http://localhost", isEmulator: false, sending: .heartbeats))
    _ = try await near.call(RESTCall(.get, "/"), context: CallContext(appCheck: .token("app"))) { $0.status }
    #expect(seen.entries[0].contains("x-firebase-client") && seen.entries[0]["x-firebase-appcheck"] == "app")
  }

  @Test func `an emulator knows the owner by a word, and a server by a credential alone`() async throws {
    let services = RemoteServices(network, app: identity)
    let server = RESTChannel<Failure>(try services.service(at: "http://localhost", isEmulator: false, sending: []))
    let error = await #expect(throws: Failure.self) {
      try await server.call(RESTCall(.get, "/"), context: .owner) { $0.status }
    }
    #expect(error?.status.code == .unauthenticated)
    #expect(throws: ServiceStatus.self) { try services.service(at: "localhost", isEmulator: true, sending: []) }
  }
}
