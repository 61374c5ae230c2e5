/// An e-mail address and its password.
public struct PasswordSignInRequest: AuthMessage {
  /// The e-mail address; case does not matter.
  public var email: String

  /// The password.
  public var password: String

  /// The proof that a human calls; for backends that require it.
  public var captchaResponse: String?

  /// Creates a value with these properties.
  public init(email: String, password: String, captchaResponse: String? = nil) {
    self.email = email
    self.password = password
    self.captchaResponse = captchaResponse
  }
}

/// The account that was signed in to.
public struct PasswordSignInResponse: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The e-mail address.
  public var email: String

  /// The display name.
  public var displayName: String?

  /// The session, or what a second factor needs.
  public var outcome: SignInOutcome

  /// Creates a value with these properties.
  public init(localID: String, email: String, displayName: String? = nil, outcome: SignInOutcome) {
    self.localID = localID
    self.email = email
    self.displayName = displayName
    self.outcome = outcome
  }
}
