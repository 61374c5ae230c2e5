import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaTesting

@testable import VestaAuthService

@Suite struct ContractTests {
  private static func subject(hidesEmails: Bool) -> AuthSubject {
    let world = World { $0.initialConfig.hidesEmails = hidesEmails }
    return AuthSubject(
      world.engine,
      emailedCode: { try world.emailedCode($0, to: $1) },
      textedCode: { try world.textedCode($0) })
  }

  @Test(arguments: [true, false]) func `the engine keeps every promise`(hidesEmails: Bool) async {
    let outcomes = await AuthContracts.all.run { Self.subject(hidesEmails: hidesEmails) }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(Set(outcomes.map(\.name)).count == outcomes.count)
  }
}
