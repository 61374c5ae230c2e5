import VestaServiceInterop

/// Whether functions end so soon that one thread delivers their events faster than several: waking another thread takes
/// longer than the function does; pure.
///
/// A function that waits or computes is known by the time that it takes. One that took long may have been interrupted
/// by the system, so a single one among many short ones changes nothing.
///
/// | deliveries | score | events that are due |
/// |---|---|---|
/// | none | 0 | a thread each |
/// | 32 short ones | 32 | one thread for all |
/// | 32 more, and a long one | 48 | one thread for all |
/// | two long ones | 16 | a thread each |
struct DeliveryPace {
  struct Limits {
    /// The time from which on a delivery is long.
    var long: Duration = .microseconds(50)
    /// The score from which on one thread delivers.
    var enough = 32
    /// The highest score.
    var most = 64
    /// How far a long delivery lowers the score.
    var setback = 16
    /// The time after which functions are known to wait, when no event was taken in it.
    var patience: Duration = .milliseconds(5)
    /// The clock of the patience: whether a thread is held up does not depend on the clock of the service.
    var clock = ServiceClock.system
  }

  let limits: Limits
  private var score = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  /// Whether one thread is enough.
  var isShort: Bool { score >= limits.enough }

  /// A delivery has ended.
  mutating func note(_ time: Duration) {
    score = time < limits.long ? min(limits.most, score + 1) : max(0, score - limits.setback)
  }

  /// A function that had to be short waits.
  mutating func stalled() { score = 0 }
}
