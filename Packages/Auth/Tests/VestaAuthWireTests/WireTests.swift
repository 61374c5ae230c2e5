import Testing
import VestaAuthBackend
import VestaBytes
import VestaTesting

@testable import VestaAuthWire

@Suite struct AuthWireTests {
  @Test func `messages have the members of the service`() throws {
    #expect(
      text(try PasswordSignInRequestWire.json(of: PasswordSignInRequest(email: "a@b", password: "p")))
        == #"{"email":"a@b","password":"p","returnSecureToken":true}"#)
    let tokens = AuthTokens(idToken: "i", refreshToken: "r", expiresIn: 3_600)
    let response = PasswordSignInResponse(localID: "u", email: "a@b", outcome: .signedIn(tokens))
    #expect(
      text(try PasswordSignInResponseWire.json(of: response))
        == #"{"kind":"identitytoolkit#VerifyPasswordResponse","localId":"u","email":"a@b","registered":true,"idToken":"i","refreshToken":"r","expiresIn":"3600"}"#
    )
    let custom = CustomTokenSignInResponse(localID: "u", isNewUser: false, tokens: tokens)
    #expect(text(try CustomTokenSignInResponseWire.json(of: custom)).contains(#""isNewUser":false"#))
    #expect(
      text(try LookupResponseWire.json(of: LookupResponse(users: [])))
        == #"{"kind":"identitytoolkit#GetAccountInfoResponse"}"#)
    let user = AuthUser(
      localID: "u", hasPassword: true, passwordUpdatedAt: 5, validSince: 6, createdAt: 7, lastRefreshAt: 1_500,
      mfaInfo: [MfaEnrollment(mfaEnrollmentID: "m", factor: .totp, enrolledAt: 1_000)])
    #expect(
      text(try AuthUserWire.json(of: user))
        == #"{"localId":"u","passwordHash":"UkVEQUNURUQ=","passwordUpdatedAt":5,"validSince":"6","createdAt":"7","lastRefreshAt":"1970-01-01T00:00:01.500Z","mfaInfo":[{"mfaEnrollmentId":"m","totpInfo":{},"enrolledAt":"1970-01-01T00:00:01Z"}]}"#
    )
    let pending = IdpSignInResponse(providerID: "p", federatedID: "https://a/7", rawID: "")
    let json = try IdpSignInResponseWire.json(of: pending)
    #expect(!text(json).contains("needConfirmation"))
    #expect(try IdpSignInResponseWire.value(json: JSONValue(json: json)).rawID == "7")
  }

  @Test func `either spelling, names and numbers of enumerations, and unknown members are read`() throws {
    func update(_ json: String) throws -> UpdateRequest {
      try UpdateRequestWire.message(json: utf8(json), ignoresUnknownNames: true)
    }
    let request = try update(
      #"{"id_token":"t","photo_url":"p","delete_attribute":[2,"EMAIL","PROVIDER"],"provider":[],"new":{}}"#)
    #expect(request == UpdateRequest(idToken: "t", photoURL: "p", deleteAttributes: [.displayName, .email]))
    let android = try SendOobCodeRequestWire.message(
      json: utf8(#"{"requestType":6,"iOSBundleId":"b","clientType":"X"}"#), ignoresUnknownNames: true)
    #expect(android.requestType == .emailSignIn && android.settings.iosBundleID == "b")
    #expect(throws: BytesError.self) { _ = try update(#"{"deleteAttribute":["NEW"]}"#) }
    #expect(throws: BytesError.self) { _ = try update(#"{"email":5}"#) }
  }

  @Test func `a custom token's response without a user id takes it from the token`() throws {
    let token = "e30.\(Base64.url.encode(utf8(#"{"user_id":"u1","sub":"u2"}"#)))."
    let body = #"{"isNewUser":true,"idToken":"\#(token)","refreshToken":"r"}"#
    let response = try CustomTokenSignInResponseWire.value(json: JSONValue(json: body))
    #expect(response.localID == "u1" && response.isNewUser && response.tokens.expiresIn == 3_600)
    for token in ["x", "a.b.c", "e30.W10."] {
      let body = #"{"idToken":"\#(token)","refreshToken":"r"}"#
      #expect(throws: BytesError.self) { _ = try CustomTokenSignInResponseWire.value(json: JSONValue(json: body)) }
    }
  }

  @Test func `the credential of a provider is a form, and its sources have an order`() throws {
    let body =
      #"{"requestUri":"http://h/?providerId=a&id_token=q&nonce=n#id_token=f","postBody":"providerId=b&id_token=x"}"#
    let request = try IdpSignInRequestWire.value(json: JSONValue(json: body))
    #expect(request.credential.providerID == "b" && request.credential.idToken == "f")
    #expect(request.credential.rawNonce == "n" && request.autoCreate && !request.returnIdpCredential)
    #expect(throws: BytesError.self) { _ = try IdpSignInRequestWire.value(json: ["postBody": "%zz"]) }
  }

  @Test func `imports name their algorithm, and another one is refused`() throws {
    let request = BatchCreateRequest(users: [], hash: .standardScrypt(costLog2: 14, blockSize: 8, parallelism: 1))
    #expect(
      text(try BatchCreateRequestWire.json(of: request))
        == #"{"hashAlgorithm":"STANDARD_SCRYPT","cpuMemCost":16384,"blockSize":8,"parallelization":1}"#)
    for json: JSONValue in [
      ["hashAlgorithm": "ARGON2"], ["hashAlgorithm": "MD5"], ["hashAlgorithm": "SCRYPT"],
      ["hashAlgorithm": "PBKDF2_SHA256", "rounds": -1],
      ["hashAlgorithm": "STANDARD_SCRYPT", "cpuMemCost": 3, "blockSize": 8, "parallelization": 1],
    ] {
      #expect(throws: BytesError.self) { _ = try BatchCreateRequestWire.value(json: json, ignoresUnknownNames: true) }
    }
    let get = BatchGetRequest(maxResults: 7, nextPageToken: "a&b")
    #expect(try BatchGetWire.request(query: BatchGetWire.query(of: get)) == get)
    #expect(try BatchGetWire.request(query: "").maxResults == 20)
    #expect(throws: BytesError.self) { _ = try BatchGetWire.request(query: "maxResults=x") }
  }

  @Test func `random messages survive a round trip`() throws {
    var random = SplitMix(seed: 1)
    for round in 0..<30_000 {
      let sample = try random.sample()
      if try !sample.read(sample.json) { Issue.record("round \(round): \(sample.name) \(text(sample.json))"); return }
    }
  }

  @Test func `hostile bodies are a message or an error`() throws {
    var random = SplitMix(seed: 2)
    var refused = 0
    for _ in 0..<20_000 {
      let sample = try random.sample()
      do { _ = try sample.read(random.damaged(sample.json)) } catch { refused += 1 }
    }
    #expect(refused > 4_000 && refused < 19_800, "\(refused)")
    let deep = utf8(String(repeating: #"{"mfaInfo":["#, count: 50_000))
    #expect(throws: BytesError.self) { _ = try AuthUserWire.message(json: deep, ignoresUnknownNames: true) }
  }

  @Test func `refresh tokens are exchanged by a form or JSON`() throws {
    let request = RefreshRequest(refreshToken: "a+b&c")
    #expect(text(RefreshWire.body(of: request)) == "grant_type=refresh_token&refresh_token=a%2Bb%26c")
    #expect(try RefreshWire.request(body: RefreshWire.body(of: request), contentType: nil) == request)
    let apple = utf8(#"{"grantType":"refresh_token","refreshToken":"a+b&c"}"#)
    #expect(try RefreshWire.request(body: apple, contentType: "application/json; charset=utf-8") == request)
    func code(_ body: String) -> AuthServiceError.Code? {
      do {
        _ = try RefreshWire.request(body: utf8(body), contentType: nil)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code("") == .init("MISSING_GRANT_TYPE"))
    #expect(code("grant_type=x") == .init("INVALID_GRANT_TYPE"))
    #expect(code("grant_type=refresh_token") == .init("MISSING_REFRESH_TOKEN"))
    #expect(code("%") == .invalidArgument)
    let response = RefreshResponse(
      tokens: AuthTokens(idToken: "i", refreshToken: "r", expiresIn: 60), userID: "u", projectID: "12345")
    let body = try RefreshWire.body(of: response)
    #expect(text(body).hasPrefix(#"{"access_token":"i","expires_in":"60","token_type":"Bearer""#))
    #expect(try RefreshWire.response(body: body) == response)
    #expect(throws: BytesError.self) { _ = try RefreshWire.response(body: utf8("{}")) }
  }

  @Test func `types of tokens to revoke are names or their numbers`() throws {
    let types: [(String, RevokeTokenRequest.TokenType)] = [
      (#""REFRESH_TOKEN""#, .refreshToken), (#""CODE""#, .code), ("1", .refreshToken), ("2", .accessToken),
      ("3", .code),
    ]
    for (json, type) in types {
      #expect(try RevokeTokenRequestWire.message(json: utf8(#"{"tokenType":\#(json)}"#)).tokenType == type, "\(json)")
    }
  }

  @Test func `errors are codes with details, and canonical ones have their status`() throws {
    func roundTrip(_ error: AuthServiceError) -> (Int, AuthServiceError) {
      let response = AuthErrorWire.response(of: error)
      return (response.status, AuthErrorWire.error(status: response.status, body: response.body))
    }
    let errors: [(AuthServiceError, Int)] = [
      (AuthServiceError(.emailNotFound), 400), (AuthServiceError(.init("WEAK_PASSWORD"), "Use : more"), 400),
      (AuthServiceError(.unavailable, "later"), 503), (AuthServiceError(.internalError), 500),
      (AuthServiceError(.notImplemented, "x"), 501), (AuthServiceError(.invalidArgument, "x"), 400),
    ]
    for (error, status) in errors {
      let read = roundTrip(error)
      #expect(read.0 == status && read.1 == error, "\(error)")
    }
    #expect(
      text(AuthErrorWire.response(of: AuthServiceError(.emailExists)).body)
        == #"{"error":{"code":400,"message":"EMAIL_EXISTS","errors":[{"message":"EMAIL_EXISTS","domain":"global","reason":"invalid"}]}}"#
    )
    let sentence =
      #"{"error":{"code":400,"message":"Invalid JSON payload received. x: y","status":"INVALID_ARGUMENT"}}"#
    let read = AuthErrorWire.error(status: 400, body: utf8(sentence))
    #expect(read == AuthServiceError(.invalidArgument, "Invalid JSON payload received. x: y"))
    // No code: brackets are in none.
    let bracket = AuthErrorWire.error(status: 400, body: utf8(#"{"error":{"code":400,"message":"USERS[0"}}"#))
    #expect(bracket == AuthServiceError(.invalidArgument, "USERS[0"))
    #expect(AuthErrorWire.error(status: 503, body: utf8("<html>")).code == .unavailable)
    #expect(AuthErrorWire.error(status: 404, body: []).code == .internalError)
  }

  @Test func `routes of all versions name their call`() throws {
    func route(_ method: String, _ target: String) throws -> AuthRoute? {
      try AuthRoute(method: method, target: target)
    }
    #expect(try route("POST", "/v1/accounts:signUp?key=k") == AuthRoute(.signUp, apiKey: "k"))
    #expect(
      try route("POST", "/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword?key=k")
        == AuthRoute(.signInWithPassword, apiKey: "k"))
    #expect(
      try route("POST", "/identitytoolkit.googleapis.com/v2/accounts/mfaSignIn:start")?.call == .startMfaSignIn)
    #expect(try route("POST", "/securetoken.googleapis.com/v1/token")?.call == .token)
    #expect(
      try route("POST", "/v1/projects/p/tenants//accounts:batchCreate") == AuthRoute(.batchCreate, project: "p"))
    #expect(try route("POST", "/v1/projects/p/accounts")?.call == .signUp)
    for target in ["/", "/v1", "/v1/accounts:none", "/v3/accounts:signUp", "/v1/projects", "/v1/accounts"] {
      #expect(try route("POST", target) == nil, "\(target)")
    }
    #expect(try route("GET", "/v1/accounts:signUp") == nil)
    var random = SplitMix(seed: 3)
    for _ in 0..<20_000 {
      let project = random.pick([nil, "p é"])
      let route = AuthRoute(
        random.pick(AuthRoute.Call.allCases), project: project,
        tenant: project == nil ? nil : random.pick([nil, "t/x"]), apiKey: random.pick([nil, "k&"]))
      if try AuthRoute(method: route.method, target: route.target) != route { Issue.record("\(route.target)"); return }
      _ = try? AuthRoute(method: "POST", target: text(random.damaged(utf8(route.target))))
    }
  }

  @Test func `an owner's requests are read as Admin SDKs write them`() throws {
    func update(_ json: String) throws -> AdminUpdateRequest {
      try AdminUpdateRequestWire.message(json: utf8(json), ignoresUnknownNames: true)
    }
    #expect(
      try update(#"{"localId":"u","validSince":1700,"customAttributes":"{}","disableUser":false,"mfa":{}}"#)
        == AdminUpdateRequest(
          localID: "u", disabled: false, customAttributes: "{}", validSince: 1_700, mfaFactors: []))
    #expect(try update(#"{"localId":"u","validSince":"1700"}"#).mfaFactors == nil)
    let cookie = try CreateSessionCookieRequestWire.message(
      json: utf8(#"{"idToken":"t","validDuration":600}"#), ignoresUnknownNames: true)
    #expect(cookie.validDuration == 600)
    #expect(try CreateSessionCookieRequestWire.message(json: utf8("{}")).validDuration == 1_209_600)
    #expect(try QueryUsersRequestWire.message(json: utf8("{}")).returnsUsers)
    #expect(
      text(try QueryUsersResponseWire.json(of: QueryUsersResponse(count: 0))) == #"{"recordsCount":"0"}"#)
    #expect(text(try SentOobCodesWire.json(of: [])) == "{}")
  }

  @Test func `settings change by the members that are there, and by a mask`() throws {
    var config = ProjectConfig()
    let object = ProjectConfigWire.emulatorJSON(of: config)
    #expect(
      text(try object.json())
        == #"{"signIn":{"allowDuplicateEmails":false},"emailPrivacyConfig":{"enableImprovedEmailPrivacy":true}}"#)
    let change: JSONObject = [
      "signIn": ["allowDuplicateEmails": true, "anonymous": ["enabled": false]], "authorizedDomains": ["a.b"], "new": 1,
    ]
    let some = try ProjectConfigWire.change(
      change, mask: ["signIn.allowDuplicateEmails", "mfa.state"], current: config)
    #expect(some.members == [.allowsDuplicateEmails, .signIn(.mfaState)])
    #expect(some.config.allowsDuplicateEmails && some.config.signIn.mfaState == .disabled, "absent and named: reset")
    let signIn = try ProjectConfigWire.change(change, mask: ["signIn"], current: config)
    #expect(signIn.members.contains(.signIn(.allowsPhone)) && !signIn.members.contains(.hidesEmails))
    #expect(!signIn.config.signIn.allowsAnonymous && !signIn.config.signIn.allowsPhone)
    let inside = try ProjectConfigWire.change(
      ["passwordPolicyConfig": ["forceUpgradeOnSignin": true]],
      mask: ["passwordPolicyConfig.forceUpgradeOnSignin", "authorizedDomains.x"], current: config)
    #expect(inside.members == [.passwordPolicy] && inside.config.passwordPolicy.forcesUpgradeOnSignIn)
    #expect(inside.config.passwordPolicy.minimumLength == config.passwordPolicy.minimumLength)
    #expect(try ProjectConfigWire.change(change, mask: nil, current: config).members.count == 3)
    try ProjectConfigWire.merge(change, into: &config)
    #expect(config.authorizedDomains == ["a.b"])
    var again = ProjectConfig()
    try ProjectConfigWire.merge(ProjectConfigWire.json(of: config, project: "p"), into: &again)
    #expect(again == config)
    for wrong: JSONObject in [
      ["signIn": ["allowDuplicateEmails": 1]], ["authorizedDomains": [1]], ["mfa": ["state": "X"]],
      ["mfa": ["enabledProviders": 1]], ["passwordPolicyConfig": ["passwordPolicyEnforcementState": 1]],
    ] {
      #expect(throws: BytesError.self) { try ProjectConfigWire.merge(wrong, into: &config) }
    }
    #expect(again == config)
  }

  @Test func `a new tenant may do what its request says, and a policy survives a round trip`() throws {
    let request = try TenantWire.createRequest(["displayName": "corp", "allowPasswordSignup": true])
    #expect(request.displayName == "corp" && request.signIn.allowsPasswords && !request.signIn.allowsAnonymous)
    #expect(request.signIn.mfaState == .disabled)
    let tenant = Tenant(tenantID: "t", displayName: "corp", signIn: request.signIn)
    let json = TenantWire.json(of: tenant, project: "p")
    #expect(json["name"] == "projects/p/tenants/t" && json["disableAuth"] == false)
    let changed = try TenantWire.updateRequest(
      ["disableAuth": true, "displayName": "x"], tenantID: "t", mask: ["disableAuth"])
    #expect(changed.members == [.signIn(.isDisabled)] && changed.tenant.signIn.isDisabled)
    let unnamed = try TenantWire.updateRequest([:], tenantID: "t", mask: ["displayName"])
    #expect(unnamed.members == [.displayName] && unnamed.tenant.displayName == nil)
    let policy = PasswordPolicy(minimumLength: 8, requiresNumeric: true, isEnforced: true)
    #expect(try PasswordPolicyWire.policy(PasswordPolicyWire.json(of: policy)) == policy)
  }

  @Test func `routes of projects are read`() throws {
    func call(_ method: String, _ target: String) throws -> AuthProjectRoute.Call? {
      try AuthProjectRoute(method: method, target: target)?.call
    }
    let host = "/identitytoolkit.googleapis.com"
    #expect(try call("GET", "\(host)/v1/projects?key=k") == .publicConfig)
    let cookie = try #require(try AuthProjectRoute(method: "POST", target: "\(host)/v1/projects/p:createSessionCookie"))
    #expect(cookie.call == .createSessionCookie && cookie.project == "p" && cookie.tenant == nil)
    let own = try AuthProjectRoute(method: "POST", target: "/v1/projects/p/tenants/t:createSessionCookie")
    #expect(own?.project == "p" && own?.tenant == "t")
    #expect(try call("PATCH", "/v2/projects/p/config?updateMask=a.b,c") == .updateConfig(mask: ["a.b", "c"]))
    #expect(
      try call("GET", "/v2/projects/p/tenants?pageSize=3&pageToken=x") == .listTenants(pageSize: 3, pageToken: "x"))
    #expect(try call("DELETE", "/v2/projects/p/tenants/t") == .deleteTenant("t"))
    for target in [
      "/", "/v1", "/v2", "\(host)/v2", "/v1/projects/p", "/v1/projects/p/databases", "/v2/projects/p/tenants/t/x",
      "/v3/projects/p/config",
    ] {
      #expect(try call("GET", target) == nil, "\(target)")
    }
    var random = SplitMix(seed: 4)
    for _ in 0..<20_000 {
      let target = random.pick([
        "/v1/projects/p:createSessionCookie", "/v2/projects/p/tenants/t?updateMask=x", "/v2/projects/p/config",
      ])
      _ = try? AuthProjectRoute(
        method: random.pick(["GET", "POST", "PATCH"]), target: text(random.damaged(utf8(target))))
    }
  }

  @Test(arguments: [
    (nil as String?, Int64(0)), ("", 0), ("no-store", 0), ("max-age", 0), ("max-age=x", 0), ("max-age=-5", 0),
    ("public, max-age=60", 60), ("Max-Age=7,must-revalidate", 7), ("s-maxage=9, max-age=3", 3),
  ])
  func `the age of keys is that of their cache-control`(_ text: String?, _ age: Int64) {
    #expect(CacheControlWire.maximumAge(text) == age)
    #expect(CacheControlWire.maximumAge(CacheControlWire.text(maximumAge: age)) == age)
    #expect(CacheControlWire.text(maximumAge: nil) == "no-store")
  }

  @Test func `a tenant is added to a body and read from it`() throws {
    let body = try AuthBodyWire.adding(tenant: "t", to: utf8(#"{"a":1}"#))
    #expect(text(body) == #"{"a":1,"tenantId":"t"}"# && AuthBodyWire.tenant(of: body) == "t")
    #expect(try AuthBodyWire.adding(tenant: nil, to: []) == [])
    #expect(AuthBodyWire.tenant(of: utf8(#"{"tenant_id":"x"}"#)) == "x" && AuthBodyWire.tenant(of: []) == nil)
  }
}
