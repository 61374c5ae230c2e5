public import VestaServiceInterop
public import VestaTransportInterop

/// The settings of the delivery to browsers.
public struct MessagingPushOptions: Sendable {
  /// The contact of the sender for push services, as a URL of `mailto` or `https`.
  ///
  /// Some services refuse a contact without a real domain.
  public var subject = "mailto:push@localhost"

  /// How long a push service may take to answer.
  public var timeout: Duration = .seconds(30)

  /// The clock of tokens.
  public var clock = ServiceClock.system

  /// The client of HTTP; `nil` for that of the app.
  public var client: (@Sendable () throws -> (any HTTPClient)?)?

  /// Settings that suit a program with a transport.
  public init() {}
}
