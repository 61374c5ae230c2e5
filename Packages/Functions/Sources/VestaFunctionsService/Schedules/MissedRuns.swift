/// The policy for runs of a schedule that were due while no process was running.
public enum MissedRuns: Sendable, Hashable {
  /// They are left out.
  case skip

  /// The function runs once for all of them, with the time of the last one.
  case runOnce

  /// The function runs for each of the last ones, the oldest first.
  case runAll(limit: Int)
}

/// Decides which runs are due; pure.
enum DueRuns {
  /// The runs that are due.
  ///
  /// - Parameters:
  ///   - schedule: The schedule.
  ///   - last: The time up to which runs have been started, in seconds since 1970.
  ///   - now: The present, in seconds since 1970.
  ///   - missed: The policy for missed runs.
  ///   - zone: The time zone.
  ///   - tuning: Which runs count as missed, and which clocks as corrected.
  /// - Returns: The times of the runs, oldest first, and the new value of `last`.
  static func runs(
    _ schedule: Schedule, since last: Int64, now: Int64, missed: MissedRuns, in zone: ZoneOffsets,
    tuning: ScheduleTuning = ScheduleTuning()
  ) -> (runs: [Int64], last: Int64) {
    // The clock was set back: by little, and the runs in between have been; or it was wrong before.
    guard last <= now else { return ([], last - now > tuning.tolerance ? now : last) }
    let limit = if case .runAll(let limit) = missed { max(1, limit) } else { 1 }
    var runs = schedule.latest(upTo: now, after: last, limit: limit, in: zone)
    if missed == .skip { runs.removeAll { now - $0 > tuning.grace } }
    return (runs, now)
  }
}
