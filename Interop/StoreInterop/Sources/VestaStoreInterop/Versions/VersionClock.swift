/// Makes versions out of clock readings: strictly growing, above a floor, and near the true time; pure.
///
/// Rules, in the order in which they apply:
/// - **Growth.** A version is above every earlier one and above the floor. After a restart the floor is what the store
///   has recovered.
/// - **A clock set back** does not set versions back. While the versions are ahead of the wall clock they advance at
///   half the speed of time (at least by one per commit), so that the wall clock catches up with them: a clock set back
///   by ten seconds costs twenty seconds of slightly late versions. Work that depends on time, such as pruning,
///   continues during that.
/// - **A clock that jumps ahead** is followed at once by up to `largestStep` (one hour). A used hour is available again
///   within an hour of the steady clock, so that small jumps do not add up. Beyond that the versions continue with the
///   steady clock. After the wall clock has been ahead for `probation` (five minutes) they follow it at `pursuit` times
///   (four times) the speed of time, until they are there.
/// - **A floor in the future** is refused beyond `largestLead` (one minute): no caller can push the versions away.
///
/// So whatever the wall clock does, versions are at most an hour and four times the length of the fault ahead when the
/// clock is right again, and on time after twice that. A clock that was wrong before, and is set right by days, is
/// reached after a third of these days, or when the store is opened again: there is nothing to compare the first
/// reading with, so it is trusted. A first reading below the floor, or before 2024, is that of a clock that has not
/// been set: then the first one after it has been set is trusted too.
///
/// Example: the clock reads 12:00:00, and two commits have the versions 12:00:00.000000 and 12:00:00.000001. The
/// clock is set to 11:59:50. The commit after 4 s has the version 12:00:02.000001, and from 20 s on versions and
/// clock agree again.
public struct VersionClock: Sendable {
  /// How far the wall clock may jump ahead of the steady clock and be followed at once: one hour.
  public static let largestStep: Int64 = 3_600_000_000

  /// How long a wall clock that jumped further ahead must stay there before it is followed: five minutes.
  public static let probation: Int64 = 300_000_000

  /// The speed of the versions, in that of time, while they follow a wall clock that has jumped far ahead.
  public static let pursuit: Int64 = 4

  /// The maximum distance of a raised floor from the current time: one minute.
  public static let largestLead: Int64 = 60_000_000

  // 2024-01-01: a clock before that has not been set.
  private static let earliest: Int64 = 1_704_067_200_000_000

  /// No version from here on is at or below this one.
  public private(set) var floor: StoreVersion

  // The time that the last reading was taken for, and the steady time when the clock was first seen to be far ahead.
  private var believed: StoreTime?
  private var suspectedSince: Int64?
  // How far ahead the wall clock has been followed at once, as far as that has not been made up for; below zero by
  // how far the clock has been set back.
  private var followed: Int64 = 0
  // Whether the first reading cannot have been right.
  private var isUnset = false
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
    // Compared with the clock and not with the floor: otherwise each floor could be `largestLead` above the last one.
    guard version.microseconds <= believe(reading).addingClamped(Self.largestLead) else { return nil }
    floor = version
    floorMoved = reading.steady
    return version
  }

  /// Takes over what another process that commits to the same store has reached, however far ahead that is.
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
    guard let steady = reading.steady, let believed, let before = believed.steady else { return begin(at: reading) }
    let passed = max(0, steady.subtractingClamped(before))
    let expected = believed.wall.addingClamped(passed)
    let step = reading.wall.subtractingClamped(expected)
    if isUnset, step > Self.largestStep { return begin(at: reading) }
    if followed > 0 { followed = max(0, followed.subtractingClamped(passed)) }
    if followed.addingClamped(step) <= Self.largestStep {
      followed = followed.addingClamped(step)
      suspectedSince = nil
      self.believed = reading
      return reading.wall
    }
    let since = suspectedSince ?? steady
    suspectedSince = since
    let pursued = max(0, steady.subtractingClamped(max(before, since.addingClamped(Self.probation))))
    let gained = pursued > Int64.max / Self.pursuit ? Int64.max : pursued * (Self.pursuit - 1)
    let time = min(reading.wall, expected.addingClamped(gained))
    self.believed = StoreTime(wall: time, steady: steady)
    return time
  }

  /// Takes a reading that there is nothing to compare with.
  private mutating func begin(at reading: StoreTime) -> Int64 {
    isUnset = believed == nil && reading.wall < max(Self.earliest, floor.microseconds - Self.largestStep)
    believed = reading
    (followed, suspectedSince) = (0, nil)
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
