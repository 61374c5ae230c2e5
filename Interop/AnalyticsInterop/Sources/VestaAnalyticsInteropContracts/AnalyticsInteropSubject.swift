public import VestaAnalyticsInterop

/// An implementation of `AnalyticsInterop`; it has no user properties at first.
///
/// Nothing is needed to drive it: the seam itself causes every event.
public struct AnalyticsInteropSubject: Sendable {
  /// The implementation.
  public let analytics: any AnalyticsInterop

  /// How long a check waits before it calls something missing.
  public let patience: Duration

  /// An implementation.
  ///
  /// - Parameters:
  ///   - analytics: The implementation, without user properties.
  ///   - patience: How long a check waits before it calls something missing.
  public init(_ analytics: any AnalyticsInterop, patience: Duration = .seconds(30)) {
    self.analytics = analytics
    self.patience = patience
  }
}
