import VestaConcurrency
public import VestaStoreInterop

/// Clocks for a store that only move when a test moves them.
///
/// ```swift
/// let clock = ManualStoreClock()
/// let store = MemoryStore(clock: clock.clock)
/// clock.advance(by: 3_600_000_000)  // an hour passes
/// clock.setAhead(by: -5_000_000)    // the wall clock is set back by five seconds
/// ```
public final class ManualStoreClock: Sendable {
  private let time: Locked<StoreTime>

  /// Clocks that do not move.
  ///
  /// - Parameter wall: The time of the wall clock, in microseconds since 1970.
  public init(wall: Int64 = 1_800_000_000_000_000) { time = Locked(StoreTime(wall: wall, steady: 0)) }

  /// The time of both clocks.
  public var now: StoreTime { time.withLock { $0 } }

  /// The clocks as a store takes them.
  public var clock: StoreClock { StoreClock { [time] in time.withLock { $0 } } }

  /// Lets time pass on both clocks.
  ///
  /// - Parameter microseconds: How much time passes.
  public func advance(by microseconds: Int64) {
    time.withLock { time in
      time.wall += microseconds
      time.steady = time.steady.map { $0 + microseconds }
    }
  }

  /// Sets the wall clock, which the steady clock does not follow.
  ///
  /// - Parameter microseconds: How far ahead; back when it is negative.
  public func setAhead(by microseconds: Int64) { time.withLock { $0.wall += microseconds } }
}
