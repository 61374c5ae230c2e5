public import VestaAppCheckBackend
public import VestaBytes
import VestaConcurrency
public import VestaServiceInterop

/// A service of App Check in memory, whose time passes when a test says so.
///
/// It honours the promises.
///
/// ```swift
/// let service = FakeAppCheckService()
/// try await service.addDebugSecret("s", appID: "1:2:web:3", context: .owner)
/// ```
public final class FakeAppCheckService: AppCheckBackend {
  private struct State {
    var now: Duration = .zero
    var secrets: Set<[String]> = []
    var tokens: [String: (app: String, end: Duration)] = [:]
    var consumed: Set<String> = []
  }

  private let lifetime: Duration
  private let state = Locked(State())

  /// A service without secrets.
  ///
  /// - Parameter lifetime: The time for which a token is valid.
  public init(lifetime: Duration = .seconds(10)) { self.lifetime = lifetime }

  /// Lets time pass.
  public func advance(by time: Duration) { state.withLock { $0.now += time } }

  /// Makes a token for a debug secret of the app; it knows no other proof.
  public func exchange(
    _ proof: AppCheckProof, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) -> AppCheckToken {
    try check(context)
    let text = state.withLock { state -> String? in
      guard case .debug(let secret) = proof, state.secrets.contains([secret, appID]) else { return nil }
      let text = "a.\(state.tokens.count).signed"
      state.tokens[text] = (appID, state.now + lifetime)
      return text
    }
    guard let text else { throw AppCheckServiceError(.permissionDenied, "no proof") }
    return AppCheckToken(text: text, lifetime: lifetime)
  }

  /// One public key, which has signed nothing.
  public func keys(context: CallContext) async throws(AppCheckServiceError) -> JSONObject {
    try check(context)
    return ["keys": [.object(["kty": "RSA", "kid": "1", "alg": "RS256", "n": "AQ", "e": "AQAB"])]]
  }

  /// The app of a token.
  public func verify(
    token: String, consumes: Bool, context: CallContext
  ) async throws(AppCheckServiceError) -> VerifiedAppCheckToken {
    try check(context)
    let verified = state.withLock { state -> VerifiedAppCheckToken? in
      guard let found = state.tokens[token], found.end > state.now else { return nil }
      let was = state.consumed.contains(token) && consumes
      if consumes { state.consumed.insert(token) }
      return VerifiedAppCheckToken(appID: found.app, tokenID: token, isAlreadyConsumed: was)
    }
    guard let verified else { throw AppCheckServiceError(.unauthenticated, "no token") }
    return verified
  }

  /// Adds a debug secret.
  public func addDebugSecret(
    _ secret: String, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) {
    try check(context, ofOwner: true)
    state.withLock { _ = $0.secrets.insert([secret, appID]) }
  }

  /// Removes a debug secret.
  public func removeDebugSecret(
    _ secret: String, appID: String, context: CallContext
  ) async throws(AppCheckServiceError) {
    try check(context, ofOwner: true)
    state.withLock { _ = $0.secrets.remove([secret, appID]) }
  }

  private func check(_ context: CallContext, ofOwner: Bool = false) throws(AppCheckServiceError) {
    if case .credential = context.caller { throw AppCheckServiceError(.unauthenticated, "forged") }
    if ofOwner, !context.isOwner { throw AppCheckServiceError(.permissionDenied, "not the owner") }
  }
}
