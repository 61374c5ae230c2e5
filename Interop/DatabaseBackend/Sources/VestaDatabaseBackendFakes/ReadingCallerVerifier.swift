public import VestaServiceInterop

/// A `CallerVerifier` for tests that reads the caller out of the token: `owner` is an owner, any other token is the id
/// of its user.
public struct ReadingCallerVerifier: CallerVerifier {
  private let read: @Sendable (String) async throws(ServiceStatus) -> CallContext.Caller

  /// A verifier.
  ///
  /// - Parameter read: Returns the caller of a token; it may wait.
  public init(_ read: @escaping @Sendable (String) async throws(ServiceStatus) -> CallContext.Caller) {
    self.read = read
  }

  /// A verifier that accepts every token.
  public init() {
    read = { (token) async throws(ServiceStatus) in
      token == "owner" ? .owner : .user(VerifiedUser(uid: token))
    }
  }

  /// Reads the caller.
  public nonisolated(nonsending) func verify(
    _ credential: Credential, project: String?
  ) async throws(ServiceStatus) -> VerifiedCaller {
    VerifiedCaller(try await read(credential.token))
  }
}
