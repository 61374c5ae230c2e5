/// The account to look up.
public struct LookupRequest: IdentityMessage {
  /// The ID token of the account.
  public var idToken: String

  /// All parts of it.
  ///
  /// - Parameter idToken: The ID token of the account.
  public init(idToken: String) {
    self.idToken = idToken
  }
}

/// The accounts that were found.
public struct LookupResponse: IdentityMessage {
  /// The accounts, each of them once.
  public var users: [IdentityUser]

  /// All parts of it.
  ///
  /// - Parameter users: The accounts, each of them once.
  public init(users: [IdentityUser]) {
    self.users = users
  }
}
