import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthRemote
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// The contracts of administrators over connections that are delayed and arrive in pieces.
@Suite(.timeLimit(.minutes(10))) struct AdministrationLossTests {
  /// Runs a check on services whose networks are drawn from a seed, which a failure names.
  private func verify(_ body: (_ seed: UInt64) async throws -> Void) async {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    do {
      try await body(seed)
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }

  @Test(arguments: AuthAdminContracts.all)
  func `the administration keeps its contract`(_ contract: Contract<AuthAdminSubject>) async {
    await verify { seed in
      let served = try await Served.onScriptedNetwork(seed: seed)
      try await contract.verify(
        AuthAdminSubject(served.remote, served.remote.administration) { try served.world.appCode($0) })
    }
  }

  @Test(arguments: AccountExportContracts.all)
  func `exports and imports keep their contract`(_ contract: Contract<AccountExportSubject>) async {
    await verify { seed in
      let source = try await Served.onScriptedNetwork(seed: seed)
      let target = try await Served.onScriptedNetwork(seed: seed &+ 1_000)
      try await contract.verify(
        AccountExportSubject(
          from: source.remote, source.remote.administration, to: target.remote, target.remote.administration))
    }
  }

  @Test(arguments: IdentityProviderContracts.all)
  func `identity providers keep their contract`(_ contract: Contract<IdentityProviderSubject>) async {
    await verify { seed in
      let administration = try await Served.onScriptedNetwork(seed: seed).remote.administration
      try await contract.verify(
        IdentityProviderSubject(administration.identityProviders) {
          try await administration.createTenant(CreateTenantRequest(displayName: "t"), context: .owner).tenantID
        })
    }
  }
}
