import Testing
import VestaInstallationsBackend
import VestaInstallationsBackendContracts
import VestaInstallationsBackendFakes
import VestaServiceInterop

@Suite struct InstallationsImplementations {
  static let all: [Implementation<InstallationsSubject>] = [
    Implementation("FakeInstallations") {
      let fake = FakeInstallations()
      return InstallationsSubject(fake) { fake.advance(by: $0) }
    }
  ]

  static let sources: [Implementation<InstallationSourceSubject>] = [
    Implementation("FakeInstallationSource") {
      let fake = FakeInstallationSource(id: "ada") { "ada-\($0)" }
      return InstallationSourceSubject(fake) {
        String($0.prefix { $0 != "-" })
      } setService: { isOn in
        fake.fail(with: isOn ? nil : InstallationsServiceError(.unavailable, "away"))
      }
    }
  ]

  @Test(arguments: sources)
  func `a source keeps every promise`(_ implementation: Implementation<InstallationSourceSubject>) async {
    await implementation.keeps(InstallationSourceContracts.all)
  }

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<InstallationsSubject>) async {
    await implementation.keeps(InstallationsContracts.all)
  }
}
