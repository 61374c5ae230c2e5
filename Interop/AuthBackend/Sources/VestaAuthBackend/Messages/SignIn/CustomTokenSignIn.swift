/// A token of a server of the project.
public struct CustomTokenSignInRequest: AuthMessage {
  /// A JSON Web Token that a service account of the project has signed.
  public var token: String

  /// Creates a value with these properties.
  public init(token: String) {
    self.token = token
  }
}

/// The account that was signed in to.
public struct CustomTokenSignInResponse: AuthMessage {
  /// The user's id.
  public var localID: String

  /// Whether the account was made by this call.
  public var isNewUser: Bool

  /// The tokens of the new session.
  public var tokens: AuthTokens

  /// Creates a value with these properties.
  public init(localID: String, isNewUser: Bool, tokens: AuthTokens) {
    self.localID = localID
    self.isNewUser = isNewUser
    self.tokens = tokens
  }
}
