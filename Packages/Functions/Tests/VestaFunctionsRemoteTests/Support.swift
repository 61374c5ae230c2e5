import VestaBytes
import VestaConcurrency
import VestaFunctionsBackend
import VestaFunctionsBackendContracts
import VestaFunctionsEndpoints
import VestaFunctionsRemote
import VestaHTTPFunctionsBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaFunctionsService

/// An engine behind its endpoints, and a remote backend in front of them.
struct Served {
  let registry = FunctionRegistry()
  let host = FakeEndpointHost(project: "project")
  let callers = FakeCallerVerifier()
  let remote: FunctionsRemote
  let handler: any HTTPHandler
  let beginnings = Log<String>()
  let cancellations = Log<String>()

  /// Serves an engine.
  ///
  /// - Parameter client: The way from the remote backend to a handler; the endpoints reach functions elsewhere by it.
  init(
    tuning: FunctionsEndpointsTuning = FunctionsEndpointsTuning(), options: FunctionsServiceOptions = .init(),
    remote remoteOptions: FunctionsRemoteOptions = FunctionsRemoteOptions(),
    over client: (any HTTPHandler) async throws -> any HTTPClient
  ) async throws {
    let made = Locked<(any HTTPClient)?>(nil)
    let engine = FunctionsEngine(
      registry: registry, options: options, callers: CallerCheck(callers: WireVerifier(issuer: callers)))
    host.add((any FunctionsBackend).self, engine)
    host.add((any HTTPFunctionsBackend).self, engine)
    handler = FunctionsEndpoints(tuning: tuning) { made.withLock { $0 } }.handler(in: host)
    let client = try await client(handler)
    made.withLock { $0 = client }
    remote = FunctionsRemote(
      project: "project", on: try RESTService(client, at: "http://localhost:80"), options: remoteOptions)
  }

  /// Serves an engine on a network in memory, at this machine and at the host of a region.
  static func onFakeNetwork(
    _ network: FakeNetwork = FakeNetwork(), tuning: FunctionsEndpointsTuning = FunctionsEndpointsTuning(),
    options: FunctionsServiceOptions = .init(), remote: FunctionsRemoteOptions = FunctionsRemoteOptions()
  ) async throws -> Served {
    try await Served(tuning: tuning, options: options, remote: remote) { handler in
      _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
      let region = TransportAddress.internet(host: "us-central1-project.cloudfunctions.net", port: 443)
      _ = try await network.listen(at: region, handler: handler)
      return network
    }
  }

  /// The subject of the contracts, with the functions that they call.
  func subject(patience: Duration = .seconds(120)) -> FunctionsSubject {
    struct Crash: Error {}
    let (beginnings, cancellations) = (beginnings, cancellations)
    registry.onCall("echo") { $0.rawData }
    registry.onCall("fail") { _ in throw HTTPSError(.alreadyExists, "taken", details: ["by": "ada"]) }
    registry.onCall("crash") { _ in throw Crash() }
    registry.onCall("wait") { _ in
      beginnings.add("wait")
      do {
        try await Gate().pass()
      } catch {
        cancellations.add("wait")
        throw error
      }
      return nil
    }
    registry.onStreamingCall("count") { request, stream in
      for number in 1...(request.rawData.integer ?? 1) { try await stream.send(Int32(number)) }
      return "done"
    }
    registry.onStreamingCall("countAndFail") { _, stream in
      try await stream.send(Int32(1))
      try await stream.send(Int32(2))
      throw HTTPSError(.alreadyExists, "taken", details: ["by": "ada"])
    }
    return FunctionsSubject(
      backend: remote, beginnings: beginnings, cancellations: cancellations, patience: patience)
  }

  /// Sends a request to the endpoints themselves.
  func answer(
    _ method: HTTPMethod, _ target: String, _ fields: HTTPFields = [.contentType: "application/json"],
    _ body: String = "", authority: String = "localhost"
  ) async throws -> HTTPResponse {
    let request = HTTPRequest(method, target, authority: authority, fields: fields, body: .text(body))
    switch handler.reply(to: request) {
    case .response(let response): return response
    case .task(let work): return try await work()
    case .webSocket: throw TransportError(.refused, "There is no WebSocket.")
    }
  }
}

/// Knows the tokens of an issuer as they arrive over the wire, where the kind of a token is not said.
private struct WireVerifier: CallerVerifier {
  let issuer: FakeCallerVerifier

  func verify(_ credential: Credential, project: String?) async throws(ServiceStatus) -> VerifiedCaller {
    try await issuer.verify(.idToken(credential.token), project: nil)
  }
}

extension HTTPResponse {
  /// The body as text.
  func text() async throws -> String { String(decoding: try await body.collect(upTo: 1 << 20), as: UTF8.self) }
}

extension FunctionCall {
  /// A call of a function in the usual region.
  static func named(_ name: String, _ data: JSONValue = .null) -> FunctionCall {
    FunctionCall(.name(name, region: "us-central1"), data: data)
  }
}
