import Testing
import VestaAppCheckBackend
import VestaAppCheckBackendContracts
import VestaAppCheckBackendFakes

@Suite struct AppCheckBackendImplementations {
  static let all: [Implementation<AppCheckSubject>] = [
    Implementation("FakeAppCheckService") {
      let fake = FakeAppCheckService()
      return AppCheckSubject(fake) { fake.advance(by: $0) }
    }
  ]

  @Test(arguments: all)
  func `an implementation keeps every promise`(_ implementation: Implementation<AppCheckSubject>) async {
    await implementation.keeps(AppCheckContracts.all)
  }
}
