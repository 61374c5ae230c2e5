/// The code of a sign-in link, and the address that it was sent to.
public struct EmailLinkSignInRequest: AuthMessage {
  /// The e-mail address.
  public var email: String

  /// The code of the link.
  public var oobCode: String

  /// The ID token of the account to link to; `nil` to sign in.
  public var idToken: String?

  /// Creates a value with these properties.
  public init(email: String, oobCode: String, idToken: String? = nil) {
    self.email = email
    self.oobCode = oobCode
    self.idToken = idToken
  }
}

/// The account that was signed in to.
public struct EmailLinkSignInResponse: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The e-mail address.
  public var email: String

  /// Whether the account was made by this call.
  public var isNewUser: Bool

  /// The session, or what a second factor needs.
  public var outcome: SignInOutcome

  /// Creates a value with these properties.
  public init(localID: String, email: String, isNewUser: Bool, outcome: SignInOutcome) {
    self.localID = localID
    self.email = email
    self.isNewUser = isNewUser
    self.outcome = outcome
  }
}
