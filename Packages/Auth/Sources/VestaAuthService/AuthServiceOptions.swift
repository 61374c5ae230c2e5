public import VestaAuthBackend
public import VestaCryptoInterop
public import VestaServiceInterop

/// The options of the embedded service of Auth.
///
/// Settings that are kept in the store, such as `ProjectConfig`, are not among them.
public struct AuthServiceOptions: Sendable {
  /// Accepts unsigned custom tokens, and unverified credentials of identity providers without configured keys.
  ///
  /// A user whose address a code changes, or takes back, stays signed in and keeps the password, as test suites expect
  /// it of a local server.
  ///
  /// Never enable in production: any caller of the service can sign in as any user.
  public var isDevelopment = false

  /// Issues unsigned ID tokens and session cookies, and takes unsigned tokens as credentials; in development mode only.
  ///
  /// Test suites and their kits expect it of a local server.
  ///
  /// - ID tokens and session cookies have the algorithm `none` and an empty third part.
  /// - A credential that is an unsigned token is its `user_id`, or else its `sub`, whatever its times and its audience
  ///   say. `owner`, in any case, and what begins with `ya29.` are the owner. Signed tokens are verified as ever.
  /// - Every caller that reaches the service can be any user, and the owner: let it listen on this machine only.
  public var usesDevelopmentTokens = false

  /// Asks blocking functions, where the settings of the project name some; without it none are asked.
  ///
  /// A library may provide it as a component.
  public var blockingFunctions: (any AuthBlockingFunctions)?

  /// The settings of a project that has none in the store yet.
  public var initialConfig = ProjectConfig()

  // MARK: Passwords and tokens

  /// The scheme of new password hashes; hashes of another scheme are replaced at the next sign-in.
  public var passwordScheme = PasswordScheme.standard

  /// The lifetime of ID tokens, at least ten minutes.
  ///
  /// Clients refresh a token five minutes before it expires. With a shorter lifetime they would refresh all the time,
  /// so less than ten minutes counts as ten minutes.
  public var idTokenLifetime = Duration.seconds(3600) {
    didSet { idTokenLifetime = max(.seconds(600), idTokenLifetime) }
  }

  /// The time after a sign-in during which an address, a password, a provider, a second factor or an account can be
  /// changed; after it, calls fail with `CREDENTIAL_TOO_OLD_LOGIN_AGAIN`.
  public var recentSignInWindow = Duration.seconds(300)

  /// The lifetime of a signing key; after it, tokens are signed with a new key.
  public var signingKeyLifetime = Duration.seconds(30 * 86_400)

  /// The maximum number of sessions of an account; beyond it, the sessions with the oldest sign-in end.
  ///
  /// A client that signs out does not notify the service, so without a limit every sign-in would leave a session
  /// behind.
  public var sessionLimit = 1_000

  // MARK: Codes

  /// The lifetime of codes by e-mail, by their purpose; an hour for a purpose that is not listed.
  public var oobCodeLifetimes: [OobRequestType: Duration] = [
    .verifyEmail: .seconds(3 * 86_400), .verifyAndChangeEmail: .seconds(3 * 86_400),
    .emailSignIn: .seconds(6 * 3600), .recoverEmail: .seconds(30 * 86_400),
    .revertSecondFactorAddition: .seconds(30 * 86_400),
  ]

  /// The lifetime of codes by text message.
  public var verificationCodeLifetime = Duration.seconds(900)

  /// The number of wrong digits that end a code by text message.
  public var verificationAttempts = 5

  /// The URL that the links of messages lead to; the code and its mode are added to it.
  public var actionURL = "http://localhost/__/auth/action"

  /// The schemes of the project's own apps, in lower case, to which the links of messages may continue in addition to
  /// the pages of authorized domains.
  ///
  /// A link with such a scheme opens whichever app has claimed it.
  public var continueURLSchemes: Set<String> = []

  /// Delivers codes to users; `nil` for the `CodeSender` that a library registers, and without one for a
  /// ``RecordingCodeSender``.
  public var codeSender: (any CodeSender)?

  /// Phone numbers for tests, each with its six digits: they always work for the number, and no message is sent.
  ///
  /// ```swift
  /// options.testPhoneNumbers = ["+16505553434": "654321"]
  /// ```
  ///
  /// Every caller that knows a number and its digits can sign in with it: give test numbers to test accounts only.
  public var testPhoneNumbers: [String: String] = [:]

  // MARK: Second factors

  /// The time within which a second factor has to follow the first, and an enrolment has to be finished.
  public var secondFactorLifetime = Duration.seconds(900)

  /// The maximum number of second factors of an account.
  public var secondFactorLimit = 5

  // MARK: Passkeys

  /// The service that passkeys are for.
  ///
  /// In development an answer of an authenticator is not verified: the id of a passkey is enough to sign in.
  public var passkeyRelyingParty = PasskeyRelyingParty.localhost

  /// The time within which an authenticator has to answer.
  public var passkeyChallengeLifetime = Duration.seconds(300)

  /// The maximum number of passkeys of an account.
  public var passkeyLimit = 20

  // MARK: Limits on guessing

  /// The limit on guesses of a password, or of a second factor's digits, for one account.
  public var accountGuesses = RateLimit(burst: 10, refillInterval: .seconds(60))

  /// The limit on guesses of the six digits that were sent to one phone, over all of its codes; right ones do not
  /// count.
  ///
  /// Once it is used up, each code can be guessed once: a stranger's wrong digits do not keep the owner of the phone
  /// from signing in. A second guess fails with `TOO_MANY_ATTEMPTS_TRY_LATER`; a new code can be asked for.
  public var digitGuesses = RateLimit(burst: 10, refillInterval: .seconds(600))

  /// The limit on guesses of passwords from one network address.
  public var addressGuesses = RateLimit(burst: 100, refillInterval: .seconds(6))

  /// The limit on codes to one mailbox or phone.
  public var codesPerRecipient = RateLimit(burst: 20, refillInterval: .seconds(60))

  /// The number of passwords that may be compared or wait for it at the same time; more are refused with
  /// `TOO_MANY_ATTEMPTS_TRY_LATER`.
  public var waitingHashes = 4_096

  /// The same for one network address (`CallContext.clientAddress`).
  public var waitingHashesPerCaller = 64

  // MARK: Identity providers

  /// The keys that verify the ID tokens of identity providers, by the provider's id, such as "google.com".
  ///
  /// They take precedence over the providers that owners set up (`AuthAdminBackend.identityProviders`).
  public var identityProviders: [String: IdentityProviderKeys] = [:]

  /// Fetches the keys of the providers that owners set up; without it, their credentials are accepted in development
  /// only.
  ///
  /// A library may provide it as a component.
  public var identityProviderKeys: (any IdentityProviderKeySource)?

  /// The closures that revoke a token at an identity provider, by the provider's id, such as "apple.com".
  ///
  /// Called with a request of a user who has the provider, outside of any transaction. The engine itself reaches no
  /// provider: for a provider that is not listed it fails with `NOT_IMPLEMENTED`. An `AuthServiceError` that is thrown
  /// is passed to the caller unchanged.
  public var tokenRevokers: [String: @Sendable (RevokeTokenRequest) async throws -> Void] = [:]

  /// The clock.
  public var clock = ServiceClock.system

  var tuning = AuthTuning()

  /// The defaults: no development mode, the system's clock, one hour for ID tokens.
  public init() {}

  /// Whether unsigned tokens are issued and taken.
  var hasDevelopmentTokens: Bool { isDevelopment && usesDevelopmentTokens }

  /// The time in milliseconds since 1970: accounts and sessions are stored, and sent in `createdAt` and `lastLoginAt`,
  /// in that unit, where other engines count in microseconds.
  func now() -> Int64 { clock.milliseconds() }
}

/// The verification of the ID tokens of an identity provider.
public struct IdentityProviderKeys: Sendable {
  /// The accepted issuers (`iss`).
  public var issuers: Set<String>

  /// The accepted audiences (`aud`): the app's client ids at the provider.
  public var audiences: Set<String>

  /// The provider's keys.
  public var keys: JSONWebKeySet

  /// Creates a value with these properties.
  public init(issuers: Set<String>, audiences: Set<String>, keys: JSONWebKeySet) {
    self.issuers = issuers
    self.audiences = audiences
    self.keys = keys
  }
}
