public import VestaAnalyticsInterop

/// An implementation of `AnalyticsInterop`; it has no user properties at first.
///
/// Nothing is needed to drive it: the seam itself causes every event.
public struct AnalyticsInteropSubject: Sendable {
  /// The implementation.
  public let analytics: any AnalyticsInterop

  /// The time that a check waits for an event before it fails.
  public let patience: Duration

  /// An implementation.
  ///
  /// - Parameters:
  ///   - analytics: The implementation, without user properties.
  ///   - patience: The time that a check waits for an event before it fails.
  public init(_ analytics: any AnalyticsInterop, patience: Duration = .seconds(30)) {
    self.analytics = analytics
    self.patience = patience
  }
}
