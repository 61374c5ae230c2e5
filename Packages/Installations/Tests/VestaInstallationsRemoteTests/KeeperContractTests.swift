import Testing
import VestaConcurrency
import VestaInstallationsBackend
import VestaInstallationsBackendContracts
import VestaInstallationsBackendFakes
import VestaInstallationsRemote
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

/// A service that a test switches off.
private final class SwitchedService: InstallationsBackend {
  let fake = FakeInstallations(lifetime: .seconds(604_800))
  let isOn = Locked(true)

  private func check() throws(InstallationsServiceError) {
    guard isOn.withLock({ $0 }) else { throw InstallationsServiceError(.unavailable, "away") }
  }

  func create(
    _ request: CreateInstallationRequest, context: CallContext
  ) async throws(InstallationsServiceError) -> CreatedInstallation {
    try check()
    return try await fake.create(request, context: context)
  }

  func generateToken(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) -> InstallationToken {
    try check()
    return try await fake.generateToken(id: id, refreshToken: refreshToken, context: context)
  }

  func delete(id: String, refreshToken: String, context: CallContext) async throws(InstallationsServiceError) {
    try check()
    try await fake.delete(id: id, refreshToken: refreshToken, context: context)
  }
}

/// The keeper of an app's installation as other backends see it.
@Suite(.timeLimit(.minutes(10))) struct KeeperContractTests {
  @Test(arguments: InstallationSourceContracts.all)
  func `the keeper honours`(contract: Contract<InstallationSourceSubject>) async throws {
    let (service, clock) = (SwitchedService(), ManualClock())
    let ids = InstallationKeeper.IDs {
      "cABCDEFGHIJKLMNOPQRST0"
    } renew: {
    }
    let keeper = InstallationKeeper(of: service, appID: "1:2:ios:3", ids: ids, clock: clock.service) { 0 }
    let subject = InstallationSourceSubject(keeper) { token in
      try await service.fake.verify(token: token, context: CallContext()).id
    } setService: { isOn in
      service.isOn.withLock { $0 = isOn }
      if isOn { clock.advance(by: .seconds(2)) }
    }
    try await contract.verify(subject)
  }
}
