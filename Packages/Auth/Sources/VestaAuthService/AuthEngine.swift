public import VestaAuthBackend
import VestaConcurrency
import VestaCore
public import VestaCryptoInterop
import VestaEngineInterop
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
/// To read on: `Calls/AuthOperation.swift` and `Calls/AuthCall.swift`, then the call in question in `Calls/`, the
/// decisions in `Rules/`, and the rows in `Store/Keys.swift`.
public final class AuthEngine: AuthBackend, AuthAdminBackend {
  let projectID: String
  let options: AuthServiceOptions
  let crypto: any CryptoProvider
  let sender: any CodeSender
  let outbox = Outbox()
  let frame: EngineFrame<AuthServiceError>
  /// The verifier of who calls: this engine's own, which the other services of the project ask, too.
  let callers: CachedCallerVerifier
  let keyRing: KeyRing
  let limits: Locked<GuessLimits>
  /// The hashing of passwords, which costs the time of a core.
  let hashing: HashingQueue
  /// Whether other processes may have the store open, too; known once it is open.
  private let isShared = Locked(false)

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
    self.projectID = projectID
    self.options = options
    self.crypto = crypto
    sender = options.codeSender ?? RecordingCodeSender(logsSecrets: options.isDevelopment)
    // Weakly: the engine's frame asks a verifier that asks the engine.
    let own = WeakEngine()
    let callers = CachedCallerVerifier(AuthCallerVerifier(own), clock: options.clock)
    self.callers = callers
    let frame = EngineFrame<AuthServiceError>(
      "Auth", clock: options.clock, callers: CallerCheck(callers: callers), events: UserEvents.offer,
      translate: { ($0 as? CryptoError).map { .init(.internalError, "The crypto provider failed: \($0.code).") } },
      openStore: { [isShared] in
        let store = try await openStore()
        isShared.withLock { $0 = Self.isShared(store) }
        return store
      }
    ) { log.error("I-AUS000007", "A call failed unexpectedly. \($0)") }
    self.frame = frame
    keyRing = KeyRing(crypto: crypto, options: options, projectID: projectID) { try await frame.store() }
    limits = Locked(GuessLimits(options))
    hashing = HashingQueue(waiting: options.waitingHashes, perCaller: options.waitingHashesPerCaller)
    own.set(self)
  }

  /// The events of accounts that functions want.
  var events: EventOutbox { frame.events }

  /// Whether other processes may have the store open, too, as far as it has been opened.
  var hasSharedStore: Bool { isShared.withLock { $0 } }

  /// Closes the store; every later call fails with `UNAVAILABLE`.
  ///
  /// - Throws: `StoreError` when the store could not be closed well.
  public func close() async throws {
    outbox.close()
    try await frame.close()
  }

  /// Runs a call as the frame does.
  func serve<Operation: AuthOperation, Value: Sendable>(
    _ context: CallContext, as _: Operation.Type, _ call: @escaping @Sendable (Operation) async throws -> Value
  ) async throws(AuthServiceError) -> Value {
    try await frame.serve(context) { [self] context in try await call(Operation(engine: self, context: context)) }
  }

  /// Reads the store.
  ///
  /// - Parameter first: The keys that the body gets first, which a store that is reached over a network brings with the
  ///   beginning.
  func read<Value>(
    expecting first: [[UInt8]] = [], _ body: (any StoreReader) async throws -> Value
  ) async throws -> Value {
    try await frame.store().read(expecting: .keys(first), body)
  }

  /// Writes to the store; `body` may run again after a conflict.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Value
  ) async throws -> Value {
    try await frame.write(body)
  }

  // MARK: Signing in

  /// Makes an account with a password, an anonymous account, or adds a password to the account of an ID token.
  public func signUp(
    _ request: SignUpRequest, context: CallContext
  ) async throws(AuthServiceError) -> SignUpResponse {
    try await serve(context, as: SignInOperation.self) { try await $0.signUp(request) }
  }

  /// Signs in with an e-mail address and a password.
  public func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PasswordSignInResponse {
    try await serve(context, as: SignInOperation.self) { try await $0.signInWithPassword(request) }
  }

  /// Signs in with a token that a server of the project has signed; creates an account if there is none.
  public func signInWithCustomToken(
    _ request: CustomTokenSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> CustomTokenSignInResponse {
    try await serve(context, as: SignInOperation.self) { try await $0.signInWithCustomToken(request) }
  }

  /// Signs in with the code of an e-mail link, or adds the address to the account of an ID token.
  public func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> EmailLinkSignInResponse {
    try await serve(context, as: SignInOperation.self) { try await $0.signInWithEmailLink(request) }
  }

  /// Signs in with the credential of an identity provider, or links it to the account of an ID token.
  public func signInWithIdp(
    _ request: IdpSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> IdpSignInResponse {
    try await serve(context, as: SignInOperation.self) { try await $0.signInWithIdp(request) }
  }

  /// Sends a code to a phone.
  public func sendVerificationCode(
    _ request: SendVerificationCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendVerificationCodeResponse {
    try await serve(context, as: SignInOperation.self) { try await $0.sendVerificationCode(request) }
  }

  /// Signs in with the code that was sent to a phone, or links the number to the account of an ID token.
  public func signInWithPhoneNumber(
    _ request: PhoneSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> PhoneSignInResponse {
    try await serve(context, as: SignInOperation.self) { try await $0.signInWithPhoneNumber(request) }
  }

  // MARK: The account of an ID token

  /// The account of an ID token.
  public func lookup(
    _ request: LookupRequest, context: CallContext
  ) async throws(AuthServiceError) -> LookupResponse {
    try await serve(context, as: AccountOperation.self) { try await $0.lookup(request) }
  }

  /// Changes the account of an ID token, or does what an out-of-band code was sent for.
  public func update(
    _ request: UpdateRequest, context: CallContext
  ) async throws(AuthServiceError) -> UpdateResponse {
    try await serve(context, as: AccountOperation.self) { try await $0.update(request) }
  }

  /// Deletes the account of an ID token, with its sessions.
  public func delete(_ request: DeleteRequest, context: CallContext) async throws(AuthServiceError) {
    try await serve(context, as: AccountOperation.self) { try await $0.delete(request) }
  }

  // MARK: Codes by e-mail

  /// Sends a code by e-mail: to verify the address, to reset the password, to sign in, to change the address.
  public func sendOobCode(
    _ request: SendOobCodeRequest, context: CallContext
  ) async throws(AuthServiceError) -> SendOobCodeResponse {
    try await serve(context, as: CodeOperation.self) { try await $0.sendOobCode(request) }
  }

  /// Says what a code is for, or resets a password with it.
  public func resetPassword(
    _ request: ResetPasswordRequest, context: CallContext
  ) async throws(AuthServiceError) -> ResetPasswordResponse {
    try await serve(context, as: CodeOperation.self) { try await $0.resetPassword(request) }
  }

  /// Returns the sign-in methods of an e-mail address; none where the project hides them.
  public func createAuthURI(
    _ request: CreateAuthURIRequest, context: CallContext
  ) async throws(AuthServiceError) -> CreateAuthURIResponse {
    try await serve(context, as: CodeOperation.self) { try await $0.createAuthURI(request) }
  }

  // MARK: Tokens

  /// Gives a new ID token for a refresh token.
  public func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(AuthServiceError) -> RefreshResponse {
    try await serve(context, as: AccountOperation.self) { try await $0.refresh(request) }
  }

  /// Revokes a token of an identity provider that the account of an ID token uses.
  public func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws(AuthServiceError) {
    try await serve(context, as: SignInOperation.self) { try await $0.revokeToken(request) }
  }

  // MARK: Second factors

  /// Begins to add a second factor to the account of an ID token.
  public func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaEnrollmentResponse {
    try await serve(context, as: FactorOperation.self) { try await $0.startMfaEnrollment(request) }
  }

  /// Adds a second factor; the new session has been signed in with it.
  public func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await serve(context, as: FactorOperation.self) { try await $0.finalizeMfaEnrollment(request) }
  }

  /// Takes a second factor away; ends the other sessions.
  public func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await serve(context, as: FactorOperation.self) { try await $0.withdrawMfaEnrollment(request) }
  }

  /// Begins to sign in with a second factor, and sends its code; not needed for TOTP.
  public func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> StartMfaSignInResponse {
    try await serve(context, as: FactorOperation.self) { try await $0.startMfaSignIn(request) }
  }

  /// Signs in with a second factor.
  public func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(AuthServiceError) -> AuthTokens {
    try await serve(context, as: FactorOperation.self) { try await $0.finalizeMfaSignIn(request) }
  }

  // MARK: The project

  /// The password policy.
  public func passwordPolicy(context: CallContext) async throws(AuthServiceError) -> PasswordPolicy {
    try await serve(context, as: AccountOperation.self) { try await $0.passwordPolicy() }
  }

  /// Returns the part of the project's settings that clients may read.
  public func publicProjectConfig(context: CallContext) async throws(AuthServiceError) -> PublicProjectConfig {
    try await serve(context, as: AccountOperation.self) { try await $0.publicProjectConfig() }
  }

  /// The keys with which ID tokens and session cookies can be verified: the current ones and the previous ones.
  public func publicKeys(context: CallContext) async throws(AuthServiceError) -> PublicKeysResponse {
    try await serve(context, as: AccountOperation.self) { try await $0.publicKeys() }
  }

  /// The same keys as certificates.
  public func certificates(context: CallContext) async throws(AuthServiceError) -> CertificatesResponse {
    try await serve(context, as: AccountOperation.self) { try await $0.certificates() }
  }
}

private let log = Logger(service: "VestaAuthService")
