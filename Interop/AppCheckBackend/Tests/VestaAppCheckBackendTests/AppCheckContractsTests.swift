import Testing
import VestaAppCheckBackend
import VestaAppCheckBackendContracts
import VestaAppCheckBackendFakes
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaTesting

/// A service in memory that can be made wrong in one way.
private final class SmallBackend: AppCheckBackend {
  enum Flaw: CaseIterable {
    case none, repeatsIDs, takesAnyProof, letsAllMakeSecrets, isEternal, forgetsConsumption, takesUnsigned, tellsKeys
    case takesAnyCredential
  }

  private struct State {
    var now: Duration = .zero
    var secrets: Set<[String]> = []
    var tokens: [String: (app: String, end: Duration)] = [:]
    var consumed: Set<String> = []
  }

  private let flaw: Flaw
  private let state = Locked(State())

  init(_ flaw: Flaw) { self.flaw = flaw }

  private func check(_ context: CallContext, ofOwner: Bool = false) throws(AppCheckServiceError) {
    if case .credential = context.caller, flaw != .takesAnyCredential {
      throw AppCheckServiceError(.unauthenticated, "forged")
    }
    if ofOwner, !context.isOwner, flaw != .letsAllMakeSecrets {
      throw AppCheckServiceError(.permissionDenied, "not the owner")
    }
  }

  func exchange(
    _ proof: AppCheckProof, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) -> AppCheckToken {
    try check(context)
    let text = state.withLock { state -> String? in
      var holds = flaw == .takesAnyProof
      if case .debug(let secret) = proof, state.secrets.contains([secret, appID]) { holds = true }
      guard holds else { return nil }
      let text = "a.\(state.tokens.count).signed"
      state.tokens[text] = (appID, state.now + .seconds(10))
      return text
    }
    guard let text else { throw AppCheckServiceError(.permissionDenied, "no proof") }
    return AppCheckToken(text: text, lifetime: .seconds(10))
  }

  func keys(context: CallContext) async throws(AppCheckServiceError) -> JSONObject {
    try check(context)
    var key: JSONObject = ["kty": "RSA", "kid": "1", "alg": "RS256", "n": "AQ", "e": "AQAB"]
    if flaw == .tellsKeys { key["d"] = "AQ" }
    return ["keys": [.object(key)]]
  }

  func verify(
    token: String, consumes: Bool, context: CallContext
  ) async throws(AppCheckServiceError) -> VerifiedAppCheckToken {
    try check(context)
    let verified = state.withLock { state -> VerifiedAppCheckToken? in
      let text = flaw == .takesUnsigned && token.hasPrefix("a.") && token.hasSuffix(".") ? token + "signed" : token
      guard let found = state.tokens[text], found.end > state.now || flaw == .isEternal else { return nil }
      let was = state.consumed.contains(text) && consumes
      if consumes, flaw != .forgetsConsumption { state.consumed.insert(text) }
      return VerifiedAppCheckToken(
        appID: found.app, tokenID: flaw == .repeatsIDs ? "same" : text, isAlreadyConsumed: was)
    }
    guard let verified else { throw AppCheckServiceError(.unauthenticated, "no token") }
    return verified
  }

  func addDebugSecret(_ secret: String, appID: String, context: CallContext) async throws(AppCheckServiceError) {
    try check(context, ofOwner: true)
    state.withLock { _ = $0.secrets.insert([secret, appID]) }
  }

  func removeDebugSecret(
    _ secret: String, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) {
    try check(context, ofOwner: true)
    state.withLock { _ = $0.secrets.remove([secret, appID]) }
  }

  var subject: AppCheckSubject { AppCheckSubject(self) { [self] time in state.withLock { $0.now += time } } }
}

@Suite struct AppCheckContractsTests {
  @Test(arguments: AppCheckContracts.all)
  func `a right service honours`(contract: Contract<AppCheckSubject>) async throws {
    try await contract.verify(SmallBackend(.none).subject)
  }

  @Test(arguments: AppCheckContracts.all)
  func `the fake honours`(contract: Contract<AppCheckSubject>) async throws {
    let fake = FakeAppCheckService()
    try await contract.verify(AppCheckSubject(fake) { fake.advance(by: $0) })
  }

  /// The promise that each flaw breaks.
  private static let broken: [(flaw: SmallBackend.Flaw, promise: String)] = [
    (.repeatsIDs, "a token names its app and is one of many"),
    (.takesAnyProof, "a secret counts for its app alone, and until it is removed"),
    (.letsAllMakeSecrets, "the owner alone makes and removes secrets"),
    (.isEternal, "a token ends with its time"),
    (.forgetsConsumption, "a token is consumed once"),
    (.takesUnsigned, "what is no token is refused, and consumes nothing"),
    (.tellsKeys, "the keys are public and have ids"),
    (.takesAnyCredential, "a credential that cannot be verified is refused in every call"),
  ]

  @Test func `every promise is broken by a wrong service`() {
    #expect(Set(Self.broken.map(\.promise)) == Set(AppCheckContracts.all.map(\.name)))
    #expect(Set(Self.broken.map(\.flaw)) == Set(SmallBackend.Flaw.allCases).subtracting([.none]))
  }

  @Test(arguments: broken)
  fileprivate func `a wrong service is caught`(flaw: SmallBackend.Flaw, promise: String) async {
    let outcomes = await AppCheckContracts.all.filter { $0.name == promise }.run { _ in SmallBackend(flaw).subject }
    #expect(outcomes.map(\.isKept) == [false], "\(flaw)")
  }
}
