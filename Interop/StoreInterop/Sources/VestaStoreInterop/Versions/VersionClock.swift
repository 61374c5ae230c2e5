/// Makes versions out of clock readings: strictly growing, above a floor, and near the true time; pure.
///
/// Rules, in the order in which they apply:
/// - **Growth.** A version is above every earlier one and above the floor. After a restart the floor is what the store
///   has recovered.
/// - **A clock set back** does not set versions back. While the versions are ahead of the wall clock they advance at
///   half the speed of time (at least by one per commit), so that the wall clock catches up with them: a clock set back
///   by ten seconds costs twenty seconds of slightly late versions. What goes by time, such as pruning, continues
///   meanwhile.
/// - **A clock that jumps ahead** by more than `largestStep` (one hour) beyond what the steady clock measured is not
///   trusted at once. The versions continue with the steady clock, and follow the wall clock after it has been there
///   for `probation` (five minutes). A clock that returns before that leaves no trace; smaller steps are followed at
///   once, and cost at most two hours of late versions when they are taken back.
/// - **A floor in the future** is refused beyond `largestLead` (one minute): nobody can push the versions away.
///
/// A clock that was a year ahead for longer than the probation, or when the store was opened, cannot be distinguished
/// from a right one. Versions that readers have seen then cannot be taken back: they advance at half speed until the
/// wall clock is there.
///
/// Example: the clock reads 12:00:00, and two commits have the versions 12:00:00.000000 and 12:00:00.000001. Somebody
/// sets the clock to 11:59:50. The commit after 4 s has the version 12:00:02.000001, and from 20 s on versions and
/// clock agree again.
public struct VersionClock: Sendable {
  /// How far the wall clock may run ahead of the steady clock and be trusted at once: one hour.
  public static let largestStep: Int64 = 3_600_000_000

  /// How long a wall clock that jumped ahead must stay there before it is trusted: five minutes.
  public static let probation: Int64 = 300_000_000

  /// The maximum distance of a raised floor from the current time: one minute.
  public static let largestLead: Int64 = 60_000_000

  /// No version from here on is at or below this one.
  public private(set) var floor: StoreVersion

  // The last reading that was trusted, and the steady time when the clock was first seen to have jumped ahead.
  private var believed: StoreTime?
  private var suspectedSince: Int64?
  // The steady time when `floor` was last moved.
  private var floorMoved: Int64?

  /// A clock whose versions are above a floor.
  ///
  /// - Parameter floor: The version of the last commit, or a higher floor that readers were shown.
  public init(floor: StoreVersion) { self.floor = floor }

  /// The version of the next commit; it becomes the floor.
  ///
  /// - Parameter reading: The clocks at this instant.
  public mutating func next(at reading: StoreTime) -> StoreVersion {
    let version = present(at: reading)
    floor = version
    floorMoved = reading.steady
    return version
  }

  /// Raises the floor; a floor below the current one changes nothing.
  ///
  /// - Parameters:
  ///   - version: The new floor; `nil` for the current version.
  ///   - reading: The clocks at this instant.
  /// - Returns: The version that was asked for, or the current version: no later version is at or below it. `nil` when
  ///   it is more than `largestLead` in the future.
  public mutating func raise(to version: StoreVersion?, at reading: StoreTime) -> StoreVersion? {
    guard let version else { return next(at: reading) }
    guard version > floor else { return version }
    let present = present(at: reading)
    guard version.microseconds <= present.microseconds.addingClamped(Self.largestLead) else { return nil }
    floor = version
    floorMoved = reading.steady
    return version
  }

  /// Takes over what another process that commits to the same store has come to, however far ahead that is.
  ///
  /// - Parameters:
  ///   - version: A version that has been committed, or a floor that has been raised; a lower one changes nothing.
  ///   - reading: The clocks at this instant.
  public mutating func follow(_ version: StoreVersion, at reading: StoreTime) {
    guard version > floor else { return }
    floor = version
    floorMoved = reading.steady
  }

  /// The smallest version that a commit at this instant may have.
  private mutating func present(at reading: StoreTime) -> StoreVersion {
    let time = StoreVersion(microseconds: believe(reading))
    if time > floor { return time }
    // The versions are ahead of the clock: half the speed of time.
    var passed: Int64 = 0
    if let steady = reading.steady { passed = max(0, steady.subtractingClamped(floorMoved ?? steady)) }
    if floorMoved == nil { floorMoved = reading.steady }
    return max(floor.next, StoreVersion(microseconds: floor.microseconds.addingClamped(passed / 2)))
  }

  /// The wall clock, or what the steady clock says while the wall clock is not trusted.
  private mutating func believe(_ reading: StoreTime) -> Int64 {
    if let steady = reading.steady, let believed, let before = believed.steady {
      let expected = believed.wall.addingClamped(max(0, steady.subtractingClamped(before)))
      if reading.wall.subtractingClamped(expected) > Self.largestStep {
        let since = suspectedSince ?? steady
        suspectedSince = since
        if steady.subtractingClamped(since) < Self.probation { return expected }
      }
    }
    suspectedSince = nil
    believed = reading
    return reading.wall
  }
}

extension Int64 {
  fileprivate func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }

  fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other > 0 ? .min : .max) : difference
  }
}
