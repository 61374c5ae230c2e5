import Testing
import VestaAuthBackend
import VestaAuthEndpoints
import VestaBytes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Blocking functions of other programs that answer badly.
@Suite(.timeLimit(.minutes(10))) struct BlockingEndpointTests {
  @Test func `the answer of Firebase's library has its name of the photo, and times are seconds`() async throws {
    let (network, asked) = (FakeNetwork(), Log<HTTPRequest>())
    let handler = HTTPClosureHandler { request in
      asked.add(request)
      let answer = #"{"userRecord":{"photoURL":"http://p","displayName":"A","updateMask":"photoURL,displayName"}}"#
      return .response(HTTPResponse(body: .text(answer)))
    }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let functions = HTTPBlockingFunctions(clock: .system) { network }
    var user = AuthUser(localID: "ada")
    (user.createdAt, user.lastLoginAt) = (1_700_000_000_123, 1_700_000_001_123)
    let question = BlockingQuestion(
      event: .beforeCreate, url: "http://localhost:80/f", project: "p", user: user, signInMethod: "password")
    let answer = try await functions.answer(to: question)
    #expect(answer.photoURL == "http://p" && answer.displayName == "A")
    let body = try JSONObject(json: asked.entries.first?.body.bytes ?? [])
    let token = body["data"]?.object?["jwt"]?.string ?? ""
    let claims = try JSONObject(json: Base64.url.decode(String(token.split(separator: ".")[1])))
    let times = claims["user_record"]?.object?["metadata"]?.object
    #expect(times == ["creation_time": 1_700_000_000, "last_sign_in_time": 1_700_000_001])
  }

  @Test func `the token states the provider's user, the tokens' lifetime and the client's program`() async throws {
    let (network, asked) = (FakeNetwork(), Log<HTTPRequest>())
    let handler = HTTPClosureHandler { request in
      asked.add(request)
      return .response(HTTPResponse(body: .text("{}")))
    }
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
    let functions = HTTPBlockingFunctions(clock: .system) { network }
    var question = BlockingQuestion(
      event: .beforeSignIn, url: "http://localhost:80/f", project: "p", user: AuthUser(localID: "ada"),
      signInMethod: "oidc.works", credential: IdpCredential(providerID: "oidc.works", accessToken: "AT"),
      rawUserInfo: #"{"id":"7"}"#, signInAttributes: ["role": "admin"], credentialLifetime: 3_600, userAgent: "curl/8")
    _ = try await functions.answer(to: question)
    question.credential?.accessToken = nil
    _ = try await functions.answer(to: question)
    // The engine does not know how the client calls itself: the endpoint does.
    let server = EndpointWorld(blocking: functions)
    let body = try (["email": "a@b.c", "password": "secret"] as JSONObject).json()
    let made = try await server.send(
      .post, "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", body, fields: ["user-agent": "curl/8"])
    #expect(made.status == 200)
    let claims = try asked.entries.map { request in
      let body = try JSONObject(json: request.body.bytes ?? [])
      let token = body["data"]?.object?["jwt"]?.string ?? ""
      return try JSONObject(json: Base64.url.decode(String(token.split(separator: ".")[1])))
    }
    #expect(claims.map { $0["raw_user_info"] } == [#"{"id":"7"}"#, #"{"id":"7"}"#, nil])
    #expect(claims.map { $0["sign_in_attributes"] } == [["role": "admin"], ["role": "admin"], nil])
    #expect(claims.map { $0["user_agent"] } == ["curl/8", "curl/8", "curl/8"])
    #expect(claims.map { $0["oauth_expires_in"] } == [3_600, nil, nil])
  }

  @Test(arguments: [
    ("https://a.example/f", true), ("http://localhost:5001/p/r/f", true), ("https://", false), ("http://a b/", false),
    ("ftp://a.example/f", false),
  ])
  func `an owner sets functions with addresses of HTTP alone`(_ url: String, _ isTaken: Bool) async throws {
    let server = EndpointWorld()
    let settings: JSONObject = ["blockingFunctions": ["triggers": ["beforeCreate": ["functionUri": .string(url)]]]]
    let path = "/config?updateMask=blockingFunctions"
    let answer = try await server.own(path, settings, method: .patch, version: "v2")
    #expect(answer.status == (isTaken ? 200 : 400))
    #expect(isTaken || answer.message?.hasPrefix("INVALID_BLOCKING_FUNCTION") == true, "\(answer.body)")
    let kept = try await server.own("/config", method: .get, version: "v2")["blockingFunctions"]?.object
    let function = kept?["triggers"]?.object?["beforeCreate"]?.object
    #expect(function?["functionUri"] == (isTaken ? .string(url) : nil))
  }

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
