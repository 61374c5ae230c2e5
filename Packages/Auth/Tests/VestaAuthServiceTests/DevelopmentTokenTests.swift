import Testing
import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop

@testable import VestaAuthService

/// Unsigned tokens and the word `owner`, with the option and without it.
@Suite struct DevelopmentTokenTests {
  private func world(development: Bool = true, unsigned: Bool = true) -> World {
    World {
      $0.isDevelopment = development
      $0.usesDevelopmentTokens = unsigned
    }
  }

  private func unsigned(_ claims: JSONObject, header: JSONObject = ["alg": "none", "type": "JWT"]) throws -> String {
    [Base64.url.encode(try header.json()), Base64.url.encode(try claims.json()), ""].joined(separator: ".")
  }

  private func caller(_ token: String, in world: World, project: String? = "demo") async throws -> CallContext.Caller {
    try await world.engine.callers.verify(.bearer(token), project: project).caller
  }

  @Test(arguments: [(false, true), (true, false), (false, false)])
  func `without the option tokens are signed, and unsigned ones and owner are refused`(
    development: Bool, unsigned: Bool
  ) async throws {
    let world = world(development: development, unsigned: unsigned)
    let made = try await world.signUp()
    let parts = made.tokens.idToken.split(separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3 && !parts[2].isEmpty)
    let own = "eyJhbGciOiJub25lIn0.\(parts[1])."
    let mock = try self.unsigned(["sub": "ada", "user_id": "ada", "iat": 0, "exp": 3600])
    for token in [own, mock, "owner", "Owner", "ya29.token"] {
      for credential in [Credential.bearer(token), .idToken(token)] {
        let refused = await #expect(throws: ServiceStatus.self) {
          try await world.engine.callers.verify(credential, project: nil)
        }
        #expect(refused?.code == .unauthenticated)
        let context = CallContext(caller: .credential(credential))
        #expect(
          await refusal { try await world.engine.administration.batchGet(BatchGetRequest(), context: context) }
            == .unauthenticated)
      }
    }
    #expect(
      await refusal { try await world.engine.lookup(LookupRequest(idToken: own), context: world.context) }
        == .invalidIDToken)
  }

  @Test func `with the option tokens and cookies are unsigned, and good for every call`() async throws {
    let world = world()
    let made = try await world.signUp()
    #expect(made.tokens.idToken.hasSuffix("."))
    #expect(try JWT(unverified: made.tokens.idToken).header.algorithm == "none")
    #expect(try await world.lookup(made.tokens).localID == made.localID)
    let refreshed = try await world.refresh(made.tokens)
    #expect(refreshed.tokens.idToken.hasSuffix("."))
    let cookie = try await world.engine.administration.createSessionCookie(
      CreateSessionCookieRequest(idToken: made.tokens.idToken), context: .owner)
    #expect(cookie.hasSuffix("."))
    let verified = try await world.engine.administration.verifySessionCookie(
      VerifyTokenRequest(token: cookie, checksRevocation: true), context: .owner)
    #expect(verified.localID == made.localID)
    // One is not the other.
    #expect(
      await refusal { try await world.engine.lookup(LookupRequest(idToken: cookie), context: world.context) }
        == .invalidIDToken)
    guard case .user(let user) = try await caller(made.tokens.idToken, in: world) else {
      Issue.record("no user")
      return
    }
    #expect(user.uid == made.localID && user.expiry == nil && user.claims["email"]?.string == "ada@example.com")
  }

  @Test func `sessions end for unsigned tokens, too`() async throws {
    let world = world()
    let made = try await world.signUp()
    try await world.engine.administration.revokeRefreshTokens(localID: made.localID, context: .owner)
    #expect(await refusal { try await world.lookup(made.tokens) } == .tokenExpired)
  }

  @Test func `a token of a test kit is its user, whatever its times and its audience say`() async throws {
    let world = world()
    let token = try unsigned([
      "sub": "ada", "user_id": "ada", "iat": 0, "exp": 3600, "aud": "another", "auth_time": .integer(.max),
      "admin": true,
    ])
    guard case .user(let user) = try await caller(token, in: world) else {
      Issue.record("no user")
      return
    }
    #expect(user.uid == "ada" && user.claims["admin"] == true && user.expiry == nil)
    let other = try unsigned(["sub": "sub", "user_id": "id"])
    #expect(CallContext(caller: try await caller(other, in: world)).user?.uid == "id")
    let without = try unsigned(["sub": "sub"], header: ["alg": "none"])
    #expect(CallContext(caller: try await caller(without, in: world)).user?.uid == "sub")
  }

  @Test func `a token that names no user is refused`() async throws {
    let world = world()
    let long = String(repeating: "x", count: 129)
    var tokens = [
      "", ".", "..", "a.b.", "owner.", "owners", try unsigned([:]), try unsigned(["sub": ""]), try unsigned(["sub": 1]),
      try unsigned(["sub": .string(long)]), try unsigned(["sub": "ada"]) + "x",
      try unsigned(["sub": "ada"], header: ["alg": "RS256"]),
    ]
    tokens.append(String(try unsigned(["sub": "ada"]).dropLast()))
    for token in tokens {
      let refused = await #expect(throws: ServiceStatus.self) { try await caller(token, in: world) }
      #expect(refused?.code == .unauthenticated, "\(token.prefix(40))")
    }
    // A token is the project's whose service it reaches.
    let refused = await #expect(throws: ServiceStatus.self) { try await caller("owner", in: world, project: "other") }
    #expect(refused?.code == .unauthenticated)
  }

  @Test func `owner is the owner, and signed tokens are verified as ever`() async throws {
    let world = world()
    for token in ["owner", "Owner", "OWNER", "ya29.anything"] {
      #expect(try await caller(token, in: world).isOwner)
    }
    let context = CallContext(caller: .credential(.bearer("owner")))
    _ = try await world.engine.administration.createUser(CreateUserRequest(localID: "ada"), context: context)
    let signing = World(store: world.store, crypto: world.crypto) { $0.isDevelopment = true }
    let signed = try await signing.signUp("bob@example.com").tokens.idToken
    #expect(CallContext(caller: try await caller(signed, in: world)).user != nil)
    let parts = signed.split(separator: ".", omittingEmptySubsequences: false)
    let forged = await #expect(throws: ServiceStatus.self) {
      try await caller("\(parts[0]).\(parts[1]).\(parts[0])", in: world)
    }
    #expect(forged?.code == .unauthenticated)
  }
}
