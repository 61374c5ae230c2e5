/// The times at which a function runs: minutes of the day on certain days, in local time; pure.
///
/// Changes of clocks are treated as common cron does:
///
/// | | the hour that is left out | the hour that is repeated |
/// |---|---|---|
/// | the minute or the hour is a wildcard, "every 5 minutes" | its times do not exist | its times are repeated |
/// | fixed times, such as `30 2 * * *` | they run once, right after it | they run once, the first time |
struct Schedule: Sendable, Hashable {
  /// Minutes since midnight, ascending.
  let minutes: [Int]

  /// The days.
  let days: DayRule

  /// Whether the times follow every change of the clock: the minute or the hour is a wildcard.
  let followsClock: Bool

  /// The days of a schedule.
  struct DayRule: Sendable, Hashable {
    /// Bit 1 to 12.
    var months: UInt16 = 0x1FFE
    /// Bit 1 to 31.
    var daysOfMonth: UInt32 = 0xFFFF_FFFE
    /// Bit 0 for Sunday to bit 6.
    var weekdays: UInt8 = 0x7F
    /// Whether one of the two kinds of days is enough: both are restricted.
    var isEither = false

    func contains(_ day: CivilDay) -> Bool {
      let (month, dayOfMonth) = day.monthAndDay
      guard months & (1 << month) != 0 else { return false }
      let isDay = daysOfMonth & (1 << dayOfMonth) != 0
      let isWeekday = weekdays & (1 << day.weekday) != 0
      return isEither ? isDay || isWeekday : isDay && isWeekday
    }
  }

  /// The longest time without a run that is looked for: February 29th on one weekday occurs within 40 years.
  private static let horizon: Int64 = 41 * 366

  /// The first local time at or after another one, both in seconds; `nil` when there is none within 41 years.
  func firstLocalTime(atOrAfter local: Int64) -> Int64? {
    let first = local.flooredDivision(by: 86_400)
    for number in first...(first + Schedule.horizon) where days.contains(CivilDay(number: number)) {
      for minute in minutes {
        let time = number * 86_400 + Int64(minute) * 60
        if time >= local { return time }
      }
    }
    return nil
  }

  /// The first time after another one, in seconds since 1970.
  ///
  /// - Parameters:
  ///   - time: Seconds since 1970.
  ///   - zone: The time zone.
  /// - Returns: `nil` when the schedule is never due.
  func next(after time: Int64, in zone: ZoneOffsets) -> Int64? {
    var start = time + 1
    // Local times before this one have been already, in the repeated hour.
    var repeatedUntil = followsClock ? Int64.min : zone.repeatedUntil(start)
    while true {
      let offset = zone.offset(start)
      guard let local = firstLocalTime(atOrAfter: max(start + offset, repeatedUntil)) else { return nil }
      let candidate = local - offset
      guard let change = zone.firstChange(after: start, through: candidate) else { return candidate }
      let changed = zone.offset(change)
      if !followsClock {
        if changed > offset, local < change + changed { return change }
        repeatedUntil = max(repeatedUntil, change + offset)
      }
      start = change
    }
  }

  /// The last times up to a time, oldest first.
  ///
  /// - Parameters:
  ///   - time: The last second that counts.
  ///   - since: The second after which they are.
  ///   - limit: How many at the most; at least one.
  ///   - zone: The time zone.
  func latest(upTo time: Int64, after since: Int64, limit: Int, in zone: ZoneOffsets) -> [Int64] {
    var window: Int64 = 3_600
    while true {
      let start = max(since, time - window)
      var times: [Int64] = []
      var last = start
      while let next = next(after: last, in: zone), next <= time {
        times.append(next)
        last = next
      }
      if start == since || times.count >= limit { return times.suffix(limit) }
      window *= 4
    }
  }
}

extension Int64 {
  /// The quotient, rounded down also below zero.
  func flooredDivision(by divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
  }
}
