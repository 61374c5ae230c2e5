public import VestaAppCheckInterop

/// An implementation of `AppCheckInterop` and how a check drives it.
public struct AppCheckInteropSubject: Sendable {
  /// The implementation.
  public let appCheck: any AppCheckInterop

  /// Makes every fetch fail with the code `unavailable` (`true`), or succeed again (`false`).
  public let setFetchesFail: @Sendable (Bool) async throws -> Void

  /// Holds fetches back (`true`), as a backend does that does not answer, or lets all of them continue (`false`).
  public let setFetchesHeld: @Sendable (Bool) async throws -> Void

  /// The time that a check waits for an event before it fails.
  public let patience: Duration

  /// An implementation and how to drive it.
  ///
  /// - Parameters:
  ///   - appCheck: The implementation.
  ///   - patience: The time that a check waits for an event before it fails.
  ///   - setFetchesFail: Makes every fetch fail with the code `unavailable`, or succeed again.
  ///   - setFetchesHeld: Holds fetches back, or lets all of them continue.
  public init(
    _ appCheck: any AppCheckInterop,
    patience: Duration = .seconds(30),
    setFetchesFail: @escaping @Sendable (Bool) async throws -> Void,
    setFetchesHeld: @escaping @Sendable (Bool) async throws -> Void
  ) {
    self.appCheck = appCheck
    self.patience = patience
    self.setFetchesFail = setFetchesFail
    self.setFetchesHeld = setFetchesHeld
  }
}
