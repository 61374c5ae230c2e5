import Testing
import VestaAuthBackend
import VestaBytes
import VestaTransportInterop

/// Calls that clients and test suites make to a local server alone.
@Suite struct DevelopmentEndpointTests {
  private static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"

  /// A custom token whose signature cannot be verified.
  private func token(_ claims: JSONObject) throws -> String {
    try [#"{"alg":"RS256","typ":"JWT"}"#, String(decoding: claims.json(), as: UTF8.self), "signature"]
      .map { Base64.url.encode(Array($0.utf8)) }.joined(separator: ".")
  }

  @Test func `a custom token of any service account signs in`() async throws {
    let claims: JSONObject = [
      "iss": "a@b.iam.gserviceaccount.com", "sub": "a@b.iam.gserviceaccount.com", "aud": .string(Self.audience),
      "uid": "ada",
    ]
    let server = EndpointWorld()
    let signedIn = try await server.call("accounts:signInWithCustomToken", ["token": .string(try token(claims))])
    #expect(signedIn.status == 200 && signedIn["idToken"]?.string != nil)
    var other = claims
    other["aud"] = "another"
    let refused = try await server.call("accounts:signInWithCustomToken", ["token": .string(try token(other))])
    #expect(refused.message?.hasPrefix("INVALID_CUSTOM_TOKEN") == true)
    let closed = try await EndpointWorld(isDevelopment: false)
      .call("accounts:signInWithCustomToken", ["token": .string(try token(claims))])
    #expect(closed.message?.hasPrefix("INVALID_CUSTOM_TOKEN") == true)
  }

  @Test func `a tenant is there when a call names it, and is kept with its first user`() async throws {
    let server = EndpointWorld()
    let user: JSONObject = ["email": "a@b.c", "password": "secret", "tenantId": "corp"]
    let early = try await server.call("accounts:signInWithPassword", user)
    #expect(early.message == "EMAIL_NOT_FOUND")
    #expect(try await server.own("/tenants", method: .get, version: "v2")["tenants"]?.array == nil)
    #expect(try await server.call("accounts:signUp", user).status == 200)
    let signedIn = try await server.call("accounts:signInWithPassword", user)
    #expect(signedIn.status == 200)
    let tenants = try await server.own("/tenants", method: .get, version: "v2")["tenants"]?.array
    #expect(tenants?.count == 1 && tenants?[0].object?["allowPasswordSignup"] == true)
    let closed = try await EndpointWorld(isDevelopment: false).call("accounts:signUp", user)
    #expect(closed.message == "TENANT_NOT_FOUND")
  }

  @Test(arguments: ["oobCodes", "verificationCodes"])
  func `an empty list of codes is a list`(name: String) async throws {
    #expect(try await EndpointWorld().local(.get, name).body == [name: .array([])])
  }

  @Test(arguments: [
    ("http://localhost/#/finish", "http://localhost/?MODE#/finish"),
    ("http://localhost/x?y=1#frag", "http://localhost/x?y=1&MODE#frag"),
    ("http://localhost/x?y=1", "http://localhost/x?y=1&MODE"),
  ])
  func `the parameters of a link stand in front of a fragment`(page: String, expected: String) async throws {
    let url = PercentEncoding.unreserved.encode(page)
    let answer = try await EndpointWorld().send(.get, "/emulator/action?mode=signIn&oobCode=x&continueUrl=\(url)")
    #expect(answer.fields["location"] == expected.replacing("MODE", with: "mode=signIn&oobCode=x"))
  }

  @Test func `an owner makes a link that verifies and changes an address`() async throws {
    let server = EndpointWorld()
    _ = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let request: JSONObject = [
      "requestType": "VERIFY_AND_CHANGE_EMAIL", "email": "a@b.c", "newEmail": "n@b.c", "returnOobLink": true,
    ]
    let made = try await server.own("/accounts:sendOobCode", request)
    let code = try #require(made["oobCode"])
    #expect(made["oobLink"]?.string?.contains("mode=verifyAndChangeEmail") == true)
    #expect(try await server.call("accounts:update", ["oobCode": code])["email"] == "n@b.c")
    #expect(try await server.own("/accounts:sendOobCode", request).message == "USER_NOT_FOUND")
    #expect(try await server.call("accounts:sendOobCode", request).message == "INSUFFICIENT_PERMISSION")
  }

  @Test(arguments: [true, false])
  func `a user whose address is changed by a code stays signed in on a local server`(isDevelopment: Bool) async throws {
    let world = EndpointWorld(isDevelopment: isDevelopment)
    let made = try await world.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let token = try #require(made["idToken"])
    let asked = try await world.call(
      "accounts:sendOobCode", ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": token, "newEmail": "n@b.c"])
    #expect(asked.status == 200)
    let code = try world.world.emailedCode(.verifyAndChangeEmail, to: "n@b.c")
    #expect(try await world.call("accounts:update", ["oobCode": .string(code)])["email"] == "n@b.c")
    let seen = try await world.call("accounts:lookup", ["idToken": token])
    guard isDevelopment else { return #expect(seen.message == "TOKEN_EXPIRED") }
    let user = seen["users"]?.array?.first?.object
    #expect(user?["email"] == "n@b.c" && user?["emailVerified"] == true)
    let refreshed = try await world.send(
      .post, "/securetoken.googleapis.com/v1/token?key=k",
      try (["grantType": "refresh_token", "refreshToken": try #require(made["refreshToken"])] as JSONObject).json(),
      fields: [.contentType: "application/json"])
    #expect(refreshed.status == 200)
    // The change is taken back: nothing but the address is another one.
    let back = try world.world.emailedCode(.recoverEmail, to: "a@b.c")
    #expect(try await world.call("accounts:update", ["oobCode": .string(back)])["email"] == "a@b.c")
    #expect(try await world.call("accounts:lookup", ["idToken": token]).status == 200)
    let signedIn = try await world.call("accounts:signInWithPassword", ["email": "a@b.c", "password": "secret"])
    #expect(signedIn["localId"] == made["localId"])
  }

  @Test func `the code of a link that an owner makes is in the list of codes`() async throws {
    let server = EndpointWorld()
    _ = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let made = try await server.own(
      "/accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": "a@b.c", "returnOobLink": true])
    let listed = try await server.local(.get, "oobCodes")["oobCodes"]?.array ?? []
    #expect(listed.count == 1 && listed.first?.object?["oobCode"] == made["oobCode"])
    #expect(listed.first?.object?["oobLink"] == made["oobLink"])
  }

  @Test func `an empty phone number is none`() async throws {
    let server = EndpointWorld()
    let made = try await server.own("/accounts", ["email": "a@b.c", "phoneNumber": ""])
    let id = try #require(made["localId"])
    #expect(try await server.own("/accounts:update", ["localId": id, "phoneNumber": "+15550100"]).status == 200)
    #expect(try await server.own("/accounts:update", ["localId": id, "phoneNumber": ""]).status == 200)
    let user = try await server.own("/accounts:lookup", ["localId": [id]])["users"]?.array?.first?.object
    #expect(user?["phoneNumber"] == "+15550100")
  }

  @Test func `accounts are downloaded by the third version`() async throws {
    let (server, path) = (EndpointWorld(), "/www.googleapis.com/identitytoolkit/v3/relyingparty/downloadAccount")
    for id in ["a", "b", "c"] { _ = try await server.own("/accounts", ["localId": .string(id)]) }
    let owner: HTTPFields = [.authorization: "Bearer owner", .contentType: "application/json"]
    func download(_ body: JSONObject, _ fields: HTTPFields) async throws -> EndpointWorld.Answer {
      try await server.send(.post, "\(path)?key=k", try body.json(), fields: fields)
    }
    let first = try await download(["targetProjectId": "demo", "maxResults": 2], owner)
    #expect(first["users"]?.array?.count == 2)
    let token = try #require(first["nextPageToken"])
    let rest = try await download(["targetProjectId": "demo", "maxResults": "2", "nextPageToken": token], owner)
    #expect(rest["users"]?.array?.map { $0.object?["localId"] } == ["c"])
    #expect(try await download([:], owner).message == "INSUFFICIENT_PERMISSION")
    #expect(try await download(["targetProjectId": "demo"], [.contentType: "application/json"]).status >= 400)
  }

  @Test func `a user of Google is described as Google does`() async throws {
    let server = EndpointWorld()
    let claims = #"{"sub":"1","email":"a@b.c","email_verified":true,"name":"Ada","given_name":"Ada","iss":"x"}"#
    let body = "providerId=google.com&id_token=\(PercentEncoding.unreserved.encode(claims))"
    let answer = try await server.call(
      "accounts:signInWithIdp", ["requestUri": "http://localhost", "postBody": .string(body)])
    let user = try JSONObject(json: Array((answer["rawUserInfo"]?.string ?? "").utf8))
    #expect(user["id"] == "1" && user["verified_email"] == true && user["name"] == "Ada" && user["locale"] == "en")
    #expect(user["granted_scopes"]?.string?.contains("userinfo.email") == true && user["iss"] == nil)
  }

  @Test func `a query with a condition is refused, and never all accounts`() async throws {
    let server = EndpointWorld()
    _ = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    for query in [
      ["expression": [["email": "nobody@x.y"]]], ["limit": "1"], ["offset": 5], ["sortBy": "NAME"],
    ] as [JSONObject] { #expect(try await server.own("/accounts:query", query).status == 501, "\(query)") }
    for query in [[:], ["expression": [], "offset": "0", "sortBy": "USER_ID"]] as [JSONObject] {
      #expect(try await server.own("/accounts:query", query)["recordsCount"] == "1")
    }
  }

  @Test func `accounts are imported with the passwords that emulators export`() async throws {
    let server = EndpointWorld()
    let users: JSONObject = [
      "users": [["localId": "ada", "email": "a@b.c", "passwordHash": "fakeHash:salt=s:password=secret", "salt": "s"]]
    ]
    #expect(try await server.own("/accounts:batchCreate", users).body["error"] == nil)
    let signedIn = try await server.call("accounts:signInWithPassword", ["email": "a@b.c", "password": "secret"])
    #expect(signedIn.status == 200)
  }

  @Test func `a SAML provider signs in with the name of its subject`() async throws {
    let server = EndpointWorld()
    func signIn(_ response: String) async throws -> EndpointWorld.Answer {
      let body = "providerId=saml.my&SAMLResponse=\(PercentEncoding.unreserved.encode(response))"
      return try await server.call(
        "accounts:signInWithIdp", ["requestUri": "http://localhost", "postBody": .string(body)])
    }
    let signedIn = try await signIn(
      #"{"assertion":{"subject":{"nameId":"x@x.com"},"attributeStatements":{"role":"admin"}}}"#)
    #expect(signedIn.status == 200 && signedIn["email"] == "x@x.com" && signedIn["emailVerified"] == true)
    #expect(signedIn["rawUserInfo"] == #"{"role":"admin"}"#)
    for response in ["{}", "PHNhbWw+", #"{"assertion":{"subject":{}}}"#] {
      #expect(try await signIn(response).message?.hasPrefix("INVALID_IDP_RESPONSE") == true)
    }
  }

  @Test func `providers give an access token, and the SDK for the web an account to compare`() async throws {
    let server = EndpointWorld()
    func signIn(_ name: String, _ client: String?) async throws -> EndpointWorld.Answer {
      let claims = #"{"sub":"\#(name)","email":"\#(name)@example.com","email_verified":true}"#
      let body = "providerId=github.com&id_token=\(PercentEncoding.unreserved.encode(claims))"
      var fields: HTTPFields = [.contentType: "application/json"]
      if let client { fields.append("x-client-version", client) }
      let request: JSONObject = ["requestUri": "http://localhost", "postBody": .string(body), "autoCreate": false]
      return try await server.send(
        .post, "/identitytoolkit.googleapis.com/v1/accounts:signInWithIdp?key=k", try request.json(), fields: fields)
    }
    for client in [nil, "iOS/FirebaseSDK/11.0/FirebaseCore-iOS"] {
      let refused = try await signIn("ada", client).message
      #expect(refused == "USER_NOT_FOUND")
    }
    let made = try await signIn("ada", "Chrome/JsCore/11.3.0/FirebaseCore-web")
    #expect(made.status == 200 && made["isNewUser"] == true)
    #expect(made["oauthAccessToken"] == "FirebaseAuthEmulatorFakeAccessToken_github.com")
    #expect(try await signIn("ada", nil).status == 200)
  }

  @Test func `names of the third version are served by any method`() async throws {
    let (server, path) = (EndpointWorld(), "/www.googleapis.com/identitytoolkit/v3/relyingparty")
    for method in [HTTPMethod.get, .post] {
      #expect(try await server.send(method, "\(path)/getProjectConfig?key=k")["authorizedDomains"]?.array != nil)
      #expect(try await server.send(method, "\(path)/publicKeys?key=k").status == 200)
      #expect(try await server.send(method, "\(path)/getRecaptchaParam?key=k")["recaptchaSiteKey"] != nil)
      #expect(try await server.send(method, "\(path)/signOutUser?key=k").status == 501)
    }
  }

  @Test func `members that are an owner's alone are refused`() async throws {
    let server = EndpointWorld()
    let made = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let token = try #require(made["idToken"])
    let signUp = try await server.call("accounts:signUp", ["localId": "me"])
    #expect(signUp.message == "UNEXPECTED_PARAMETER : User ID")
    let claims = try await server.call("accounts:update", ["idToken": token, "customAttributes": "{}"])
    #expect(claims.message == "INSUFFICIENT_PERMISSION")
    let disabled = try await server.call("accounts:update", ["idToken": token, "disableUser": true])
    #expect(disabled.message == "OPERATION_NOT_ALLOWED")
  }
}
