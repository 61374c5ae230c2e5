/// A change of the signed-in user or of the user's token.
public struct AuthTokenChange: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The id of the user; `nil` when no user is signed in.
  public let userID: String?

  /// The newest ID token of the user, which may have expired since; `nil` when no user is signed in.
  public let token: String?

  /// A state in which a user is signed in.
  ///
  /// - Parameters:
  ///   - userID: The id of the user.
  ///   - token: The newest ID token of the user.
  public init(userID: String, token: String) {
    self.userID = userID
    self.token = token
  }

  private init() {
    userID = nil
    token = nil
  }

  /// The state without a signed-in user.
  public static let signedOut = AuthTokenChange()

  /// The user id; never the token, which is a secret.
  public var description: String { userID.map { "signed in as \($0)" } ?? "signed out" }

  /// The same as `description`.
  public var debugDescription: String { description }
}
