/// An e-mail address and its password.
public struct PasswordSignInRequest: IdentityMessage {
  /// The e-mail address; case does not matter.
  public var email: String

  /// The password.
  public var password: String

  /// What proves that a human asks; for backends that want it.
  public var captchaResponse: String?

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - email: The e-mail address.
  ///   - password: The password.
  ///   - captchaResponse: What proves that a human asks.
  public init(email: String, password: String, captchaResponse: String? = nil) {
    self.email = email
    self.password = password
    self.captchaResponse = captchaResponse
  }
}

/// The account that was signed in to.
public struct PasswordSignInResponse: IdentityMessage {
  /// The user's id.
  public var localID: String

  /// The e-mail address.
  public var email: String

  /// The name to show.
  public var displayName: String?

  /// The session, or what a second factor needs.
  public var outcome: SignInOutcome

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - localID: The user's id.
  ///   - email: The e-mail address.
  ///   - displayName: The name to show.
  ///   - outcome: The session, or what a second factor needs.
  public init(localID: String, email: String, displayName: String? = nil, outcome: SignInOutcome) {
    self.localID = localID
    self.email = email
    self.displayName = displayName
    self.outcome = outcome
  }
}
