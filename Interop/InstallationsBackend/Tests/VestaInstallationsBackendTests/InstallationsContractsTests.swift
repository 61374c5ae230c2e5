import Testing
import VestaConcurrency
import VestaInstallationsBackend
import VestaInstallationsBackendContracts
import VestaInstallationsBackendFakes
import VestaServiceInterop
import VestaTesting

/// A service in memory that can be made wrong in one way.
private final class SmallBackend: InstallationsBackend, InstallationsVerifier {
  enum Flaw: CaseIterable {
    case none, takesAnyID, givesIDsAway, confusesTokens, takesAnySecret, keepsTokens, isEternal, takesPrefixes
    case takesAnyCredential
  }

  private struct State {
    var now: Duration = .zero
    var next = 0
    var secrets: [String: String] = [:]
    var tokens: [String: (id: String, end: Duration)] = [:]
  }

  private let flaw: Flaw
  private let state = Locked(State())

  init(_ flaw: Flaw) { self.flaw = flaw }

  private func check(_ context: CallContext) throws(InstallationsServiceError) {
    guard flaw != .takesAnyCredential, case .credential = context.caller else { return }
    throw InstallationsServiceError(.unauthenticated, "forged")
  }

  func create(
    _ request: CreateInstallationRequest, context: CallContext
  ) async throws(InstallationsServiceError) -> CreatedInstallation {
    try check(context)
    return state.withLock { state in
      state.next += 1
      let made = "c\(String(repeating: "x", count: 17))\(1_000 + state.next)"
      var id = request.id ?? made
      if flaw != .takesAnyID, !InstallationID.isValid(id) { id = made }
      if flaw != .givesIDsAway, state.secrets[id] != nil { id = made }
      let secret = "secret-\(state.next)"
      state.secrets[id] = secret
      return CreatedInstallation(id: id, refreshToken: secret, token: token(id, &state))
    }
  }

  private func token(_ id: String, _ state: inout State) -> InstallationToken {
    let text = "token-\(state.tokens.count)-end"
    state.tokens[text] = (flaw == .confusesTokens ? "other" : id, state.now + .seconds(10))
    return InstallationToken(text: text, lifetime: .seconds(10))
  }

  func generateToken(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) -> InstallationToken {
    try check(context)
    let made = state.withLock { state -> Result<InstallationToken, InstallationsServiceError> in
      guard let secret = state.secrets[id] else { return .failure(InstallationsServiceError(.notFound, "gone")) }
      guard secret == refreshToken || flaw == .takesAnySecret else {
        return .failure(InstallationsServiceError(.unauthenticated, "not yours"))
      }
      return .success(token(id, &state))
    }
    return try made.get()
  }

  func delete(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) {
    try check(context)
    let isMine = state.withLock { state in
      guard let secret = state.secrets[id] else { return true }
      guard secret == refreshToken || flaw == .takesAnySecret else { return false }
      state.secrets[id] = nil
      if flaw != .keepsTokens { state.tokens = state.tokens.filter { $0.value.id != id } }
      return true
    }
    if !isMine { throw InstallationsServiceError(.unauthenticated, "not yours") }
  }

  func verify(
    token: String, context: CallContext
  ) async throws(InstallationsServiceError) -> VerifiedInstallation {
    try check(context)
    let found = state.withLock { state in
      let known = state.tokens.first { text, _ in
        text == token || (flaw == .takesPrefixes && !token.isEmpty && text.hasPrefix(token))
      }
      return known.flatMap { $0.value.end > state.now || flaw == .isEternal ? $0.value.id : nil }
    }
    guard let found else { throw InstallationsServiceError(.unauthenticated, "no token") }
    return VerifiedInstallation(id: found, appID: "1:2:web:3")
  }

  var subject: InstallationsSubject {
    InstallationsSubject(self) { [self] time in state.withLock { $0.now += time } }
  }
}

@Suite struct InstallationsContractsTests {
  @Test(arguments: InstallationsContracts.all)
  func `a right service honours`(contract: Contract<InstallationsSubject>) async throws {
    try await contract.verify(SmallBackend(.none).subject)
  }

  @Test(arguments: InstallationsContracts.all)
  func `the fake honours`(contract: Contract<InstallationsSubject>) async throws {
    let fake = FakeInstallations()
    try await contract.verify(InstallationsSubject(fake) { fake.advance(by: $0) })
  }

  /// The promise that each flaw breaks.
  private static let broken: [(flaw: SmallBackend.Flaw, promise: String)] = [
    (.takesAnyID, "a well-formed id is kept, and any other one is replaced"),
    (.givesIDsAway, "an id belongs to whoever created it first"),
    (.confusesTokens, "tokens name their installation and its app"),
    (.takesAnySecret, "another one's secret makes and deletes nothing"),
    (.keepsTokens, "a deleted installation is gone, and its tokens with it"),
    (.isEternal, "a token ends with its lifetime, and another one is made"),
    (.takesPrefixes, "what is no token is refused"),
    (.takesAnyCredential, "a credential that cannot be verified is refused in every call"),
  ]

  @Test func `every promise is broken by a wrong service`() {
    #expect(Set(Self.broken.map(\.promise)) == Set(InstallationsContracts.all.map(\.name)))
    #expect(Set(Self.broken.map(\.flaw)) == Set(SmallBackend.Flaw.allCases).subtracting([.none]))
  }

  @Test(arguments: broken)
  fileprivate func `a wrong service is caught`(flaw: SmallBackend.Flaw, promise: String) async {
    let outcomes = await InstallationsContracts.all.filter { $0.name == promise }.run { _ in
      SmallBackend(flaw).subject
    }
    #expect(outcomes.map(\.isKept) == [false], "\(flaw)")
  }
}
