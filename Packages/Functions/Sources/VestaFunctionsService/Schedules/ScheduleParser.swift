import VestaBytes

/// Reads schedules: cron's five fields, and the short forms of App Engine; pure.
///
/// | form | meaning |
/// |---|---|
/// | `minute hour day month weekday` | numbers, `*`, lists, ranges, steps (`*/5`, `10-50/20`), `JAN`-`DEC`, `SUN`-`SAT` |
/// | `@hourly`, `@daily`, `@midnight`, `@weekly`, `@monthly`, `@yearly`, `@annually` | the first minute of it |
/// | `every 5 minutes`, `every 2 hours` | counted from midnight of each day |
/// | `every day 09:30`, `every monday,friday 09:30` | once on these days |
///
/// A day is due when both its number and its weekday match; where both are restricted, one of them is enough.
enum ScheduleParser {
  static func parse(_ text: String) throws(ScheduleError) -> Schedule {
    let words = text.lowercased().split(whereSeparator: \.isWhitespace)
    let schedule: Schedule
    if words.first == "every" {
      schedule = try every(words.dropFirst(), text)
    } else if words.count == 1, let fields = macros[String(words[0])] {
      schedule = try cron(fields.split(separator: " "), text)
    } else {
      guard words.count == 5 else {
        throw ScheduleError(
          text, "has \(words.count) fields. Write five (minute hour day month weekday), or \"every 5 minutes\".")
      }
      schedule = try cron(words, text)
    }
    // From a time that no clock change is near.
    guard schedule.firstLocalTime(atOrAfter: 946_684_800) != nil else { throw ScheduleError(text, "never comes.") }
    return schedule
  }

  private static let macros = [
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
  ]
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
  private static let weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
  private static let longWeekdays = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]

  // MARK: Cron

  private static func cron(_ words: [Substring], _ text: String) throws(ScheduleError) -> Schedule {
    let minutes = try Field("minute", 0...59).values(words[0], text)
    let hours = try Field("hour", 0...23).values(words[1], text)
    let days = try Field("day", 1...31).values(words[2], text)
    let months = try Field("month", 1...12, names: months, firstName: 1).values(words[3], text)
    let weekdays = try Field("weekday", 0...7, names: weekdays, firstName: 0).values(words[4], text)
    var rule = Schedule.DayRule()
    rule.months = months.reduce(0) { $0 | 1 << UInt16($1) }
    rule.daysOfMonth = days.reduce(0) { $0 | 1 << UInt32($1) }
    rule.weekdays = weekdays.reduce(0) { $0 | 1 << UInt8($1 % 7) }
    rule.isEither = !words[2].hasPrefix("*") && !words[4].hasPrefix("*")
    return Schedule(
      minutes: hours.flatMap { hour in minutes.map { hour * 60 + $0 } }, days: rule,
      followsClock: words[0].hasPrefix("*") || words[1].hasPrefix("*"))
  }

  /// One field of the five.
  private struct Field {
    let name: String
    let range: ClosedRange<Int>
    let names: [String]
    let firstName: Int

    init(_ name: String, _ range: ClosedRange<Int>, names: [String] = [], firstName: Int = 0) {
      (self.name, self.range, self.names, self.firstName) = (name, range, names, firstName)
    }

    /// The values of a field, ascending.
    func values(_ word: Substring, _ text: String) throws(ScheduleError) -> [Int] {
      var values: Set<Int> = []
      for part in word.split(separator: ",", omittingEmptySubsequences: false) {
        values.formUnion(try part.isEmpty ? refuse(part, text) : self.part(part, text))
      }
      return values.sorted()
    }

    private func part(_ part: Substring, _ text: String) throws(ScheduleError) -> [Int] {
      let halves = part.parts(at: "/")
      guard halves.count <= 2 else { return try refuse(part, text) }
      var step = 1
      if halves.count == 2 {
        guard let number = Int(halves[1]), number > 0, halves[0] == "*" || halves[0].contains("-") else {
          return try refuse(part, text)
        }
        step = number
      }
      let bounds = try bounds(halves[0], part, text)
      return Array(stride(from: bounds.lowerBound, through: bounds.upperBound, by: step))
    }

    private func bounds(
      _ word: Substring, _ part: Substring, _ text: String
    ) throws(ScheduleError) -> ClosedRange<Int> {
      // Sunday may be 0 or 7, but a wildcard has it once.
      if word == "*" { return range.upperBound == 7 ? 0...6 : range }
      let ends = word.split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count <= 2, let low = value(ends[0]), let high = value(ends[ends.count - 1]), low <= high else {
        _ = try refuse(part, text)
        return range
      }
      return low...high
    }

    private func value(_ word: Substring) -> Int? {
      if let index = names.firstIndex(of: String(word)) { return index + firstName }
      guard word.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(word), range.contains(number) else {
        return nil
      }
      return number
    }

    private func refuse(_ part: Substring, _ text: String) throws(ScheduleError) -> [Int] {
      throw ScheduleError(
        text,
        """
        has "\(part)" as \(name). Write numbers from \(range.lowerBound) to \(range.upperBound), "*", ascending ranges \
        (1-5), steps of a range or of "*" (*/5), and lists of these (1,3-5).
        """)
    }
  }

  // MARK: App Engine's forms

  /// The days of `day`, or of names of weekdays.
  private static func days(_ names: Substring, _ text: String) throws(ScheduleError) -> Schedule.DayRule {
    var rule = Schedule.DayRule()
    if names == "day" { return rule }
    rule.weekdays = 0
    for name in names.split(separator: ",", omittingEmptySubsequences: false) {
      let index = weekdays.firstIndex(of: String(name)) ?? longWeekdays.firstIndex(of: String(name))
      guard let index else { throw ScheduleError(text, "has \"\(name)\", which is no day of the week.") }
      rule.weekdays |= 1 << UInt8(index)
    }
    return rule
  }

  private static func every(_ words: ArraySlice<Substring>, _ text: String) throws(ScheduleError) -> Schedule {
    guard let first = words.first, words.count == 2, let second = words.last else {
      throw ScheduleError(text, "is not complete. Write \"every 5 minutes\" or \"every monday,friday 09:30\".")
    }
    if let number = Int(first) { return try interval(number, unit: second, text) }
    let rule = try days(first, text)
    let parts = second.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]), (0..<24).contains(hour),
      (0..<60).contains(minute), parts[1].count == 2
    else { throw ScheduleError(text, "has \"\(second)\" as time. Write it as 09:30.") }
    return Schedule(minutes: [hour * 60 + minute], days: rule, followsClock: false)
  }

  private static func interval(_ number: Int, unit: Substring, _ text: String) throws(ScheduleError) -> Schedule {
    let length: Int
    switch unit {
    case "minute", "minutes", "min", "mins": length = 1
    case "hour", "hours": length = 60
    default: throw ScheduleError(text, "has \"\(unit)\" as unit. Write minutes or hours.")
    }
    guard number > 0, number <= 1_440 / length else {
      throw ScheduleError(text, "has an interval that is not between one minute and a day.")
    }
    let minutes = Array(stride(from: 0, to: 1_440, by: number * length))
    return Schedule(minutes: minutes, days: Schedule.DayRule(), followsClock: minutes.count > 1)
  }
}

/// The reason why a schedule is refused.
public struct ScheduleError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The mistake, and what to write instead.
  public let description: String

  init(_ text: String, _ problem: String) { description = "The schedule \"\(text)\" \(problem)" }
}
