/// The tokens of a session.
public struct AuthTokens: AuthMessage {
  /// Says who the user is: a signed JSON Web Token for this and other services.
  public var idToken: String

  /// Gives new ID tokens; opaque.
  public var refreshToken: String

  /// For how many seconds the ID token is valid from now on.
  public var expiresIn: Int64

  /// The account, exactly as a look-up with the ID token describes it at that time.
  ///
  /// A service that knows it anyway may send it along with the tokens of a sign-in, which saves a look-up. `nil` says
  /// nothing: look it up.
  public var account: AuthUser?

  /// Tokens of one session.
  ///
  /// - Parameters:
  ///   - idToken: Says who the user is: a signed JSON Web Token for this and other services.
  ///   - refreshToken: Gives new ID tokens.
  ///   - expiresIn: For how many seconds the ID token is valid from now on.
  ///   - account: The account, where it is known.
  public init(idToken: String, refreshToken: String, expiresIn: Int64 = 3600, account: AuthUser? = nil) {
    self.idToken = idToken
    self.refreshToken = refreshToken
    self.expiresIn = expiresIn
    self.account = account
  }
}

/// The outcome of a first factor.
public enum SignInOutcome: AuthMessage {
  /// The user is signed in.
  case signedIn(AuthTokens)

  /// The account has a second factor, which has to follow.
  case secondFactorRequired(PendingSecondFactor)

  /// The tokens, where no second factor is needed.
  public var tokens: AuthTokens? { if case .signedIn(let tokens) = self { tokens } else { nil } }

  /// The demand for a second factor; `nil` if none is needed.
  public var pending: PendingSecondFactor? {
    if case .secondFactorRequired(let pending) = self { pending } else { nil }
  }
}

/// The session that the sign-in with a second factor continues.
public struct PendingSecondFactor: AuthMessage {
  /// Proves the first factor; valid for a while, for one sign-in.
  public var mfaPendingCredential: String

  /// The second factors to choose from; phone numbers show their last four digits only.
  public var factors: [MfaEnrollment]

  /// Creates a value with these properties.
  public init(mfaPendingCredential: String, factors: [MfaEnrollment]) {
    self.mfaPendingCredential = mfaPendingCredential
    self.factors = factors
  }
}
