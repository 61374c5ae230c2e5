public import VestaAuthBackend
public import VestaCryptoInterop
import VestaEventsInterop
public import VestaServiceInterop
public import VestaStoreInterop

/// The authoritative service of Auth, on any ordered store and any crypto provider.
///
/// - All that it knows is in the store: a second engine on the same data, now or after a restart, continues where this
///   one was. In memory there are only the keys, which are read again when they change, the limits on guessing, and
///   messages that are being sent.
/// - Each call is one transaction at its core. Passwords are hashed and tokens are signed outside of it, and whatever
///   the call relied on is read again inside.
/// - Refresh tokens and codes are kept as their SHA-256 only: who reads the store cannot use them.
/// - Everything that is issued to an account carries the account's epoch, and ends when that changes.
///
/// ```swift
/// let engine = AuthEngine(projectID: "demo", crypto: crypto) { try await provider.openStore(…) }
/// let account = try await engine.signUp(SignUpRequest(email: "a@b.c", password: "secret"), context: CallContext())
/// ```
///
/// The calls of clients are here, the calls of administrators in ``administration``; both run in the same `AuthCore`.
///
/// To read on: `Core/AuthCore.swift`, `Calls/AuthOperation.swift` and `Calls/AuthCall.swift`, then the call in question
/// in `Calls/`, the decisions in `Rules/`, and the rows in `Store/Keys.swift`.
public final class AuthEngine: AuthBackend {
  let core: AuthCore

  /// The calls of administrators on the same accounts.
  public let administration: AuthAdministration

  /// An engine; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - projectID: The project, which is named in all tokens.
  ///   - options: How it behaves.
  ///   - crypto: The provider of hashes and signatures.
  ///   - openStore: Opens the store, at the first call; called again at the next one when it throws.
  public init(
    projectID: String,
    options: AuthServiceOptions = AuthServiceOptions(),
    crypto: any CryptoProvider,
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    core = AuthCore(
      projectID: projectID, options: options, crypto: crypto, verifier: AuthCallerVerifier.init, openStore: openStore)
    administration = AuthAdministration(core)
  }

  /// The events of accounts that functions want.
  var events: EventOutbox { core.events }

  /// The verifier of who calls, which the other services of the project ask, too.
  var callers: CachedCallerVerifier { core.callers }

  /// Closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws { try await core.close() }

  // MARK: Signing in

  /// Makes an account with a password, an anonymous account, or adds a password to the account of an ID token.
  public func signUp(
    _ request: SignUpRequest, context: CallContext
  ) async throws(AuthServiceError) -> SignUpResponse {
    try await core.serve(context, as: SignInOperation.self) { try await $0.signUp(request) }
  }

  /// Signs in with an e-mail address and a password.
  public func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasswordSignInResponse {
    try await core.serve(context, as: SignInOperation.self) { try await $0.signInWithPassword(request) }
  }

  /// Signs in with a token that a server of the project has signed; creates an account if there is none.
  public func signInWithCustomToken(
    _ request: CustomTokenSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> CustomTokenSignInResponse {
    try await core.serve(context, as: SignInOperation.self) { try await $0.signInWithCustomToken(request) }
  }

  /// Signs in with the code of an e-mail link, or adds the address to the account of an ID token.
  public func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> EmailLinkSignInResponse {
    try await core.serve(context, as: SignInOperation.self) { try await $0.signInWithEmailLink(request) }
  }

  /// Signs in with the credential of an identity provider, or links it to the account of an ID token.
  public func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> IdpSignInResponse {
    try await core.serve(context, as: SignInOperation.self) { try await $0.signInWithIdp(request) }
  }

  /// Sends a code to a phone.
  public func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendVerificationCodeResponse {
    try await core.serve(context, as: SignInOperation.self) { try await $0.sendVerificationCode(request) }
  }

  /// Signs in with the code that was sent to a phone, or links the number to the account of an ID token.
  public func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PhoneSignInResponse {
    try await core.serve(context, as: SignInOperation.self) { try await $0.signInWithPhoneNumber(request) }
  }

  // MARK: The account of an ID token

  /// The account of an ID token.
  public func lookup(
    _ request: LookupRequest, context: CallContext
  ) async throws(AuthServiceError) -> LookupResponse {
    try await core.serve(context, as: AccountOperation.self) { try await $0.lookup(request) }
  }

  /// Changes the account of an ID token, or does what an out-of-band code was sent for.
  public func update(
    _ request: UpdateRequest, context: CallContext
  ) async throws(AuthServiceError) -> UpdateResponse {
    try await core.serve(context, as: AccountOperation.self) { try await $0.update(request) }
  }

  /// Deletes the account of an ID token, with its sessions.
  public func delete(_ request: DeleteRequest, context: CallContext) async throws(AuthServiceError) {
    try await core.serve(context, as: AccountOperation.self) { try await $0.delete(request) }
  }

  // MARK: Codes by e-mail

  /// Sends a code by e-mail: to verify the address, to reset the password, to sign in, to change the address.
  public func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendOobCodeResponse {
    try await core.serve(context, as: CodeOperation.self) { try await $0.sendOobCode(request) }
  }

  /// Says what a code is for, or resets a password with it.
  public func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(AuthServiceError) -> ResetPasswordResponse {
    try await core.serve(context, as: CodeOperation.self) { try await $0.resetPassword(request) }
  }

  /// Returns the sign-in methods of an e-mail address; none where the project hides them.
  public func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(AuthServiceError) -> CreateAuthURIResponse {
    try await core.serve(context, as: CodeOperation.self) { try await $0.createAuthURI(request) }
  }

  // MARK: Tokens

  /// Gives a new ID token for a refresh token.
  public func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(AuthServiceError) -> RefreshResponse {
    try await core.serve(context, as: AccountOperation.self) { try await $0.refresh(request) }
  }

  /// Revokes a token of an identity provider that the account of an ID token uses.
  public func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws(AuthServiceError) {
    try await core.serve(context, as: SignInOperation.self) { try await $0.revokeToken(request) }
  }

  // MARK: Second factors

  /// Begins to add a second factor to the account of an ID token.
  public func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaEnrollmentResponse {
    try await core.serve(context, as: FactorOperation.self) { try await $0.startMfaEnrollment(request) }
  }

  /// Adds a second factor; the new session has been signed in with it.
  public func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await core.serve(context, as: FactorOperation.self) { try await $0.finalizeMfaEnrollment(request) }
  }

  /// Takes a second factor away; ends the other sessions.
  public func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await core.serve(context, as: FactorOperation.self) { try await $0.withdrawMfaEnrollment(request) }
  }

  /// Begins to sign in with a second factor, and sends its code; not needed for TOTP.
  public func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaSignInResponse {
    try await core.serve(context, as: FactorOperation.self) { try await $0.startMfaSignIn(request) }
  }

  /// Signs in with a second factor.
  public func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await core.serve(context, as: FactorOperation.self) { try await $0.finalizeMfaSignIn(request) }
  }

  // MARK: Passkeys

  /// Begins to add a passkey to the account of an ID token.
  public func startPasskeyEnrollment(
    _ request: StartPasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasskeyCreationOptions {
    try await core.serve(context, as: PasskeyOperation.self) { try await $0.startEnrollment(request) }
  }

  /// Adds a passkey that an authenticator has made, and opens a session.
  public func finalizePasskeyEnrollment(
    _ request: FinalizePasskeyEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeyEnrollmentResponse {
    try await core.serve(context, as: PasskeyOperation.self) { try await $0.finalizeEnrollment(request) }
  }

  /// Begins to sign in with a passkey.
  public func startPasskeySignIn(context: CallContext) async throws(AuthServiceError) -> PasskeyRequestOptions {
    try await core.serve(context, as: PasskeyOperation.self) { try await $0.startSignIn() }
  }

  /// Signs in with the signature of a passkey.
  public func finalizePasskeySignIn(
    _ request: FinalizePasskeySignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> FinalizePasskeySignInResponse {
    try await core.serve(context, as: PasskeyOperation.self) { try await $0.finalizeSignIn(request) }
  }

  // MARK: The project

  /// The password policy.
  public func passwordPolicy(context: CallContext) async throws(AuthServiceError) -> PasswordPolicy {
    try await core.serve(context, as: AccountOperation.self) { try await $0.passwordPolicy() }
  }

  /// Returns the part of the project's settings that clients may read.
  public func publicProjectConfig(context: CallContext) async throws(AuthServiceError) -> PublicProjectConfig {
    try await core.serve(context, as: AccountOperation.self) { try await $0.publicProjectConfig() }
  }

  /// The keys with which ID tokens and session cookies can be verified: the current ones and the previous ones.
  public func publicKeys(context: CallContext) async throws(AuthServiceError) -> PublicKeysResponse {
    try await core.serve(context, as: AccountOperation.self) { try await $0.publicKeys() }
  }

  /// The same keys as certificates.
  public func certificates(context: CallContext) async throws(AuthServiceError) -> CertificatesResponse {
    try await core.serve(context, as: AccountOperation.self) { try await $0.certificates() }
  }
}
