import Foundation
import Testing
import VestaTesting

@testable import VestaFunctionsService

/// Schedules compared with a search through every minute, written from the manual page of cron and the rules that the
/// documentation of `Schedule` states, on the clocks of Foundation's calendar.
@Suite struct ScheduleOracleTests {
  /// A schedule in the five fields of cron, as lists of numbers.
  private struct Fields {
    var minutes, hours, days, months, weekdays: [Int]?

    var text: String {
      func field(_ numbers: [Int]?) -> String { numbers.map { $0.map(String.init).joined(separator: ",") } ?? "*" }
      return [minutes, hours, days, months, weekdays].map(field).joined(separator: " ")
    }

    /// Whether the times follow the clock.
    var isWildcard: Bool { minutes == nil || hours == nil }

    func matches(_ parts: DateComponents) -> Bool {
      func fits(_ numbers: [Int]?, _ value: Int?) -> Bool { numbers.map { $0.contains(value ?? -1) } ?? true }
      guard fits(minutes, parts.minute), fits(hours, parts.hour), fits(months, parts.month) else { return false }
      let isDay = fits(days, parts.day)
      let isWeekday = fits(weekdays?.map { $0 % 7 }, parts.weekday.map { $0 - 1 })
      return days != nil && weekdays != nil ? isDay || isWeekday : isDay && isWeekday
    }
  }

  private static let zones = [
    "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Sao_Paulo",
    "Pacific/Apia", "Africa/Casablanca", "America/St_Johns", "Asia/Tehran",
  ]

  @Test(arguments: 0..<60) func `the next run is the one that a search through all minutes finds`(run: Int) throws {
    let seed = UInt64(run) + 500
    var random = SplitMix(seed: seed)
    func some(_ range: ClosedRange<Int>, _ count: Int) -> [Int] {
      Array(Set((0..<count).map { _ in Int.random(in: range, using: &random) })).sorted()
    }
    let name = Self.zones[run % Self.zones.count]
    let zone = try #require(TimeZone(identifier: name))
    var fields = Fields()
    if Int.random(in: 0..<4, using: &random) > 0 { fields.minutes = some(0...59, 3) }
    // Clocks change in the first hours of a day.
    if Int.random(in: 0..<3, using: &random) > 0 { fields.hours = some(0...4, 3) }
    if Int.random(in: 0..<3, using: &random) == 0 { fields.days = some(1...31, 8) }
    if Int.random(in: 0..<3, using: &random) == 0 { fields.weekdays = some(0...7, 3) }
    let schedule = try ScheduleParser.parse(fields.text)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone

    // Three days around a change of the clocks between 2009 and 2019, or anywhere.
    let from = Date(timeIntervalSince1970: 1_230_768_000 + Double(Int.random(in: 0..<120_000, using: &random)) * 2_600)
    let change = zone.nextDaylightSavingTimeTransition(after: from) ?? from
    let start = Int64(change.timeIntervalSince1970) / 60 * 60 - 129_600 + Int64.random(in: 0..<60, using: &random)
    let end = start + 3 * 86_400
    let expected = search(fields, calendar, from: start, to: end)
    var (found, time): ([Int64], Int64) = ([], start)
    while let next = schedule.next(after: time, in: ZoneOffsets(zone)), next <= end {
      found.append(next)
      time = next
    }
    #expect(found == expected, "seed \(seed), \(name), \(fields.text), change at \(change)")
    let zoneOffsets = ZoneOffsets(zone)
    #expect(schedule.latest(upTo: end, after: start, limit: 5, in: zoneOffsets) == Array(expected.suffix(5)))
  }

  /// The runs after a time, found minute by minute.
  private func search(_ fields: Fields, _ calendar: Calendar, from start: Int64, to end: Int64) -> [Int64] {
    let zone = calendar.timeZone
    func offset(_ time: Int64) -> Int64 { Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))) }
    func matches(local: Int64) -> Bool {
      var utc = Calendar(identifier: .gregorian)
      utc.timeZone = TimeZone(secondsFromGMT: 0) ?? zone
      let date = Date(timeIntervalSince1970: Double(local))
      return fields.matches(utc.dateComponents([.minute, .hour, .day, .month, .weekday], from: date))
    }
    var runs: Set<Int64> = []
    // A fixed time that was before the window is not repeated in it: the search begins two days earlier.
    var newest = Int64.min
    for minute in ((start - 2 * 86_400) / 60)...(end / 60) {
      let time = minute * 60
      let (now, before) = (offset(time), offset(time - 60))
      let local = time + now
      if fields.isWildcard {
        if matches(local: local) { runs.insert(time) }
        continue
      }
      // The local times that are left out count as one at the first minute after them.
      if now > before, newest > .min {
        let skipped = stride(from: time - 60 + before + 60, to: local, by: 60)
        if skipped.contains(where: matches(local:)) { runs.insert(time) }
      }
      if local > newest, matches(local: local) { runs.insert(time) }
      newest = max(newest, local)
    }
    return runs.filter { $0 > start && $0 <= end }.sorted()
  }

  @Test(arguments: [
    "1-5/9223372036854775807 * * * *", "*/9223372036854775807 * * * *", "0-59/59 0 1 1 7", "@HOURLY",
    "0 0 29 2 *", "59 23 31 12 sun,MON", "every 24 hours", "every 1440 minutes", "  0\t0  * * *  ", "0 0 * * 0-7",
  ])
  func `an unusual schedule is read`(text: String) throws {
    let schedule = try ScheduleParser.parse(text)
    #expect(schedule.next(after: 1_767_225_600, in: ZoneOffsets { _ in 0 }) != nil)
  }

  @Test(arguments: [
    "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 13 *", "* * * * 8",
    "*/0 * * * *", "5-1 * * * *", "1/5 * * * *", "1,,2 * * * *", ", * * * *", "-1 * * * *", "1- * * * *",
    "* * * foo *", "* * * * fri-sun", "0 0 31 2 *", "0 0 30 feb *", "@never", "every", "every 0 minutes",
    "every -5 minutes", "every 5 fortnights", "every day 24:00", "every day 9:5", "every monday,noday 09:00",
    "99999999999999999999 * * * *", "\u{661} * * * *", "*/* * * * *", "1-2-3 * * * *", "1/2/3 * * * *",
  ])
  func `a schedule that means nothing is refused with a reason`(text: String) {
    let error = #expect(throws: ScheduleError.self) { try ScheduleParser.parse(text) }
    #expect(error?.description.contains("\"\(text)\"") == true)
  }
}
