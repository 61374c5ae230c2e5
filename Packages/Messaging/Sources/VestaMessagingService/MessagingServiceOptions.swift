public import VestaServiceInterop

/// The options of the embedded messaging service.
///
/// An app brings its own by registering a component that provides them.
public struct MessagingServiceOptions: Sendable {
  /// After how long without a sign of life a registration ends; 270 days unless set.
  public var registrationLifetime: Duration

  /// After how long a token is replaced when its installation registers again; 270 days unless set.
  public var tokenLifetime: Duration

  /// The most messages that wait for one registration, and of those to its topics and conditions the newest; beyond it
  /// the oldest is dropped, counted, and the number is sent to the registration.
  ///
  /// 1000 unless set.
  public var maximumWaiting: Int

  /// The most unacknowledged deliveries of one connection; 100 unless set.
  public var deliveryWindow: Int

  /// The time that an acknowledged message stays in the outbox; one day unless set.
  public var acknowledgedRetention: Duration

  /// The clock of the service.
  public var clock: ServiceClock

  var tuning = MessagingServiceTuning()

  /// Options.
  public init(
    registrationLifetime: Duration = .seconds(270 * 86_400), tokenLifetime: Duration = .seconds(270 * 86_400),
    maximumWaiting: Int = 1000, deliveryWindow: Int = 100, acknowledgedRetention: Duration = .seconds(86_400),
    clock: ServiceClock = .system
  ) {
    self.registrationLifetime = registrationLifetime
    self.tokenLifetime = tokenLifetime
    self.maximumWaiting = max(1, maximumWaiting)
    self.deliveryWindow = max(1, deliveryWindow)
    self.acknowledgedRetention = acknowledgedRetention
    self.clock = clock
  }
}
