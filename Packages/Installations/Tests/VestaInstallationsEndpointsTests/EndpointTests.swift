import Testing
import VestaBytes
import VestaInstallationsBackend
import VestaInstallationsEndpoints
import VestaInstallationsService
import VestaInstallationsWire
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Requests as Firebase's SDKs send them.
@Suite(.timeLimit(.minutes(10))) struct EndpointTests {
  private let engine = InstallationsEngine { ModelStore() }
  private let handler: any HTTPHandler

  init() {
    let host = FakeEndpointHost(project: "demo")
    host.add((any InstallationsBackend).self, engine)
    handler = InstallationsEndpoints().handler(in: host)
  }

  private func answer(
    _ method: HTTPMethod, _ target: String, _ body: String = "", authorization: String? = nil
  ) async throws -> (status: Int, object: JSONObject) {
    var fields: HTTPFields = [.contentType: "application/json", "x-goog-api-key": "key"]
    if let authorization { fields.append(.authorization, authorization) }
    let request = HTTPRequest(method, target, authority: "localhost", fields: fields, body: .text(body))
    guard case .task(let work) = handler.reply(to: request) else { throw TransportError(.refused, "no task") }
    let response = try await work()
    return (response.status.code, try JSONObject(json: try await response.body.collect(upTo: 10_000)))
  }

  @Test func `routes of the service and the questions before them are served`() {
    func serves(_ method: HTTPMethod, _ target: String, asks: String? = nil) -> Bool {
      let fields: HTTPFields = asks.map { ["access-control-request-method": $0] } ?? [:]
      return InstallationsEndpoints().serves(HTTPRequestHead(method: method, target: target, fields: fields))
    }
    let base = "/v1/projects/demo/installations"
    #expect(serves(.post, base) && serves(.delete, "\(base)/id") && serves(.post, "\(base)/id/authTokens:generate"))
    #expect(serves(.options, base, asks: "POST") && !serves(.options, base) && !serves(.options, base, asks: "DELETE"))
    for target in ["/", "/v1/projects/demo", "/v1/projects/demo/other", "/v2/projects/demo/installations"] {
      #expect(!serves(.post, target), "\(target)")
    }
    #expect(!serves(.get, base) && !serves(.post, "\(base)/id/authTokens:other"))
  }

  @Test(arguments: ["", "/"])
  func `an installation is created, renewed and deleted`(slash: String) async throws {
    let id = "cABCDEFGHIJKLMNOPQRST0"
    let base = "/v1/projects/demo/installations"
    let body = #"{"fid":"\#(id)","authVersion":"FIS_v2","appId":"1:2:web:3","sdkVersion":"w:1"}"#
    let (status, made) = try await answer(.post, base + slash, body)
    #expect(status == 200 && made["fid"] == .string(id))
    #expect(made["name"] == .string("projects/demo/installations/\(id)"))
    let token = made["authToken"]?.object
    #expect(token?["expiresIn"] == "604800s")
    let secret = try #require(made["refreshToken"]?.string)
    let verified = try await engine.verify(token: token?["token"]?.string ?? "", context: CallContext())
    #expect(verified == VerifiedInstallation(id: id, appID: "1:2:web:3"))

    let place = "\(base)/\(id)/authTokens:generate"
    // Apple's SDK names no app here.
    let renewed = try await answer(
      .post, place + slash, #"{"installation":{"sdkVersion":"i:1"}}"#, authorization: "FIS_v2 \(secret)")
    #expect(renewed.status == 200 && renewed.object["expiresIn"] == "604800s")
    for authorization in [nil, "FIS_v2 x", "Bearer \(secret)", "FIS_v2"] {
      let refused = try await answer(.post, place, "{}", authorization: authorization)
      #expect(refused.status == 401 && refused.object["error"]?.object?["status"] == "UNAUTHENTICATED")
    }
    let gone = try await answer(.delete, "\(base)/\(id)\(slash)", "{}", authorization: "FIS_v2 \(secret)")
    #expect(gone.status == 200)
    let missing = try await answer(.post, place, "{}", authorization: "FIS_v2 \(secret)")
    #expect(missing.status == 404)
  }

  @Test(arguments: ["", "{", "[]", #"{"appId":7}"#, #"{"fid":"x"}"#])
  func `what is no request is refused`(body: String) async throws {
    #expect(try await answer(.post, "/v1/projects/demo/installations", body).status == 400)
  }

  @Test func `bodies and routes are read as they are written`() throws {
    let token = InstallationToken(text: "t", lifetime: .seconds(77))
    let made = CreatedInstallation(id: "i", refreshToken: "r", token: token)
    #expect(try InstallationsWire.created(InstallationsWire.body(of: made, project: "p")) == made)
    #expect(try InstallationsWire.token(InstallationsWire.body(of: token)) == token)
    for request in [CreateInstallationRequest(id: "i", appID: "é"), CreateInstallationRequest(appID: "")] {
      #expect(try InstallationsWire.creation(InstallationsWire.body(of: request, sdkVersion: "1")) == request)
    }
    for call in [InstallationsRoute.Call.create, .generateToken(id: "a b/c"), .delete(id: "é")] {
      let route = InstallationsRoute(project: "p q", call)
      #expect(try InstallationsRoute(method: route.method, target: route.target) == route)
    }
    #expect(InstallationField.token("FIS abc") == "abc" && InstallationField.token("abc") == "abc")
    #expect(InstallationField.token("") == nil)
  }

  @Test func `damaged bodies and targets stop nothing`() {
    var random = SplitMix(seed: 3)
    let bodies = [
      InstallationsWire.body(of: CreateInstallationRequest(id: "i", appID: "a"), sdkVersion: "1"),
      InstallationsWire.body(
        of: CreatedInstallation(id: "i", refreshToken: "r", token: InstallationToken(text: "t", lifetime: .seconds(1))),
        project: "p"),
    ]
    for _ in 0..<30_000 {
      var body = random.pick(bodies)
      for _ in 0...random.below(3) { body[random.below(body.count)] = UInt8(random.below(256)) }
      _ = try? InstallationsWire.creation(body)
      _ = try? InstallationsWire.created(body)
      _ = try? InstallationsWire.token(body)
      let target = String(decoding: body, as: UTF8.self)
      _ = try? InstallationsRoute(method: "POST", target: "/v1/projects/\(target)/installations/\(target)")
    }
  }
}
