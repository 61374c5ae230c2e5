/// One reading of the clocks that a store takes its versions from.
public struct StoreTime: Sendable, Hashable {
  /// The wall clock: microseconds since 1970.
  ///
  /// It can be set ahead and back.
  public var wall: Int64

  /// A clock that cannot be set, in microseconds since any fixed point; it runs on while the machine sleeps.
  ///
  /// `nil` where there is none: the wall clock is then trusted at all times.
  public var steady: Int64?

  /// A reading.
  ///
  /// - Parameters:
  ///   - wall: Microseconds since 1970.
  ///   - steady: Microseconds of a clock that cannot be set; `nil` without one.
  public init(wall: Int64, steady: Int64?) {
    self.wall = wall
    self.steady = steady
  }
}

/// The clocks that a store takes its versions from.
///
/// Tests give a store manual clocks:
///
/// ```swift
/// let store = MemoryStore(clock: StoreClock { StoreTime(wall: time.withLock { $0 }, steady: nil) })
/// ```
public struct StoreClock: Sendable {
  private let read: @Sendable () -> StoreTime

  /// Clocks that are read with a function.
  ///
  /// - Parameter read: Returns the time; it must not call back into the store.
  public init(_ read: @escaping @Sendable () -> StoreTime) { self.read = read }

  /// The time at this instant.
  public var now: StoreTime { read() }

  /// The clocks of the system.
  public static let system = StoreClock { PlatformClock.now }
}
