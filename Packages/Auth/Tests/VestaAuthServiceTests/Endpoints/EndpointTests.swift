import Testing
import VestaAuthBackend
import VestaAuthEndpoints
import VestaBytes
import VestaTransportInterop

@testable import VestaAuthService

/// The calls of clients over the routes of Identity Toolkit.
@Suite struct AuthEndpointTests {
  @Test func `a user signs up, signs in, is looked up, changed and deleted`() async throws {
    let server = EndpointWorld()
    let made = try await server.call("accounts:signUp", ["email": "Ada@example.com", "password": "secret"])
    #expect(made.status == 200 && made["kind"] == "identitytoolkit#SignupNewUserResponse")
    #expect(made["email"] == "ada@example.com" && made["expiresIn"] == "3600")
    let token = try #require(made["idToken"])
    let signedIn = try await server.call(
      "accounts:signInWithPassword", ["email": "ada@example.com", "password": "secret", "returnSecureToken": true])
    #expect(signedIn["registered"] == true && signedIn["localId"] == made["localId"])
    let found = try await server.call("accounts:lookup", ["idToken": token])
    let user = found["users"]?.array?.first?.object
    #expect(user?["localId"] == made["localId"] && user?["createdAt"]?.string != nil)
    let changed = try await server.call("accounts:update", ["idToken": token, "displayName": "Ada"])
    #expect(changed["displayName"] == "Ada")
    let ways = try await server.call(
      "accounts:createAuthUri", ["identifier": "ada@example.com", "continueUri": "http://localhost"])
    #expect(ways["registered"] == true && ways["signinMethods"] == ["password"])
    let deleted = try await server.call("accounts:delete", ["idToken": token])
    #expect(deleted.status == 200 && deleted["kind"] == "identitytoolkit#DeleteAccountResponse")
    #expect(try await server.call("accounts:lookup", ["idToken": token]).message == "USER_NOT_FOUND")
  }

  @Test func `errors have the service's envelope`() async throws {
    let server = EndpointWorld()
    _ = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let again = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    #expect(again.status == 400 && again.message == "EMAIL_EXISTS" && again["error"]?.object?["status"] == nil)
    #expect(again["error"]?.object?["errors"]?.array?.first?.object?["reason"] == "invalid")
    let weak = try await server.call("accounts:signUp", ["email": "b@b.c", "password": "x"])
    #expect(weak.message == "WEAK_PASSWORD : Password should be at least 6 characters")
    #expect(try await server.call("accounts:lookup", ["idToken": "x.y"]).message == "INVALID_ID_TOKEN")
    for body in ["{", "[]", "null"] {
      let bad = try await server.send(
        .post, "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", Array(body.utf8))
      #expect(bad.status == 400 && bad["error"]?.object?["status"] == "INVALID_ARGUMENT")
      #expect(bad.message?.contains("Invalid JSON payload received. ") == true)
    }
    let wrong = try await server.call("accounts:signUp", ["email": 5])
    #expect(wrong.status == 400 && wrong["error"]?.object?["status"] == "INVALID_ARGUMENT")
  }

  @Test func `a call needs a key, and a project of the path a credential`() async throws {
    let server = EndpointWorld()
    let host = "/identitytoolkit.googleapis.com/v1"
    let without = try await server.send(.post, "\(host)/accounts:signUp", Array("{}".utf8))
    #expect(without.status == 403 && without["error"]?.object?["status"] == "PERMISSION_DENIED")
    let header = try await server.send(.post, "\(host)/accounts:signUp", [], fields: ["x-goog-api-key": "k"])
    #expect(header.status == 200)
    let named = try await server.send(.post, "\(host)/projects/demo/accounts:lookup?key=k", Array("{}".utf8))
    #expect(named.message?.hasPrefix("INSUFFICIENT_PERMISSION : ") == true)
    let body = try await server.call("accounts:signUp", ["targetProjectId": "demo"])
    #expect(body.message?.hasPrefix("INSUFFICIENT_PERMISSION : ") == true)
    #expect(try await server.call("accounts:batchDelete", ["localIds": ["a"]]).status == 403)
    let other = try await server.send(
      .post, "\(host)/projects/other/accounts:lookup", Array("{}".utf8), fields: [.authorization: "Bearer owner"])
    #expect(other.status == 404)
    #expect(try await server.send(.get, "\(host)/nothing?key=k").status == 404)
  }

  @Test func `a refresh token is exchanged by a form and by JSON`() async throws {
    let server = EndpointWorld()
    let made = try await server.call("accounts:signUp")
    let refresh = try #require(made["refreshToken"]?.string)
    var form = FormFields()
    form.append("grant_type", "refresh_token")
    form.append("refresh_token", refresh)
    let path = "/securetoken.googleapis.com/v1/token?key=k"
    let first = try await server.send(
      .post, path, Array(form.text.utf8), fields: [.contentType: "application/x-www-form-urlencoded"])
    #expect(first["user_id"] == made["localId"] && first["expires_in"] == "3600" && first["token_type"] == "Bearer")
    let json: JSONObject = ["grantType": "refresh_token", "refreshToken": .string(refresh)]
    let second = try await server.send(.post, path, try json.json(), fields: [.contentType: "application/json"])
    #expect(second["id_token"]?.string?.hasSuffix(".") == true)
    let none = try await server.send(.post, path, [], fields: [.contentType: "application/x-www-form-urlencoded"])
    #expect(none.message == "MISSING_GRANT_TYPE")
  }

  @Test func `Apple's clients use the names of the third version`() async throws {
    let server = EndpointWorld()
    let path = "/www.googleapis.com/identitytoolkit/v3/relyingparty"
    let body: JSONObject = ["email": "a@b.c", "password": "secret"]
    #expect(try await server.send(.post, "\(path)/signupNewUser?key=k", try body.json()).status == 200)
    let signedIn = try await server.send(.post, "\(path)/verifyPassword?key=k", try body.json())
    #expect(signedIn["registered"] == true)
  }

  @Test func `codes by e-mail and to phones are found, and used`() async throws {
    let server = EndpointWorld()
    _ = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let sent = try await server.call("accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": "a@b.c"])
    #expect(sent["email"] == "a@b.c" && sent["oobCode"] == nil)
    let codes = try await server.local(.get, "oobCodes")
    let code = try #require(codes["oobCodes"]?.array?.last?.object)
    #expect(code["requestType"] == "PASSWORD_RESET" && code["oobLink"]?.string != nil)
    let oobCode = try #require(code["oobCode"])
    let reset = try await server.call("accounts:resetPassword", ["oobCode": oobCode, "newPassword": "another"])
    #expect(reset["email"] == "a@b.c" && reset["requestType"] == "PASSWORD_RESET")
    let text = try await server.call("accounts:sendVerificationCode", ["phoneNumber": "+15550000001"])
    let texts = try await server.local(.get, "verificationCodes")
    let message = try #require(texts["verificationCodes"]?.array?.last?.object)
    #expect(message["sessionInfo"] == text["sessionInfo"])
    let signedIn = try await server.call(
      "accounts:signInWithPhoneNumber",
      ["sessionInfo": try #require(message["sessionInfo"]), "code": try #require(message["code"])])
    #expect(signedIn["phoneNumber"] == "+15550000001" && signedIn["isNewUser"] == true)
  }

  @Test func `the page behind a link does what its code is for`() async throws {
    let server = EndpointWorld()
    let made = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    _ = try await server.call(
      "accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": try #require(made["idToken"])])
    let code = try #require(
      try await server.local(.get, "oobCodes")["oobCodes"]?.array?.last?.object?["oobCode"]?.string)
    let target = "/emulator/action?mode=verifyEmail&oobCode=\(code)"
    let done = try await server.send(.get, target)
    #expect(done.status == 200 && done["authEmulator"]?.object?["email"] == "a@b.c")
    let again = try await server.send(.get, target)
    #expect(again.status == 400 && again["authEmulator"]?.object?["error"] == "INVALID_OOB_CODE")
    let away = try await server.send(.get, "/emulator/action?mode=signIn&oobCode=x&continueUrl=http%3A%2F%2Fa%2F%3Fb")
    #expect(away.status == 303 && away.fields["location"]?.hasPrefix("http://a/?b&") == true)
    for broken in ["%0D%0Ax:y", "%0Ax:y", "/b%20c", "/%7F", "/%C3%A9"] {
      let target = "/emulator/action?mode=signIn&continueUrl=http%3A%2F%2Fa\(broken)"
      #expect(try await server.send(.get, target).status == 400, "\(broken)")
    }
    #expect(try await server.send(.get, "/emulator/action?mode=signIn&continueUrl=http%3A%2F%2Fa/!~").status == 303)
    #expect(try await server.send(.get, "/emulator/action").status == 400)
  }

  @Test func `a link leads to the page of the server for development that made it`() async throws {
    let server = EndpointWorld()
    _ = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    _ = try await server.call("accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": "a@b.c"])
    let sent = try #require(
      try await server.local(.get, "oobCodes")["oobCodes"]?.array?.last?.object?["oobLink"]?.string)
    let url = try #require(HTTPURL(sent))
    // The default project is not named.
    #expect(!url.target.contains("projectId="))
    #expect(url.target.hasPrefix("/emulator/action?mode=resetPassword&"))
    #expect(try await server.send(.get, "\(url.target)&newPassword=another").status == 200)
    let made = try await server.own(
      "/accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": "a@b.c", "returnOobLink": true])
    #expect(made["oobLink"]?.string?.contains("/emulator/action?mode=resetPassword&") == true)
  }

  @Test(arguments: [
    "/identitytoolkit.googleapis.com/v1/recaptchaParams?key=k",
    "/www.googleapis.com/identitytoolkit/v3/relyingparty/getRecaptchaParam?key=k",
  ])
  func `pages get a site key before they send codes to phones, in development alone`(target: String) async throws {
    #expect(try await EndpointWorld().send(.get, target)["recaptchaSiteKey"]?.string?.isEmpty == false)
    #expect(try await EndpointWorld(isDevelopment: false).send(.get, target).status == 404)
  }

  @Test func `a second factor is asked for`() async throws {
    let server = EndpointWorld()
    let account: JSONObject = [
      "localId": "ada", "email": "a@b.c", "emailVerified": true, "password": "secret",
      "mfaInfo": [["phoneInfo": "+15550000002"]],
    ]
    #expect(try await server.own("/accounts", account).status == 200)
    let first = try await server.call("accounts:signInWithPassword", ["email": "a@b.c", "password": "secret"])
    let pending = try #require(first["mfaPendingCredential"])
    #expect(first["idToken"] == nil)
    let factor = try #require(first["mfaInfo"]?.array?.first?.object?["mfaEnrollmentId"])
    let started = try await server.call(
      "accounts/mfaSignIn:start",
      ["mfaPendingCredential": pending, "mfaEnrollmentId": factor, "phoneSignInInfo": [:]], version: "v2")
    let session = try #require(started["phoneResponseInfo"]?.object?["sessionInfo"])
    let code = try #require(try await server.local(.get, "verificationCodes")["verificationCodes"]?.array?.last?.object)
    let done = try await server.call(
      "accounts/mfaSignIn:finalize",
      [
        "mfaPendingCredential": pending,
        "phoneVerificationInfo": ["sessionInfo": session, "code": try #require(code["code"])],
      ], version: "v2")
    #expect(done["idToken"]?.string != nil && done.status == 200)
  }

  @Test func `whether an address is verified is said, also when it is not`() async throws {
    let server = EndpointWorld()
    let made = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let token = try #require(made["idToken"])
    let found = try await server.call("accounts:lookup", ["idToken": token])
    #expect(found["users"]?.array?.first?.object?["emailVerified"] == false)
    #expect(try await server.call("accounts:update", ["idToken": token, "displayName": "A"])["emailVerified"] == false)
    let anonymous = try #require(try await server.call("accounts:signUp")["idToken"])
    let other = try await server.call("accounts:lookup", ["idToken": anonymous])
    #expect(other["users"]?.array?.first?.object?["emailVerified"] == nil)
  }

  @Test(arguments: [(nil, "MISSING_EMAIL"), ("", "INVALID_EMAIL"), ("a", "INVALID_EMAIL")])
  func `an empty address is none, and a missing one is missing`(email: String?, message: String) async throws {
    var request: JSONObject = ["password": "secret"]
    request["email"] = email.map { .string($0) }
    #expect(try await EndpointWorld().call("accounts:signInWithPassword", request).message == message)
  }

  @Test func `pages of other origins are answered`() async throws {
    let server = EndpointWorld()
    let answer = try await server.send(
      .options, "/identitytoolkit.googleapis.com/v1/accounts:signUp",
      fields: [
        .origin: "http://app.test", "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-client-version",
      ])
    #expect(answer.status == 204 && answer.fields["access-control-allow-origin"] == "http://app.test")
    let failed = try await server.send(
      .post, "/identitytoolkit.googleapis.com/v1/accounts:signUp", fields: [.origin: "http://app.test"])
    #expect(failed.status == 403 && failed.fields["access-control-allow-origin"] == "http://app.test")
  }
}
