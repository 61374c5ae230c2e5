/// A refresh token.
public struct RefreshRequest: AuthMessage {
  /// The refresh token.
  public var refreshToken: String

  /// Creates a value with these properties.
  public init(refreshToken: String) {
    self.refreshToken = refreshToken
  }
}

/// A new ID token.
public struct RefreshResponse: AuthMessage {
  /// The tokens of the new session.
  public var tokens: AuthTokens

  /// The user's id.
  public var userID: String

  /// The project.
  public var projectID: String

  /// Creates a value with these properties.
  public init(tokens: AuthTokens, userID: String, projectID: String) {
    self.tokens = tokens
    self.userID = userID
    self.projectID = projectID
  }
}

/// A provider's token to revoke.
public struct RevokeTokenRequest: AuthMessage {
  /// The kinds of tokens of a provider.
  public enum TokenType: String, Sendable, Hashable {
    /// A refresh token.
    case refreshToken = "REFRESH_TOKEN"

    /// An access token.
    case accessToken = "ACCESS_TOKEN"

    /// An authorization code.
    case code = "CODE"
  }

  /// The ID token of the account.
  public var idToken: String

  /// The provider.
  public var providerID: String

  /// The provider's token or authorization code.
  public var token: String

  /// The kind of token.
  public var tokenType: TokenType

  /// Creates a value with these properties.
  public init(idToken: String, providerID: String, token: String, tokenType: TokenType) {
    self.idToken = idToken
    self.providerID = providerID
    self.token = token
    self.tokenType = tokenType
  }
}
