import Testing
import VestaInstallationsBackend
import VestaInstallationsBackendContracts
import VestaInstallationsBackendFakes

@Suite struct InstallationsImplementations {
  static let all: [Implementation<InstallationsSubject>] = [
    Implementation("FakeInstallations") {
      let fake = FakeInstallations()
      return InstallationsSubject(fake) { fake.advance(by: $0) }
    }
  ]

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<InstallationsSubject>) async {
    await implementation.keeps(InstallationsContracts.all)
  }
}
