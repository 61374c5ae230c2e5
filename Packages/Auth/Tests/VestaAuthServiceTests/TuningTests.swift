import Testing
import VestaAuthBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// Behaviour that changes at a size is the same at small sizes, which are drawn at random.
@Suite struct TuningTests {
  private func world(_ seed: UInt64) -> (World, AuthTuning) {
    var random = SplitMix(seed: seed)
    var tuning = AuthTuning()
    tuning.page = Int.random(in: 1...5, using: &random)
    tuning.batch = Int.random(in: 1...6, using: &random)
    tuning.methods = Int.random(in: 1...3, using: &random)
    tuning.identityProviders = Int.random(in: 1...4, using: &random)
    tuning.guessSlots = Int64.random(in: 1...3, using: &random)
    tuning.sweptTickets = Int.random(in: 1...2, using: &random)
    let drawn = tuning
    let sessions = Int.random(in: 1...4, using: &random)
    return (
      World {
        $0.tuning = drawn
        $0.sessionLimit = sessions
      }, drawn
    )
  }

  @Test(arguments: UInt64(0)..<12)
  func `all accounts are listed page by page and deleted batch by batch`(_ seed: UInt64) async throws {
    let (world, tuning) = world(seed)
    let ids = (0..<17).map { id($0) }
    for id in ids {
      _ = try await world.engine.administration.createUser(CreateUserRequest(localID: id), context: .owner)
    }
    var (seen, token): ([String], String?) = ([], nil)
    repeat {
      let page = try await world.engine.administration.batchGet(
        BatchGetRequest(maxResults: 1_000, nextPageToken: token), context: .owner)
      #expect(page.users.count <= tuning.page, "seed \(seed): \(tuning)")
      seen += page.users.map(\.localID)
      token = page.nextPageToken
    } while token != nil
    #expect(seen == ids.sorted(), "seed \(seed): \(tuning)")
    let tooMany = BatchDeleteRequest(localIDs: Array(ids.prefix(tuning.batch + 1)), force: true)
    #expect(await refusal { try await world.engine.administration.batchDelete(tooMany, context: .owner) } != nil)
    for start in stride(from: 0, to: ids.count, by: tuning.batch) {
      let part = Array(ids[start..<min(start + tuning.batch, ids.count)])
      _ = try await world.engine.administration.batchDelete(
        BatchDeleteRequest(localIDs: part, force: true), context: .owner)
    }
    let left = try await world.engine.administration.batchGet(BatchGetRequest(maxResults: 1_000), context: .owner)
    #expect(left.users.isEmpty)
  }

  @Test(arguments: UInt64(0)..<12)
  func `the newest sessions stay, and no more than the limit`(_ seed: UInt64) async throws {
    let (world, _) = world(seed)
    let limit = world.options.sessionLimit
    var tokens = [try await world.signUp().tokens]
    for _ in 0..<8 {
      world.pass(seconds: 1)
      tokens.append(try #require(try await world.signIn().outcome.tokens))
    }
    var alive: [Int] = []
    for (index, token) in tokens.enumerated() where await refusal({ try await world.refresh(token) }) == nil {
      alive.append(index)
    }
    #expect(alive == Array((tokens.count - limit)..<tokens.count), "seed \(seed), limit \(limit)")
  }
}

/// The settings of identity providers are bounded, of the project and of each tenant.
extension TuningTests {
  @Test(arguments: UInt64(0)..<6)
  func `a project and a tenant have no more identity providers than the limit`(_ seed: UInt64) async throws {
    let (world, tuning) = world(seed)
    let admin = world.engine.administration
    let tenant = try await admin.createTenant(CreateTenantRequest(displayName: "t"), context: .owner).tenantID
    for tenantID in [nil, tenant] {
      var context = CallContext.owner
      context.tenantID = tenantID
      func create(_ number: Int) async -> AuthServiceError.Code? {
        let provider = IdentityProvider(id: "oidc.p\(number)", clientID: "c", issuer: "https://issuer.example")
        return await refusal { [context] in
          _ = try await admin.identityProviders.createProvider(provider, context: context)
        }
      }
      for number in 0..<tuning.identityProviders { #expect(await create(number) == nil) }
      #expect(await create(99) == .resourceExhausted, "seed \(seed): \(tuning)")
      try await admin.identityProviders.deleteProvider(id: "oidc.p0", context: context)
      #expect(await create(99) == nil)
    }
  }
}

/// A number as an id of two digits.
private func id(_ number: Int) -> String { number < 10 ? "u0\(number)" : "u\(number)" }
