import Testing
import VestaAuthBackend
import VestaAuthRemote
import VestaBytes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthService

/// The requests of a remote backend, and its reading of bodies that are no answer of the service.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
  /// A network whose hosts all answer alike.
  private func network(
    _ hosts: [String], at port: Int = 443, _ response: @escaping @Sendable () -> HTTPResponse
  ) async throws -> (FakeNetwork, Log<HTTPRequest>) {
    let (network, seen) = (FakeNetwork(), Log<HTTPRequest>())
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(response())
    }
    for host in hosts { _ = try await network.listen(at: .internet(host: host, port: port), handler: handler) }
    return (network, seen)
  }

  private func refused(_ remote: AuthRemote, _ context: CallContext = CallContext()) async -> AuthServiceError? {
    do {
      _ = try await remote.signInWithPassword(
        PasswordSignInRequest(email: "a@example.com", password: "secret1"), context: context)
      return nil
    } catch { return error }
  }

  @Test func `Firebase has a host for each service, and the key, the locale and the client in fields`() async throws {
    let hosts = ["identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com"]
    let (network, seen) = try await network(hosts) { .json(Array("{}".utf8)) }
    var options = AuthRemoteOptions.firebase
    options.clientVersion = "Swift/Vesta/1"
    let rest = RESTOptions(apiKey: "key")
    let service = try RESTService(network, at: "https://identitytoolkit.googleapis.com", options: rest)
    let remote = AuthRemote(project: "p", on: service, options: options)
    let context = CallContext(appCheck: AppCheckState("check"), tenantID: "t", locale: "de")
    _ = await refused(remote, context)
    _ = await refusal { try await remote.refresh(RefreshRequest(refreshToken: "r"), context: context) }
    _ = try await remote.publicKeys(context: context)
    #expect(
      seen.entries.map { "\($0.authority)\($0.target)" } == [
        "identitytoolkit.googleapis.com/v1/accounts:signInWithPassword", "securetoken.googleapis.com/v1/token",
        "www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com",
      ])
    let first = try #require(seen.entries.first)
    #expect(first.fields["x-goog-api-key"] == "key" && first.fields["x-firebase-locale"] == "de")
    #expect(first.fields["x-client-version"] == "Swift/Vesta/1" && first.fields["x-firebase-appcheck"] == "check")
    let body = try JSONObject(json: try await first.body.collect(upTo: 1_000))
    #expect(body["tenantId"] == "t" && body["returnSecureToken"] == true)
    let form = try await seen.entries[1].body.collect(upTo: 1_000)
    #expect(String(decoding: form, as: UTF8.self) == "grant_type=refresh_token&refresh_token=r")
  }

  @Test func `passwords are not sent in clear text to another machine`() async throws {
    let (network, seen) = try await network(["example.com", "localhost"], at: 80) { HTTPResponse(503) }
    let far = AuthRemote(project: "p", on: try RESTService(network, at: "http://example.com"))
    #expect(await refused(far)?.code == .init("FAILED_PRECONDITION") && seen.entries.isEmpty)
    let near = AuthRemote(project: "p", on: try RESTService(network, at: "http://localhost"))
    #expect(await refused(near)?.code == .unavailable && seen.entries.count == 1)
    #expect(seen.entries[0].target == "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword")
  }

  @Test func `a change that uses up a code or ends the session is not to be made again`() async throws {
    let remote = AuthRemote(project: "p", on: try RESTService(CutClient(), at: "http://localhost"))
    for (request, code) in [
      (UpdateRequest(idToken: "t", displayName: "Ada"), AuthServiceError.Code.unavailable),
      (UpdateRequest(idToken: "t", password: "secret1"), .init("DEADLINE_EXCEEDED")),
      (UpdateRequest(oobCode: "c"), .init("DEADLINE_EXCEEDED")),
      (UpdateRequest(oobCode: "c", password: "secret1"), .init("DEADLINE_EXCEEDED")),
    ] {
      #expect(await refusal { try await remote.update(request, context: CallContext()) } == code, "\(request)")
    }
  }

  @Test func `a change names its ID token, also an empty one, or its code`() async throws {
    let (network, seen) = try await network(["localhost"], at: 80) { .json(Array("{}".utf8)) }
    let remote = AuthRemote(project: "p", on: try RESTService(network, at: "http://localhost"))
    for request in [UpdateRequest(displayName: "Ada"), UpdateRequest(idToken: "t"), UpdateRequest(oobCode: "c")] {
      _ = try? await remote.update(request, context: CallContext())
    }
    var tokens: [JSONValue?] = []
    for request in seen.entries {
      tokens.append(try JSONObject(json: try await request.body.collect(upTo: 1_000))["idToken"])
    }
    // Without the member the call would be that of an owner.
    #expect(tokens == ["", "t", nil])
  }

  @Test func `a page in the place of the service is no answer, whatever its status is`() async throws {
    for status in [200, 302, 403, 511] {
      let (network, _) = try await network(["localhost"], at: 80) {
        HTTPResponse(HTTPStatus(status), fields: [.contentType: "text/html"], body: .text("<html>Welcome</html>"))
      }
      let remote = AuthRemote(project: "p", on: try RESTService(network, at: "http://localhost"))
      let error = await refused(remote)
      #expect(error.map { !$0.endsSession } == true, "\(status)")
      if status != 403 { #expect(error?.code == .unavailable, "\(status)") }
    }
  }

  @Test func `errors have the name, the detail and the pause of the service`() async throws {
    let answers: [(Int, String, AuthServiceError.Code, String?)] = [
      (400, #"{"error":{"code":400,"message":"EMAIL_EXISTS"}}"#, .emailExists, nil),
      (400, #"{"error":{"code":400,"message":"WEAK_PASSWORD : Too short"}}"#, .weakPassword, "Too short"),
      (403, #"{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}"#, .permissionDenied, "No."),
      (429, #"{"error":{"code":429,"message":"QUOTA","status":"RESOURCE_EXHAUSTED"}}"#, .init("QUOTA"), nil),
      (200, "not JSON", .init("INTERNAL"), nil),
    ]
    for (status, body, code, detail) in answers {
      let (network, _) = try await network(["localhost"], at: 80) {
        HTTPResponse(HTTPStatus(status), fields: ["retry-after": "7"], body: .text(body))
      }
      let remote = AuthRemote(project: "p", on: try RESTService(network, at: "http://localhost"))
      let error = await refused(remote)
      #expect(error?.code == code, "\(body)")
      if let detail { #expect(error?.detail == detail) }
      if status != 200 { #expect(error?.retryAfter == .seconds(7)) }
    }
  }

  @Test func `a call ends with its deadline where the other side says nothing`() async throws {
    let clock = ManualClock()
    let network = FakeNetwork(clock: clock)
    let silent = HTTPClosureHandler { _ in .response(HTTPResponse(200)) }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: silent)
    network.setSilent(true)
    let service = try RESTService(network, at: "http://localhost", clock: clock.service)
    let remote = AuthRemote(project: "p", on: service)
    async let failure = refused(remote)
    await clock.waitForTimers()
    clock.advance(by: .seconds(60))
    let code = await failure?.code
    #expect(code == .unavailable || code == .init("DEADLINE_EXCEEDED"))
  }
}
