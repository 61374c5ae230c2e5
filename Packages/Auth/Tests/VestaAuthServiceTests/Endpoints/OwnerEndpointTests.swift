import Testing
import VestaAuthBackend
import VestaAuthEndpoints
import VestaBytes
import VestaTransportInterop

@testable import VestaAuthService

/// The calls of owners and of local test suites over the routes.
@Suite struct OwnerEndpointTests {
  @Test func `an owner makes, finds, changes and deletes accounts`() async throws {
    let server = EndpointWorld()
    let made = try await server.own(
      "/accounts", ["localId": "ada", "email": "a@b.c", "password": "secret", "displayName": "Ada"])
    #expect(made["localId"] == "ada" && made["idToken"] == nil)
    #expect(made["kind"] == "identitytoolkit#SignupNewUserResponse")
    let claims = #"{"admin":true}"#
    let changed = try await server.own(
      "/accounts:update",
      [
        "localId": "ada", "customAttributes": .string(claims), "validSince": 1_767_225_600,
        "phoneNumber": "+15550000001",
      ])
    #expect(changed["localId"] == "ada" && changed["kind"] == "identitytoolkit#SetAccountInfoResponse")
    for by: JSONObject in [
      ["localId": ["ada"]], ["email": ["a@b.c", "a@b.c"]], ["phoneNumber": ["+15550000001"]],
      ["federatedUserId": [["providerId": "google.com", "rawId": "1"]], "localId": ["ada"]],
    ] {
      let found = try await server.own("/accounts:lookup", by)
      let users = found["users"]?.array
      #expect(users?.count == 1 && users?.first?.object?["customAttributes"]?.string == claims)
    }
    #expect(try await server.own("/accounts:lookup", ["localId": ["nobody"]])["users"] == nil)
    let link = try await server.own(
      "/accounts:sendOobCode", ["requestType": "PASSWORD_RESET", "email": "a@b.c", "returnOobLink": true])
    #expect(link["oobLink"]?.string?.contains("mode=resetPassword") == true && link["oobCode"]?.string != nil)
    #expect(try await server.own("/accounts:delete", ["localId": "ada"]).status == 200)
    #expect(try await server.own("/accounts:delete", ["localId": "ada"]).message == "USER_NOT_FOUND")
  }

  @Test func `accounts are imported, listed, counted and deleted by batches`() async throws {
    let server = EndpointWorld()
    let users = (0..<5).map { JSONValue.object(["localId": .string("u\($0)"), "email": .string("u\($0)@b.c")]) }
    let imported = try await server.own("/accounts:batchCreate", ["users": .array(users + [["email": "x@b.c"]])])
    #expect(imported["error"]?.array?.count == 1 && imported["error"]?.array?.first?.object?["index"] == 5)
    let page = try await server.own("/accounts:batchGet?maxResults=3", method: .get)
    #expect(page["users"]?.array?.count == 3 && page["nextPageToken"]?.string != nil)
    #expect(try await server.own("/accounts:query", ["returnUserInfo": false])["recordsCount"] == "5")
    let deleted = try await server.own("/accounts:batchDelete", ["localIds": ["u0", "u1"], "force": true])
    #expect(deleted.status == 200 && deleted["errors"] == nil)
    let kept = try await server.own("/accounts:batchDelete", ["localIds": ["u2"]])
    #expect(kept["errors"]?.array?.count == 1)
    #expect(try await server.local(.delete, "accounts").status == 200)
    #expect(try await server.own("/accounts:query", ["returnUserInfo": false])["recordsCount"] == "0")
  }

  @Test func `an ID token becomes a cookie`() async throws {
    let server = EndpointWorld()
    let made = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let token = try #require(made["idToken"])
    let cookie = try await server.own(":createSessionCookie", ["idToken": token, "validDuration": 600])
    #expect(cookie["sessionCookie"]?.string?.hasSuffix(".") == true)
    let short = try await server.own(":createSessionCookie", ["idToken": token, "validDuration": "10"])
    #expect(short.message == "INVALID_DURATION")
  }

  @Test func `settings and tenants are read and changed`() async throws {
    let server = EndpointWorld()
    let changed = try await server.local(
      .patch, "config", ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": true]])
    #expect(
      changed.body == [
        "signIn": ["allowDuplicateEmails": false], "emailPrivacyConfig": ["enableImprovedEmailPrivacy": true],
      ])
    #expect(try await server.local(.get, "config").body == changed.body)
    let config = try await server.own(
      "/config?updateMask=signIn.allowDuplicateEmails", ["signIn": ["allowDuplicateEmails": true]], method: .patch,
      version: "v2")
    #expect(config["signIn"]?.object?["allowDuplicateEmails"] == true && config["name"] == "projects/demo/config")
    let tenant = try await server.own(
      "/tenants", ["displayName": "corp", "allowPasswordSignup": true], version: "v2")
    let id = try #require(tenant["tenantId"]?.string)
    let user: JSONObject = ["email": "a@b.c", "password": "secret", "tenantId": .string(id)]
    #expect(try await server.call("accounts:signUp", user).status == 200)
    #expect(try await server.own("/tenants/\(id)/accounts:query", [:])["recordsCount"] == "1")
    #expect(try await server.own("/accounts:query", [:])["recordsCount"] == "0")
    #expect(try await server.own("/tenants", method: .get, version: "v2")["tenants"]?.array?.count == 1)
    let renamed = try await server.own(
      "/tenants/\(id)?updateMask=displayName", ["displayName": "other", "disableAuth": true], method: .patch,
      version: "v2")
    #expect(renamed["displayName"] == "other" && renamed["disableAuth"] == false)
    #expect(try await server.own("/tenants/\(id)", method: .delete, version: "v2").status == 200)
    #expect(try await server.own("/tenants/\(id)", method: .get, version: "v2").message == "TENANT_NOT_FOUND")
    let policy = try await server.send(.get, "/identitytoolkit.googleapis.com/v2/passwordPolicy?key=k")
    #expect(policy["customStrengthOptions"]?.object?["minPasswordLength"] == 6 && policy["schemaVersion"] == 1)
  }

  @Test func `a credential that proves nothing makes no call of an owner`() async throws {
    let server = EndpointWorld()
    let user = try await server.call("accounts:signUp", ["email": "a@b.c", "password": "secret"])
    let token = try #require(user["idToken"]?.string)
    #expect(try await server.own("/accounts:query", token: "nonsense").status == 401)
    #expect(try await server.own("/accounts:query", token: token).status == 403)
    let closed = EndpointWorld(isDevelopment: false)
    for target in ["oobCodes", "verificationCodes", "config"] {
      #expect(try await closed.local(.get, target).status == 404)
    }
    #expect(try await closed.local(.delete, "accounts").status == 404)
    #expect(try await closed.own("/accounts:query").status == 401)
    #expect(try await closed.send(.get, "/emulator/action?mode=verifyEmail&oobCode=x").status == 404)
  }

  @Test func `the root says that the service is there, and keys are published`() async throws {
    let server = EndpointWorld()
    #expect(try await server.send(.get, "/")["authEmulator"]?.object?["ready"] == true)
    let keys = try await server.send(.get, "/.well-known/jwks.json")
    #expect(keys["keys"]?.array != nil && keys.fields["cache-control"]?.hasPrefix("public, max-age=") == true)
    let recaptcha = try await server.send(.get, "/identitytoolkit.googleapis.com/v2/recaptchaConfig?key=k")
    // Clients take the fourth part of the key's name.
    #expect(recaptcha["recaptchaKey"]?.string?.split(separator: "/").count == 4)
    let states = recaptcha["recaptchaEnforcementState"]?.array
    #expect(states?.count == 2 && states?.allSatisfy { $0.object?["enforcementState"] == "OFF" } == true)
  }

  @Test func `a shared port gets Auth's requests and no others`() {
    func serves(_ method: HTTPMethod, _ target: String) -> Bool {
      AuthEndpoints().serves(HTTPRequestHead(method: method, target: target, fields: [:]))
    }
    for target in [
      "/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", "/securetoken.googleapis.com/v1/token",
      "/www.googleapis.com/identitytoolkit/v3/relyingparty/getAccountInfo",
    ] { #expect(serves(.post, target), "\(target)") }
    #expect(serves(.delete, "/emulator/v1/projects/p/accounts"))
    for target in [
      "/", "/v1/projects/p/databases/(default)/documents", "/emulator/v1/projects/p/databases/d/documents", "/b/o",
      "/v0/b/x/o", "/%zz", "/.json",
    ] {
      #expect(!serves(.get, target) && !serves(.delete, target), "\(target)")
    }
  }
}
