public import VestaServiceInterop

/// Backends without passkeys: the calls fail with `NOT_IMPLEMENTED`.
extension AuthBackend {
  /// Fails.
  public func startPasskeyEnrollment(
    _ request: StartPasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasskeyCreationOptions { throw .withoutPasskeys }

  /// Fails.
  public func finalizePasskeyEnrollment(
    _ request: FinalizePasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeyEnrollmentResponse { throw .withoutPasskeys }

  /// Fails.
  public func startPasskeySignIn(
    context: CallContext
  ) async throws(AuthServiceError) -> PasskeyRequestOptions { throw .withoutPasskeys }

  /// Fails.
  public func finalizePasskeySignIn(
    _ request: FinalizePasskeySignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeySignInResponse { throw .withoutPasskeys }
}

extension AuthServiceError {
  fileprivate static var withoutPasskeys: AuthServiceError {
    AuthServiceError(.notImplemented, "The backend has no passkeys.")
  }
}
