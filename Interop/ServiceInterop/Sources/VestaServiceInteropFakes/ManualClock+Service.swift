public import VestaServiceInterop
public import VestaTesting

extension ManualClock {
  /// The clock for a service.
  public var service: ServiceClock {
    ServiceClock(now: { self.now }, schedule: { self.schedule(after: $0, $1) })
  }
}
