public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop
import VestaTransportInterop

// Signing in; the proofs that a sign-in uses up are never sent twice.
extension AuthRemote {
  /// Makes an account with a password, an anonymous account, or adds a password to the account of an ID token.
  ///
  /// An owner makes accounts by `createUser`: on the wire both are one call, and an owner's starts no
  /// session.
  public func signUp(_ request: SignUpRequest, context: CallContext) async throws(AuthServiceError) -> SignUpResponse {
    if context.caller.isOwner, request.idToken == nil {
      throw AuthServiceError(.notImplemented, "An owner makes accounts with createUser when the service is remote.")
    }
    return try await caller.send(
      .signUp, context, isRepeatable: false, { try SignUpRequestWire.json(of: request) },
      { try SignUpResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Signs in with an e-mail address and a password.
  public func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasswordSignInResponse {
    try await caller.send(
      .signInWithPassword, context, { try PasswordSignInRequestWire.json(of: request) },
      { try PasswordSignInResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Signs in with a token that a server of the project has signed.
  public func signInWithCustomToken(
    _ request: CustomTokenSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> CustomTokenSignInResponse {
    try await caller.send(
      .signInWithCustomToken, context, { try CustomTokenSignInRequestWire.json(of: request) },
      { try CustomTokenSignInResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Signs in with the code of an e-mail link, or adds the address to the account of an ID token.
  public func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> EmailLinkSignInResponse {
    try await caller.send(
      .signInWithEmailLink, context, isRepeatable: false, { try EmailLinkSignInRequestWire.json(of: request) },
      { try EmailLinkSignInResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Signs in with the credential of an identity provider, or links it to the account of an ID token.
  public func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> IdpSignInResponse {
    try await caller.send(
      .signInWithIdp, context, isRepeatable: false, { try IdpSignInRequestWire.json(of: request) },
      { try IdpSignInResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Sends a code to a phone.
  public func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendVerificationCodeResponse {
    try await caller.send(
      .sendVerificationCode, context, isRepeatable: false, { try SendVerificationCodeRequestWire.json(of: request) },
      { try SendVerificationCodeResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Signs in with the code that was sent to a phone, or links the number to the account of an ID token.
  public func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PhoneSignInResponse {
    try await caller.send(
      .signInWithPhoneNumber, context, isRepeatable: false, { try PhoneSignInRequestWire.json(of: request) },
      { try PhoneSignInResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  // MARK: Second factors

  /// Begins to add a second factor to the account of an ID token.
  public func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaEnrollmentResponse {
    try await caller.send(
      .startMfaEnrollment, context, isRepeatable: false, { try StartMfaEnrollmentRequestWire.json(of: request) },
      { try StartMfaEnrollmentResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Adds a second factor.
  public func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await caller.send(
      .finalizeMfaEnrollment, context, isRepeatable: false, { try FinalizeMfaEnrollmentRequestWire.json(of: request) },
      { try AuthTokensWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Takes a second factor away.
  public func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await caller.send(
      .withdrawMfaEnrollment, context, isRepeatable: false, { try WithdrawMfaEnrollmentRequestWire.json(of: request) },
      { try AuthTokensWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Begins to sign in with a second factor.
  public func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaSignInResponse {
    try await caller.send(
      .startMfaSignIn, context, isRepeatable: false, { try StartMfaSignInRequestWire.json(of: request) },
      { try StartMfaSignInResponseWire.value(json: $0, ignoresUnknownNames: true) })
  }

  /// Signs in with a second factor.
  public func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await caller.send(
      .finalizeMfaSignIn, context, isRepeatable: false, { try FinalizeMfaSignInRequestWire.json(of: request) },
      { try AuthTokensWire.value(json: $0, ignoresUnknownNames: true) })
  }
}
