import Testing
import VestaAuthBackend
import VestaServiceInterop

@testable import VestaAuthService

/// The largest values that are allowed, and the smallest ones that are refused.
@Suite struct AdminLimitTests {
  @Test func `a time set by an administrator ends earlier sessions, and the same time again none`() async throws {
    let world = World()
    let made = try await world.signUp()
    world.pass(seconds: 10)
    let request = AdminUpdateRequest(localID: made.localID, validSince: world.now / 1000)
    _ = try await world.engine.administration.updateUser(request, context: .owner)
    #expect(await refusal { try await world.refresh(made.tokens) } == .tokenExpired)
    #expect(try await world.record(made.localID).validSince == world.now / 1000)
    let again = try #require(try await world.signIn().outcome.tokens)
    _ = try await world.engine.administration.updateUser(request, context: .owner)
    _ = try await world.refresh(again)
  }

  @Test func `a thousand accounts are deleted at once, and one more are not`() async throws {
    let world = World()
    let ids = (0...1_000).map { "user\($0)" }
    func delete(_ ids: [String]) async throws {
      _ = try await world.engine.administration.batchDelete(BatchDeleteRequest(localIDs: ids), context: .owner)
    }
    try await delete(Array(ids.dropLast()))
    #expect(await refusal { try await delete(ids) } == .localIDListExceedsLimit)
    #expect(await refusal { try await delete([]) } == .localIDListExceedsLimit)
  }

  @Test func `imported passwords have up to 4096 bytes`() async throws {
    let world = World()
    var users = [ImportedUser(localID: "fits"), ImportedUser(localID: "long")]
    users[0].email = "fits@example.com"
    users[0].rawPassword = String(repeating: "x", count: 4_096)
    users[1].rawPassword = String(repeating: "x", count: 4_097)
    let response = try await world.engine.administration.batchCreate(BatchCreateRequest(users: users), context: .owner)
    #expect(response.errors.map(\.index) == [1])
    try await world.signIn("fits@example.com", String(repeating: "x", count: 4_096))
  }

  @Test(arguments: [(1, true), (1_024, true), (1_025, false), (0, false)])
  func `a provider's id of a user has up to 1024 bytes`(_ length: Int, _ isAllowed: Bool) async throws {
    let world = World { $0.isDevelopment = true }
    let claims = #"{"sub":""# + String(repeating: "s", count: length) + #""}"#
    let refused = await refusal {
      try await world.engine.signInWithIdp(
        IdpSignInRequest(credential: IdpCredential(providerID: "google.com", idToken: claims)), context: world.context)
    }
    #expect(refused == (isAllowed ? nil : .invalidIdpResponse))
  }

  @Test func `an identifier that no store takes is refused for its entry alone`() async throws {
    let world = World()
    func entry(_ id: String, rawID: String) -> ImportedUser {
      ImportedUser(localID: id, providerUserInfo: [ProviderUserInfo(providerID: "google.com", rawID: rawID)])
    }
    // Keys of a store have 65,536 bytes at most, and the identifier is part of one.
    let lengths = [1, 1_024, 1_025, 65_000, 70_000, 200_000]
    let users = lengths.map { entry("u\($0)", rawID: String(repeating: "r", count: $0)) }
    let response = try await world.engine.administration.batchCreate(BatchCreateRequest(users: users), context: .owner)
    #expect(response.errors.map(\.index) == [2, 3, 4, 5])
    #expect(response.errors.allSatisfy { !$0.message.isEmpty })
    let names = lengths.map { String(repeating: "n", count: $0) }
    let named = names.map { ImportedUser(localID: $0) }
    let refused = try await world.engine.administration.batchCreate(BatchCreateRequest(users: named), context: .owner)
      .errors
    #expect(refused.map(\.index) == [1, 2, 3, 4, 5])
  }
}
