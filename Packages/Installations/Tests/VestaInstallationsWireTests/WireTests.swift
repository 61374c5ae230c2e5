import Testing
import VestaBytes
import VestaInstallationsBackend
import VestaInstallationsWire
import VestaTesting

private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension SplitMix {
  fileprivate mutating func text() -> String { pick(["", "a", "é", "\u{1F600}", "\"\\/'", "\u{0}", "{}", "x:1"]) }

  fileprivate mutating func token() -> InstallationToken {
    InstallationToken(text: text(), lifetime: .seconds(pick([0, 1, 604_800, 315_576_000_000])))
  }
}

@Suite struct InstallationsWireTests {
  @Test func `random messages come back as they were`() throws {
    var random = SplitMix(seed: 27)
    for _ in 0..<5_000 {
      let request = CreateInstallationRequest(id: random.oneIn(2) ? nil : random.text(), appID: random.text())
      let body = InstallationsWire.body(of: request, sdkVersion: random.text())
      #expect(try InstallationsWire.creation(body) == request)
      let made = CreatedInstallation(id: random.text(), refreshToken: random.text(), token: random.token())
      #expect(try InstallationsWire.created(InstallationsWire.body(of: made, project: random.text())) == made)
      let token = random.token()
      #expect(try InstallationsWire.token(InstallationsWire.body(of: token)) == token)
      let secret = random.text()
      let field = InstallationsWire.authorization(refreshToken: secret)
      #expect(InstallationsWire.refreshToken(authorization: field) == secret)
    }
  }

  @Test func `bodies have the members of the service`() {
    let request = CreateInstallationRequest(id: "f", appID: "1:2:web:3")
    #expect(
      text(InstallationsWire.body(of: request, sdkVersion: "w:1"))
        == #"{"fid":"f","authVersion":"FIS_v2","appId":"1:2:web:3","sdkVersion":"w:1"}"#)
    let token = InstallationToken(text: "t", lifetime: .milliseconds(1_500))
    let made = CreatedInstallation(id: "f", refreshToken: "r", token: token)
    #expect(
      text(InstallationsWire.body(of: made, project: "p"))
        == #"{"name":"projects/p/installations/f","fid":"f","refreshToken":"r","authToken":{"token":"t","expiresIn":"1s"}}"#
    )
    #expect(
      text(InstallationsWire.body(ofTokenRequest: "w:1")) == #"{"installation":{"sdkVersion":"w:1"}}"#)
  }

  @Test func `members that are not known are ignored, and an answer without an id has kept that of the request`() throws
  {
    let body = utf8(#"{"refreshToken":"r","authToken":{"token":"t","expiresIn":"7.5s","x":[]},"new":{}}"#)
    let made = try InstallationsWire.created(body, requested: "f")
    #expect(made.id == "f" && made.token.lifetime == .milliseconds(7_500))
    #expect(throws: BytesError.self) { try InstallationsWire.created(body) }
    #expect(try InstallationsWire.creation(utf8(#"{"authVersion":7,"appId":null}"#)).appID == "")
  }

  @Test(arguments: [
    "", "[]", #"{"token":"t"}"#, #"{"expiresIn":"1s"}"#, #"{"token":7,"expiresIn":"1s"}"#,
    #"{"token":"t","expiresIn":1}"#,
    #"{"token":"t","expiresIn":"1"}"#, #"{"token":"t","expiresIn":"-1s"}"#, #"{"token":"t","expiresIn":"s"}"#,
    #"{"token":"t","expiresIn":"315576000001s"}"#,
  ])
  func `a token without its text or its time is refused`(body: String) {
    #expect(throws: BytesError.self) { try InstallationsWire.token(utf8(body)) }
    #expect(throws: BytesError.self) {
      try InstallationsWire.created(utf8(#"{"fid":"f","refreshToken":"r","authToken":\#(body)}"#))
    }
  }

  @Test func `an answer without its secret or its token is refused, and so is a body that is too large or too deep`() {
    for body in [
      #"{"fid":"f","refreshToken":"r"}"#, #"{"fid":"f","authToken":{"token":"t","expiresIn":"1s"}}"#, #"{"fid":7}"#,
    ] {
      #expect(throws: BytesError.self) { try InstallationsWire.created(utf8(body)) }
    }
    let spaces = String(repeating: " ", count: InstallationsWire.limits.maximumSize)
    #expect(throws: BytesError.self) { try InstallationsWire.creation(utf8("{}" + spaces)) }
    let deep = String(repeating: "[", count: 17) + String(repeating: "]", count: 17)
    #expect(throws: BytesError.self) { try InstallationsWire.creation(utf8(#"{"x":\#(deep)}"#)) }
    #expect(throws: BytesError.self) { try InstallationsWire.creation(utf8(#"{"appId":7}"#)) }
  }

  @Test func `the field of another credential has no refresh token`() {
    for field in [nil, "", "FIS_v2", "FIS_v1 r", "Bearer r"] {
      #expect(InstallationsWire.refreshToken(authorization: field) == nil)
    }
    #expect(InstallationsWire.refreshToken(authorization: "FIS_v2 r s") == "r s")
  }

  @Test func `routes are read as they are written, with a slash at the end as well`() throws {
    for call in [InstallationsRoute.Call.create, .generateToken(id: "a/b"), .delete(id: "é?")] {
      let route = InstallationsRoute(project: "p q", call)
      #expect(try InstallationsRoute(method: route.method, target: route.target) == route)
      #expect(try InstallationsRoute(method: route.method, target: route.target + "/?key=k") == route)
      #expect(try InstallationsRoute(method: "PUT", target: route.target) == nil)
    }
    for target in ["/", "/v1/projects/p", "/v2/projects/p/installations", "/v1/projects/p/remoteConfig"] {
      #expect(try InstallationsRoute(method: "POST", target: target) == nil)
    }
    #expect(throws: BytesError.self) {
      try InstallationsRoute(method: "POST", target: "/v1/projects/%zz/installations")
    }
  }
}
