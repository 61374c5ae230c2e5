public import VestaCryptoInterop
public import VestaAuthBackend

/// How the identity service behaves; what is kept in the store, such as `ProjectConfig`, is not here.
public struct AuthServiceOptions: Sendable {
  /// Whether credentials are believed that nobody has signed.
  ///
  /// Those are custom tokens without a signature, and what identity providers say where no keys are configured for
  /// them. Whoever can call the service can be anybody then.
  public var isDevelopment = false

  /// The settings of a project that has none in the store yet.
  public var initialConfig = ProjectConfig()

  /// How new passwords are hashed; others are hashed anew at the next sign-in.
  public var passwordScheme = PasswordScheme.standard

  /// For how many seconds an ID token is valid, at least 600.
  ///
  /// Clients refresh a token five minutes before it expires. With a shorter lifetime they would refresh all the time,
  /// so less than 600 counts as 600.
  public var idTokenLifetime: Int64 = 3600 {
    didSet { idTokenLifetime = max(600, idTokenLifetime) }
  }

  /// How many seconds after a sign-in an address, a password or an account can be changed without a new one.
  public var recentSignInWindow: Int64 = 300

  /// After how many seconds tokens are signed with a new key.
  public var signingKeyLifetime: Int64 = 30 * 86_400

  /// For how many seconds an e-mail's code is valid, by its purpose; an hour where nothing is said.
  public var oobCodeLifetimes: [OobRequestType: Int64] = [
    .verifyEmail: 3 * 86_400, .verifyAndChangeEmail: 3 * 86_400, .emailSignIn: 6 * 3600, .recoverEmail: 30 * 86_400,
  ]

  /// For how many seconds a phone's code is valid.
  public var verificationCodeLifetime: Int64 = 900

  /// For how many seconds a second factor may follow the first, and an enrolment be finished.
  public var secondFactorLifetime: Int64 = 900

  /// How many wrong digits a phone's code survives.
  public var verificationAttempts = 5

  /// How many second factors an account can have.
  public var secondFactorLimit = 5

  /// How many sessions an account can have; beyond it, those whose sign-in is longest ago are over.
  ///
  /// A client that signs out does not tell, so without a limit every sign-in would leave something behind for ever.
  public var sessionLimit = 1_000

  /// How often a password, or a second factor's digits, may be guessed for one account.
  public var accountGuesses = RateLimit(burst: 10, refillInterval: 60_000)

  /// How often the six digits that were sent to one phone may be guessed, over all of its codes; right ones do not
  /// count.
  public var digitGuesses = RateLimit(burst: 10, refillInterval: 600_000)

  /// How often passwords may be guessed from one address.
  public var addressGuesses = RateLimit(burst: 100, refillInterval: 6_000)

  /// How often codes may be sent to one mailbox or phone.
  public var codesPerRecipient = RateLimit(burst: 20, refillInterval: 60_000)

  /// Phone numbers for tests, each with its six digits: they always work for the number, and no message is sent.
  ///
  /// ```swift
  /// options.testPhoneNumbers = ["+16505553434": "654321"]
  /// ```
  ///
  /// Whoever knows a number and its digits can sign in with it: give test numbers to test accounts only.
  public var testPhoneNumbers: [String: String] = [:]

  /// Where links of messages lead; the code and its mode are added to it.
  public var actionURL = "http://localhost/__/auth/action"

  /// The schemes of the project's own apps, in lower case, to which the links of messages may lead besides the pages of
  /// authorized domains.
  ///
  /// A link with such a scheme opens whichever app has claimed it.
  public var continueURLSchemes: Set<String> = []

  /// The identity providers and how what they say is verified.
  public var identityProviders: [String: IdentityProviderKeys] = [:]

  /// What revokes a token at an identity provider, by the provider's id, such as "apple.com".
  ///
  /// Called with a request of a user who has the provider, outside of any transaction. The engine itself reaches no
  /// provider: for those that are not here it refuses with `NOT_IMPLEMENTED`. An `IdentityError` that is thrown goes to
  /// the caller as it is.
  public var tokenRevokers: [String: @Sendable (RevokeTokenRequest) async throws -> Void] = [:]

  /// Delivers codes to users; `nil` for the `CodeSender` that a library registers, and without one for a
  /// ``RecordingCodeSender``.
  public var codeSender: (any CodeSender)?

  /// The clock: milliseconds since 1970.
  public var now: @Sendable () -> Int64

  /// The defaults: no development mode, the system's clock, one hour for ID tokens.
  public init() { now = systemMilliseconds }
}

/// How the ID tokens of an identity provider are verified.
public struct IdentityProviderKeys: Sendable {
  /// Who may have issued them (`iss`).
  public var issuers: Set<String>

  /// Whom they may be meant for (`aud`): the app's client ids at the provider.
  public var audiences: Set<String>

  /// The provider's keys.
  public var keys: JSONWebKeySet

  /// The verification of one provider.
  ///
  /// - Parameters:
  ///   - issuers: Who may have issued them.
  ///   - audiences: Whom they may be meant for.
  ///   - keys: The provider's keys.
  public init(issuers: Set<String>, audiences: Set<String>, keys: JSONWebKeySet) {
    self.issuers = issuers
    self.audiences = audiences
    self.keys = keys
  }
}
