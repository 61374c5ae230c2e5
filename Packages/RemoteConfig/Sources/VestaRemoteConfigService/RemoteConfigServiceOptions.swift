public import VestaServiceInterop

/// The options of the embedded configuration service.
///
/// An app brings its own by registering a component that provides them.
public struct RemoteConfigServiceOptions: Sendable {
  /// The number of versions of a template that are kept; 300 unless set.
  public var maximumVersions: Int

  /// The clock of the service.
  public var clock: ServiceClock

  var tuning = RemoteConfigServiceTuning()

  /// Options.
  ///
  /// - Parameters:
  ///   - maximumVersions: How many versions of a template are kept; at least 1.
  ///   - clock: The clock of the service.
  public init(maximumVersions: Int = 300, clock: ServiceClock = .system) {
    self.maximumVersions = max(1, maximumVersions)
    self.clock = clock
  }
}
