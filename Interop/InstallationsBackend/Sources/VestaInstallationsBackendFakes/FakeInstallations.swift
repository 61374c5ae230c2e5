import VestaConcurrency
public import VestaInstallationsBackend
public import VestaServiceInterop

/// A service of installations in memory, whose time passes when a test says so.
///
/// It honours the promises.
///
/// ```swift
/// let installations = FakeInstallations()
/// installations.advance(by: .seconds(10))  // its tokens end
/// ```
public final class FakeInstallations: InstallationsBackend, InstallationsVerifier {
  private struct State {
    var now: Duration = .zero
    var next = 0
    var apps: [String: String] = [:]
    var secrets: [String: String] = [:]
    var tokens: [String: (id: String, end: Duration)] = [:]
  }

  private let lifetime: Duration
  private let state = Locked(State())

  /// A service without installations.
  ///
  /// - Parameter lifetime: The time for which a token is valid.
  public init(lifetime: Duration = .seconds(10)) { self.lifetime = lifetime }

  /// Lets time pass.
  public func advance(by time: Duration) { state.withLock { $0.now += time } }

  /// Creates an installation.
  public func create(
    _ request: CreateInstallationRequest, context: CallContext
  ) async throws(InstallationsServiceError) -> CreatedInstallation {
    try check(context)
    return state.withLock { state in
      state.next += 1
      let made = "c\(String(repeating: "x", count: 17))\(1_000 + state.next)"
      var id = request.id ?? made
      if !InstallationID.isValid(id) || state.secrets[id] != nil { id = made }
      let secret = "secret-\(state.next)"
      (state.secrets[id], state.apps[id]) = (secret, request.appID)
      return CreatedInstallation(id: id, refreshToken: secret, token: token(id, &state))
    }
  }

  /// Makes a token.
  public func generateToken(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) -> InstallationToken {
    try check(context)
    let made = state.withLock { state -> Result<InstallationToken, InstallationsServiceError> in
      guard let secret = state.secrets[id] else { return .failure(InstallationsServiceError(.notFound, "gone")) }
      guard secret == refreshToken else { return .failure(InstallationsServiceError(.unauthenticated, "not yours")) }
      return .success(token(id, &state))
    }
    return try made.get()
  }

  /// Deletes an installation.
  public func delete(
    id: String, refreshToken: String, context: CallContext
  ) async throws(InstallationsServiceError) {
    try check(context)
    let isMine = state.withLock { state in
      guard let secret = state.secrets[id] else { return true }
      guard secret == refreshToken else { return false }
      state.secrets[id] = nil
      state.tokens = state.tokens.filter { $0.value.id != id }
      return true
    }
    if !isMine { throw InstallationsServiceError(.unauthenticated, "not yours") }
  }

  /// The installation of a token.
  public func verify(
    token: String, context: CallContext
  ) async throws(InstallationsServiceError) -> VerifiedInstallation {
    try check(context)
    let found = state.withLock { state -> VerifiedInstallation? in
      guard let known = state.tokens[token], known.end > state.now else { return nil }
      return VerifiedInstallation(id: known.id, appID: state.apps[known.id] ?? "")
    }
    guard let found else { throw InstallationsServiceError(.unauthenticated, "no token") }
    return found
  }

  private func token(_ id: String, _ state: inout State) -> InstallationToken {
    let text = "token-\(state.next)-\(state.tokens.count)-end"
    state.tokens[text] = (id, state.now + lifetime)
    return InstallationToken(text: text, lifetime: lifetime)
  }

  private func check(_ context: CallContext) throws(InstallationsServiceError) {
    guard case .credential = context.caller else { return }
    throw InstallationsServiceError(.unauthenticated, "forged")
  }
}
