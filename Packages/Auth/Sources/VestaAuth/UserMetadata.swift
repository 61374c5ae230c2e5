public import Foundation

/// When a user came, and came last.
public final class UserMetadata: Sendable {
  /// When the user signed in last.
  public let lastSignInDate: Date?

  /// When the account was made.
  public let creationDate: Date?

  init(lastSignInDate: Date?, creationDate: Date?) {
    self.lastSignInDate = lastSignInDate
    self.creationDate = creationDate
  }
}
