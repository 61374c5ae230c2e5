/// The account to look up.
public struct LookupRequest: AuthMessage {
  /// The ID token of the account.
  public var idToken: String

  /// Creates a value with these properties.
  public init(idToken: String) {
    self.idToken = idToken
  }
}

/// The accounts that were found.
public struct LookupResponse: AuthMessage {
  /// The accounts, each of them once.
  public var users: [AuthUser]

  /// Creates a value with these properties.
  public init(users: [AuthUser]) {
    self.users = users
  }
}
