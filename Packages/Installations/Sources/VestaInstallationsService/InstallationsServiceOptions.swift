public import VestaServiceInterop

/// The options of the embedded service of installations.
///
/// An app brings its own by registering a component that provides them.
public struct InstallationsServiceOptions: Sendable {
  /// How long a token is valid; a week unless set.
  ///
  /// Clients renew one that has less than an hour left.
  public var tokenLifetime: Duration

  /// The clock of the service.
  public var clock: ServiceClock

  var tuning = InstallationsServiceTuning()

  /// Options.
  public init(tokenLifetime: Duration = .seconds(604_800), clock: ServiceClock = .system) {
    self.tokenLifetime = tokenLifetime
    self.clock = clock
  }
}

/// Every figure at which the behaviour of the engine changes; tests draw small ones.
struct InstallationsServiceTuning: Sendable, Hashable {
  /// The most tokens of an installation that are valid at one time; the oldest gives way.
  var maximumTokens = 8

  /// The longest id of an app, in bytes.
  var longestAppID = 256
}
