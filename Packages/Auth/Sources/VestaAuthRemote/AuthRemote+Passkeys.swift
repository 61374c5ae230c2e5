public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop
import VestaTransportInterop

// Passkeys; the answers that a call uses up are never sent twice.
extension AuthRemote {
  /// Begins to add a passkey to the account of an ID token.
  public func startPasskeyEnrollment(
    _ request: StartPasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasskeyCreationOptions {
    try await caller.send(
      .startPasskeyEnrollment, context, { try StartPasskeyEnrollmentRequestWire.json(of: request) },
      { try PasskeyCreationOptionsWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Adds a passkey that an authenticator has made, and opens a session.
  public func finalizePasskeyEnrollment(
    _ request: FinalizePasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeyEnrollmentResponse {
    try await caller.send(
      .finalizePasskeyEnrollment, context, isRepeatable: false,
      { try FinalizePasskeyEnrollmentRequestWire.json(of: request) },
      { try FinalizePasskeyEnrollmentResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Begins to sign in with a passkey.
  public func startPasskeySignIn(context: CallContext) async throws(AuthServiceError) -> PasskeyRequestOptions {
    try await caller.send(
      .startPasskeySignIn, context, { Array("{}".utf8) },
      { try PasskeyRequestOptionsWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Signs in with the signature of a passkey.
  public func finalizePasskeySignIn(
    _ request: FinalizePasskeySignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeySignInResponse {
    try await caller.send(
      .finalizePasskeySignIn, context, isRepeatable: false,
      { try FinalizePasskeySignInRequestWire.json(of: request) },
      { try FinalizePasskeySignInResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }
}
