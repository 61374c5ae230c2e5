/// A new account: with a password, or anonymous where nothing is given.
///
/// With an ID token, the password is added to that account, whose id stays the same.
public struct SignUpRequest: AuthMessage {
  /// The e-mail address.
  public var email: String?

  /// The password.
  public var password: String?

  /// The display name.
  public var displayName: String?

  /// The URL of the user's picture.
  public var photoURL: String?

  /// The ID token of the account to add the password to.
  public var idToken: String?

  /// The proof that a human calls; for backends that require it.
  public var captchaResponse: String?

  /// Creates a value with these properties.
  public init(
    email: String? = nil,
    password: String? = nil,
    displayName: String? = nil,
    photoURL: String? = nil,
    idToken: String? = nil,
    captchaResponse: String? = nil
  ) {
    self.email = email
    self.password = password
    self.displayName = displayName
    self.photoURL = photoURL
    self.idToken = idToken
    self.captchaResponse = captchaResponse
  }
}

/// The account that was made or added to.
public struct SignUpResponse: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The e-mail address.
  public var email: String?

  /// The display name.
  public var displayName: String?

  /// The tokens of the new session.
  public var tokens: AuthTokens

  /// Creates a value with these properties.
  public init(localID: String, email: String? = nil, displayName: String? = nil, tokens: AuthTokens) {
    self.localID = localID
    self.email = email
    self.displayName = displayName
    self.tokens = tokens
  }
}
