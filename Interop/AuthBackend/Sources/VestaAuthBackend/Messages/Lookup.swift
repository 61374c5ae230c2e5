/// The account to look up.
public struct LookupRequest: IdentityMessage {
  /// The ID token of the account.
  public var idToken: String

  /// Creates a value with these properties.
  public init(idToken: String) {
    self.idToken = idToken
  }
}

/// The accounts that were found.
public struct LookupResponse: IdentityMessage {
  /// The accounts, each of them once.
  public var users: [IdentityUser]

  /// Creates a value with these properties.
  public init(users: [IdentityUser]) {
    self.users = users
  }
}
