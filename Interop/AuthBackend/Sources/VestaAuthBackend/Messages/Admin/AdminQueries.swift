/// A query that counts or returns accounts.
public struct QueryUsersRequest: AuthMessage {
  /// Whether the accounts are given too.
  public var returnsUsers: Bool

  /// Whether the largest user id is first.
  public var isDescending: Bool

  /// Creates a value with these properties.
  public init(returnsUsers: Bool = true, isDescending: Bool = false) {
    self.returnsUsers = returnsUsers
    self.isDescending = isDescending
  }
}

/// The accounts of the project or the tenant.
public struct QueryUsersResponse: AuthMessage {
  /// How many there are.
  public var count: Int

  /// The accounts by user id.
  public var users: [AuthUser]

  /// Creates a value with these properties.
  public init(count: Int, users: [AuthUser] = []) {
    self.count = count
    self.users = users
  }
}
