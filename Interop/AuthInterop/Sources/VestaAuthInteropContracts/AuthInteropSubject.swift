public import VestaAuthInterop

/// An implementation of `AuthInterop` and how a check drives it; no user is signed in at first.
public struct AuthInteropSubject: Sendable {
  /// The implementation.
  public let auth: any AuthInterop

  /// Signs in a user with this id, creating it where that is needed; returns when the user is signed in.
  public let signIn: @Sendable (_ userID: String) async throws -> Void

  /// Signs the user out; returns when no user is signed in.
  public let signOut: @Sendable () async throws -> Void

  /// Makes every refresh fail with the code `unavailable` (`true`), or succeed again (`false`).
  public let setRefreshesFail: @Sendable (Bool) async throws -> Void

  /// Holds refreshes back (`true`), as a backend does that does not answer, or lets all of them continue (`false`).
  public let setRefreshesHeld: @Sendable (Bool) async throws -> Void

  /// The time that a check waits for an event before it fails.
  public let patience: Duration

  /// An implementation and how to drive it.
  ///
  /// - Parameters:
  ///   - auth: The implementation, with no user signed in.
  ///   - patience: The time that a check waits for an event before it fails.
  ///   - signIn: Signs in a user with the given id.
  ///   - signOut: Signs the user out.
  ///   - setRefreshesFail: Makes every refresh fail with the code `unavailable`, or succeed again.
  ///   - setRefreshesHeld: Holds refreshes back, or lets all of them continue.
  public init(
    _ auth: any AuthInterop,
    patience: Duration = .seconds(30),
    signIn: @escaping @Sendable (_ userID: String) async throws -> Void,
    signOut: @escaping @Sendable () async throws -> Void,
    setRefreshesFail: @escaping @Sendable (Bool) async throws -> Void,
    setRefreshesHeld: @escaping @Sendable (Bool) async throws -> Void
  ) {
    self.auth = auth
    self.patience = patience
    self.signIn = signIn
    self.signOut = signOut
    self.setRefreshesFail = setRefreshesFail
    self.setRefreshesHeld = setRefreshesHeld
  }
}
