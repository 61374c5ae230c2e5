public import Foundation

/// The times of a user's sign-up and last sign-in.
public final class UserMetadata: Sendable {
  /// The time of the last sign-in.
  public let lastSignInDate: Date?

  /// The time of the sign-up.
  public let creationDate: Date?

  init(lastSignInDate: Date?, creationDate: Date?) {
    self.lastSignInDate = lastSignInDate
    self.creationDate = creationDate
  }
}
