import Testing
import VestaConcurrency
import VestaInstallationsBackend
import VestaInstallationsBackendContracts
import VestaInstallationsBackendFakes
import VestaServiceInterop
import VestaTesting

/// An installation in memory that can be made wrong in one way.
private final class SmallSource: InstallationSource {
  enum Flaw: CaseIterable {
    case none, changesEachTime, confusesTokens, keepsRefusedTokens, takesLateRefusals, fetchesForEachCaller
    case hidesFailures
  }

  private struct State {
    var number = 0
    var isRefused = false
    var isOn = true
  }

  private let flaw: Flaw
  private let state = Locked(State())

  init(_ flaw: Flaw) { self.flaw = flaw }

  func credential() async throws(InstallationsServiceError) -> InstallationCredential {
    if flaw == .fetchesForEachCaller, state.withLock({ $0.isRefused }) {
      // Long enough for the other callers to find the same.
      for _ in 0..<1_000 { await Task.yield() }
      state.withLock { $0.isRefused = true }
    }
    let made = state.withLock { state -> InstallationCredential? in
      if state.isRefused {
        guard state.isOn || flaw == .hidesFailures else { return nil }
        state.isRefused = false
        if flaw != .keepsRefusedTokens { state.number += 1 }
      }
      if flaw == .changesEachTime { state.number += 1 }
      return InstallationCredential(id: "ada", token: "\(flaw == .confusesTokens ? "bob" : "ada")-\(state.number)")
    }
    guard let made else { throw InstallationsServiceError(.unavailable, "away") }
    return made
  }

  func tokenWasRefused(_ token: String) {
    state.withLock { state in
      let isCurrent = token.hasSuffix("-\(state.number)")
      if isCurrent || flaw == .takesLateRefusals { state.isRefused = true }
    }
  }

  var subject: InstallationSourceSubject {
    InstallationSourceSubject(self) {
      String($0.prefix { $0 != "-" })
    } setService: { [self] isOn in
      state.withLock { $0.isOn = isOn }
    }
  }
}

@Suite struct InstallationSourceContractsTests {
  @Test(arguments: InstallationSourceContracts.all)
  func `a right source honours`(contract: Contract<InstallationSourceSubject>) async throws {
    try await contract.verify(SmallSource(.none).subject)
  }

  @Test(arguments: InstallationSourceContracts.all)
  func `the fake honours`(contract: Contract<InstallationSourceSubject>) async throws {
    let fake = FakeInstallationSource(id: "ada") { "ada-\($0)" }
    let subject = InstallationSourceSubject(fake) {
      String($0.prefix { $0 != "-" })
    } setService: { isOn in
      fake.fail(with: isOn ? nil : InstallationsServiceError(.unavailable, "away"))
    }
    try await contract.verify(subject)
  }

  /// The promise that each flaw breaks.
  private static let broken: [(flaw: SmallSource.Flaw, promise: String)] = [
    (.changesEachTime, "a credential stays the same while no service refuses it"),
    (.confusesTokens, "a token is that of the id that is returned with it"),
    (.keepsRefusedTokens, "after a refusal the same installation has another token"),
    (.takesLateRefusals, "a late refusal of a token that was replaced changes nothing"),
    (.fetchesForEachCaller, "concurrent callers get one credential"),
    (.hidesFailures, "without its service a source fails, and it has a credential when the service is back"),
  ]

  @Test func `every promise is broken by a wrong source`() {
    #expect(Set(Self.broken.map(\.promise)) == Set(InstallationSourceContracts.all.map(\.name)))
    #expect(Set(Self.broken.map(\.flaw)) == Set(SmallSource.Flaw.allCases).subtracting([.none]))
  }

  @Test(arguments: broken)
  fileprivate func `a wrong source is caught`(flaw: SmallSource.Flaw, promise: String) async {
    let outcomes = await InstallationSourceContracts.all.filter { $0.name == promise }.run { _ in
      SmallSource(flaw).subject
    }
    #expect(outcomes.map(\.isKept) == [false], "\(flaw)")
  }
}
