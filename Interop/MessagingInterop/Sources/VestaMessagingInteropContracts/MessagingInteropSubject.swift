public import VestaMessagingInterop

/// An implementation of `MessagingInterop` and how a check drives it; it has no token at first.
public struct MessagingInteropSubject: Sendable {
  /// The implementation.
  public let messaging: any MessagingInterop

  /// Gets the installation a token that it never had before, and returns when `fcmToken` returns it.
  public let renewToken: @Sendable () async throws -> Void

  /// Deletes the token, and returns when `fcmToken` returns none.
  public let deleteToken: @Sendable () async throws -> Void

  /// The longest time a check waits for an event.
  public let patience: Duration

  /// An implementation and how to drive it.
  ///
  /// - Parameters:
  ///   - messaging: The implementation, without a token.
  ///   - patience: The longest time a check waits for an event.
  ///   - renewToken: Gets the installation a token that it never had before.
  ///   - deleteToken: Deletes the token.
  public init(
    _ messaging: any MessagingInterop,
    patience: Duration = .seconds(30),
    renewToken: @escaping @Sendable () async throws -> Void,
    deleteToken: @escaping @Sendable () async throws -> Void
  ) {
    self.messaging = messaging
    self.patience = patience
    self.renewToken = renewToken
    self.deleteToken = deleteToken
  }
}
