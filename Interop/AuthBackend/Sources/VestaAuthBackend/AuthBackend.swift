public import VestaServiceInterop

/// The identity service as its clients see it: one method for each of its calls.
///
/// An engine in the process implements it, a client of a remote service does, and a server puts any implementation of
/// it on the wire. Requests and responses mirror the wire's fields, so that such adapters are plain renaming.
///
/// Promises of every implementation (`VestaAuthBackendContracts` checks them):
/// - All methods may be called from any task at any time.
/// - A call that throws has changed nothing, with the exceptions that its documentation names.
/// - E-mail addresses, phone numbers and providers' users each belong to one account at the most, however many calls
///   claim them at the same time.
/// - A code works once, however many calls send it at the same time.
/// - A string that is missing and one that is empty are the same: both fail with the `MISSING_…` name of the field.
/// - Errors follow the order of checks that the documentation of a call lists.
/// - A cancelled caller gets the code `CANCELLED`; its changes so far may have happened.
public protocol AuthBackend: Sendable {
  // MARK: Signing in

  /// Makes an account with a password, an anonymous account, or adds a password to the account of an ID token.
  ///
  /// Checks: `MISSING_EMAIL`, `MISSING_PASSWORD`, `OPERATION_NOT_ALLOWED`, `ADMIN_ONLY_OPERATION` (anonymous),
  /// `INVALID_EMAIL`, `EMAIL_EXISTS`, `WEAK_PASSWORD`, `PASSWORD_DOES_NOT_MEET_REQUIREMENTS`.
  func signUp(
    _ request: SignUpRequest, context: CallContext
  ) async throws(AuthServiceError) -> SignUpResponse

  /// Signs in with an e-mail address and a password.
  ///
  /// Checks: `PASSWORD_LOGIN_DISABLED`, `MISSING_EMAIL`, `INVALID_EMAIL`, `MISSING_PASSWORD`,
  /// `TOO_MANY_ATTEMPTS_TRY_LATER`, then `INVALID_LOGIN_CREDENTIALS` (or `EMAIL_NOT_FOUND` and `INVALID_PASSWORD` where
  /// the project does not hide which), with `USER_DISABLED` before the password is looked at.
  func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasswordSignInResponse

  /// Signs in with a token that a server of the project has signed; creates an account if there is none.
  ///
  /// Checks: `MISSING_CUSTOM_TOKEN`, `INVALID_CUSTOM_TOKEN`, `TENANT_ID_MISMATCH`, `MISSING_IDENTIFIER`,
  /// `INVALID_CLAIMS`, `FORBIDDEN_CLAIM`, `USER_DISABLED`.
  func signInWithCustomToken(
    _ request: CustomTokenSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> CustomTokenSignInResponse

  /// Signs in with the code of an e-mail link, or adds the address to the account of an ID token.
  ///
  /// The code is used up as soon as it fits the address, also where a later check fails.
  ///
  /// Checks: `OPERATION_NOT_ALLOWED`, `MISSING_EMAIL`, `MISSING_OOB_CODE`, `INVALID_OOB_CODE`, `EXPIRED_OOB_CODE`,
  /// `INVALID_EMAIL`, `EMAIL_EXISTS` (when linking), `USER_DISABLED`.
  func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> EmailLinkSignInResponse

  /// Signs in with the credential of an identity provider, or links it to the account of an ID token.
  ///
  /// With `returnIdpCredential`, the provider's answer is in the response also where the account refuses it:
  /// `errorMessage` has the error's name then.
  ///
  /// Checks: `INVALID_PROVIDER_ID`, `OPERATION_NOT_ALLOWED`, `INVALID_IDP_RESPONSE`, `MISSING_OR_INVALID_NONCE`, then
  /// `FEDERATED_USER_ID_ALREADY_LINKED` and `EMAIL_EXISTS` (when linking), `USER_DISABLED`.
  func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> IdpSignInResponse

  /// Sends a code to a phone.
  ///
  /// Checks: `UNSUPPORTED_TENANT_OPERATION`, `INVALID_PHONE_NUMBER` (also when it is missing), `OPERATION_NOT_ALLOWED`,
  /// `UNSUPPORTED_FIRST_FACTOR`, `TOO_MANY_ATTEMPTS_TRY_LATER`.
  func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendVerificationCodeResponse

  /// Signs in with the code that was sent to a phone, or links the number to the account of an ID token.
  ///
  /// Checks: `UNSUPPORTED_TENANT_OPERATION`, `MISSING_PHONE_NUMBER`, `INVALID_TEMPORARY_PROOF`, `MISSING_SESSION_INFO`,
  /// `MISSING_CODE`, `INVALID_SESSION_INFO`, `SESSION_EXPIRED`, `INVALID_CODE`, `USER_DISABLED`,
  /// `UNSUPPORTED_FIRST_FACTOR`, `PHONE_NUMBER_EXISTS` (with a temporary proof).
  func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PhoneSignInResponse

  // MARK: The account of an ID token

  /// The account of an ID token.
  ///
  /// Checks: `MISSING_ID_TOKEN`, `INVALID_ID_TOKEN`, `USER_NOT_FOUND`, `TOKEN_EXPIRED`, `USER_DISABLED`: the checks of
  /// every call that takes an ID token.
  func lookup(
    _ request: LookupRequest, context: CallContext
  ) async throws(AuthServiceError) -> LookupResponse

  /// Changes the account of an ID token, or does what an out-of-band code was sent for.
  ///
  /// A changed e-mail address or password ends all sessions but the caller's, who gets new tokens. A code is used up
  /// also where a later check fails.
  ///
  /// Checks: `INVALID_REQ_TYPE`, the checks of the ID token or of the code, `CREDENTIAL_TOO_OLD_LOGIN_AGAIN`,
  /// `INVALID_EMAIL`, `EMAIL_EXISTS`, `OPERATION_NOT_ALLOWED`, `WEAK_PASSWORD`, `PASSWORD_DOES_NOT_MEET_REQUIREMENTS`.
  func update(
    _ request: UpdateRequest, context: CallContext
  ) async throws(AuthServiceError) -> UpdateResponse

  /// Deletes the account of an ID token, with its sessions.
  ///
  /// Checks: the ID token's, `CREDENTIAL_TOO_OLD_LOGIN_AGAIN`.
  func delete(_ request: DeleteRequest, context: CallContext) async throws(AuthServiceError)

  // MARK: Codes by e-mail

  /// Sends a code by e-mail: to verify the address, to reset the password, to sign in, to change the address.
  ///
  /// Where the project hides which addresses have accounts, asking for a password reset always succeeds.
  ///
  /// Checks: `MISSING_REQ_TYPE`, `INVALID_CONTINUE_URI`, `UNAUTHORIZED_DOMAIN`, then by type `OPERATION_NOT_ALLOWED`,
  /// `MISSING_EMAIL`, `INVALID_EMAIL`, `EMAIL_NOT_FOUND`, `INVALID_ID_TOKEN`, `MISSING_ID_TOKEN`, `USER_NOT_FOUND`,
  /// `MISSING_NEW_EMAIL`, `EMAIL_EXISTS`; `RESET_PASSWORD_EXCEED_LIMIT`.
  func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendOobCodeResponse

  /// Says what a code is for, or resets a password with it.
  ///
  /// Without a new password the code stays usable. With one, all sessions of the account end, and its providers are
  /// unlinked: the holder of the mailbox alone holds the account.
  ///
  /// Checks: `MISSING_OOB_CODE`, `PASSWORD_LOGIN_DISABLED`, `INVALID_OOB_CODE`, `EXPIRED_OOB_CODE`, `WEAK_PASSWORD`,
  /// `PASSWORD_DOES_NOT_MEET_REQUIREMENTS`, `USER_DISABLED`.
  func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(AuthServiceError) -> ResetPasswordResponse

  /// Returns the sign-in methods of an e-mail address; none where the project hides them.
  ///
  /// Checks: `MISSING_IDENTIFIER`, `INVALID_IDENTIFIER`, `MISSING_CONTINUE_URI`, `INVALID_CONTINUE_URI`.
  func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(AuthServiceError) -> CreateAuthURIResponse

  // MARK: Tokens

  /// Gives a new ID token for a refresh token.
  ///
  /// Neither the time of the last sign-in nor the claims of the session change.
  ///
  /// Checks: `MISSING_REFRESH_TOKEN`, `INVALID_REFRESH_TOKEN`, `TENANT_ID_MISMATCH`, `USER_NOT_FOUND`, `TOKEN_EXPIRED`,
  /// `USER_DISABLED`.
  func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(AuthServiceError) -> RefreshResponse

  /// Revokes a token of an identity provider that the account of an ID token uses.
  ///
  /// Checks: the ID token's, `MISSING_PROVIDER_ID`, `INVALID_PROVIDER_ID`.
  func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws(AuthServiceError)

  // MARK: Second factors

  /// Begins to add a second factor to the account of an ID token.
  ///
  /// Checks: the ID token's, `UNSUPPORTED_FIRST_FACTOR`, `UNVERIFIED_EMAIL`, `OPERATION_NOT_ALLOWED`,
  /// `INVALID_PHONE_NUMBER`, `SECOND_FACTOR_EXISTS`, `SECOND_FACTOR_LIMIT_EXCEEDED`.
  func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaEnrollmentResponse

  /// Adds a second factor; the new session has been signed in with it.
  ///
  /// Checks: the ID token's, `MISSING_CODE`, `MISSING_SESSION_INFO`, `INVALID_SESSION_INFO`, `SESSION_EXPIRED`,
  /// `INVALID_CODE`, `SECOND_FACTOR_EXISTS`, `SECOND_FACTOR_LIMIT_EXCEEDED`.
  func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens

  /// Takes a second factor away; ends the other sessions.
  ///
  /// Checks: the ID token's, `MISSING_MFA_ENROLLMENT_ID`, `MFA_ENROLLMENT_NOT_FOUND`.
  func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens

  /// Begins to sign in with a second factor: sends its code. Not needed for TOTP.
  ///
  /// Checks: `MISSING_MFA_PENDING_CREDENTIAL`, `MISSING_MFA_ENROLLMENT_ID`, `INVALID_MFA_PENDING_CREDENTIAL`,
  /// `MFA_ENROLLMENT_NOT_FOUND`.
  func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaSignInResponse

  /// Signs in with a second factor.
  ///
  /// Checks: `MISSING_CREDENTIAL`, `MISSING_CODE`, `INVALID_MFA_PENDING_CREDENTIAL`, `MISSING_SESSION_INFO`,
  /// `INVALID_SESSION_INFO`, `MFA_ENROLLMENT_NOT_FOUND`, `INVALID_CODE`, `USER_DISABLED`.
  func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens

  // MARK: Passkeys

  /// Begins to add a passkey to the account of an ID token.
  ///
  /// Checks: the ID token's, `CREDENTIAL_TOO_OLD_LOGIN_AGAIN`.
  func startPasskeyEnrollment(
    _ request: StartPasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasskeyCreationOptions

  /// Adds a passkey that an authenticator has made, and opens a session.
  ///
  /// Checks: `MISSING_ID_TOKEN`, `MISSING_AUTHENTICATOR_RESPONSE`, the ID token's, `CREDENTIAL_TOO_OLD_LOGIN_AGAIN`,
  /// `INVALID_CREDENTIAL_ID`, `INVALID_AUTHENTICATOR_RESPONSE`, `CREDENTIAL_ALREADY_IN_USE`.
  func finalizePasskeyEnrollment(
    _ request: FinalizePasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeyEnrollmentResponse

  /// Begins to sign in with a passkey.
  func startPasskeySignIn(context: CallContext) async throws(AuthServiceError) -> PasskeyRequestOptions

  /// Signs in with the signature of a passkey.
  ///
  /// Checks: `MISSING_AUTHENTICATOR_RESPONSE`, `INVALID_CREDENTIAL_ID`, `PASSKEY_CREDENTIAL_NOT_FOUND`,
  /// `INVALID_AUTHENTICATOR_RESPONSE`, `USER_DISABLED`.
  func finalizePasskeySignIn(
    _ request: FinalizePasskeySignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeySignInResponse

  // MARK: The project

  /// The password policy.
  func passwordPolicy(context: CallContext) async throws(AuthServiceError) -> PasswordPolicy

  /// Returns the part of the project's settings that clients may read.
  func publicProjectConfig(context: CallContext) async throws(AuthServiceError) -> PublicProjectConfig

  /// The keys with which ID tokens and session cookies can be verified: the current ones and the previous ones.
  func publicKeys(context: CallContext) async throws(AuthServiceError) -> PublicKeysResponse

  /// The same keys as certificates, the form that the administrative libraries of Firebase read.
  func certificates(context: CallContext) async throws(AuthServiceError) -> CertificatesResponse
}
