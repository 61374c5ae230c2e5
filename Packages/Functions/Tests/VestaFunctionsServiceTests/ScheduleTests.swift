import Foundation
import Testing
import VestaTesting

@testable import VestaFunctionsService

/// Seconds since 1970 of a time in UTC, such as `2026-03-29T00:00:00Z`.
private func utc(_ text: String) throws -> Int64 {
  Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970)
}

private func zone(_ name: String) throws -> ZoneOffsets { ZoneOffsets(try #require(TimeZone(identifier: name))) }

@Suite struct ScheduleParserTests {
  @Test(arguments: [
    ("*/15 * * * *", [0, 15, 30, 45].map { $0 }),
    ("5,10-12 0 * * *", [5, 10, 11, 12]),
    ("0 9-17/4 * * *", [540, 780, 1020]),
    ("every 8 hours", [0, 480, 960]),
    ("every day 09:30", [570]),
    ("@hourly", Array(stride(from: 0, to: 1440, by: 60))),
  ])
  func `the minutes of a day`(text: String, minutes: [Int]) throws {
    let parsed = try ScheduleParser.parse(text).minutes
    #expect(parsed.prefix(minutes.count) == minutes[...])
    if text != "*/15 * * * *" { #expect(parsed.count == minutes.count) }
  }

  @Test func `names, ranges and Sunday as seven`() throws {
    let named = try ScheduleParser.parse("0 0 * JAN,dec SUN,fri-sat").days
    let numbered = try ScheduleParser.parse("0 0 * 1,12 5,6,7").days
    #expect(named == numbered)
    #expect(named.weekdays == 0b110_0001)
    #expect(try ScheduleParser.parse("every monday,wed 09:30").days.weekdays == 0b000_1010)
  }

  @Test func `two kinds of days are either, a wildcard among them is both`() throws {
    #expect(try ScheduleParser.parse("0 0 13 * FRI").days.isEither)
    #expect(try !ScheduleParser.parse("0 0 */2 * FRI").days.isEither)
    #expect(try !ScheduleParser.parse("0 0 13 * *").days.isEither)
  }

  @Test(arguments: [
    "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5/2 * * * *",
    "*/0 * * * *", "5-1 * * * *", "1,,2 * * * *", "-1 * * * *", "a * * * *", "* * * FOO *", "1-2-3 * * * *",
    "0 0 30 2 *", "every", "every 0 minutes", "every 25 hours", "every 5 days", "every funday 09:30",
    "every day 24:00", "every day 9", "*/5/5 * * * *", "+1 * * * *", "@never", "99999999999999999999 * * * *",
  ])
  func `a schedule that means nothing is refused`(text: String) {
    #expect(throws: ScheduleError.self) { try ScheduleParser.parse(text) }
  }
}

@Suite struct ScheduleTests {
  @Test func `a fixed time in the hour that is left out runs right after it`() throws {
    let berlin = try zone("Europe/Berlin")
    let schedule = try ScheduleParser.parse("30 2 * * *")
    let before = try utc("2026-03-28T12:00:00Z")
    #expect(schedule.next(after: before, in: berlin) == (try utc("2026-03-29T01:00:00Z")))
    #expect(schedule.next(after: try utc("2026-03-29T01:00:00Z"), in: berlin) == (try utc("2026-03-30T00:30:00Z")))
  }

  @Test func `a fixed time in the repeated hour runs once, a wildcard twice`() throws {
    let berlin = try zone("Europe/Berlin")
    let first = try utc("2026-10-25T00:30:00Z")
    let fixed = try ScheduleParser.parse("30 2 * * *")
    #expect(fixed.next(after: try utc("2026-10-24T12:00:00Z"), in: berlin) == first)
    #expect(fixed.next(after: first, in: berlin) == (try utc("2026-10-26T01:30:00Z")))
    // Also when asked in the middle of the second pass.
    #expect(fixed.next(after: try utc("2026-10-25T01:10:00Z"), in: berlin) == (try utc("2026-10-26T01:30:00Z")))
    let wildcard = try ScheduleParser.parse("30 * * * *")
    #expect(wildcard.next(after: first, in: berlin) == (try utc("2026-10-25T01:30:00Z")))
  }

  @Test func `February 29th is found years ahead`() throws {
    let schedule = try ScheduleParser.parse("0 12 29 2 *")
    let zone = try zone("UTC")
    #expect(schedule.next(after: try utc("2096-03-01T00:00:00Z"), in: zone) == (try utc("2104-02-29T12:00:00Z")))
  }

  @Test func `the next run agrees with a walk through the minutes`() throws {
    let seed = UInt64(20_261_122)
    var random = SplitMix(seed: seed)
    let zones = [
      "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Asia/Kathmandu",
      "Africa/Casablanca", "Pacific/Apia",
    ]
    // Around clock changes of these zones, the day that Apia left out among them, and elsewhere.
    let starts = [
      "2026-03-29T00:00:00Z", "2026-10-25T00:00:00Z", "2026-03-08T06:00:00Z", "2026-11-01T05:00:00Z",
      "2026-04-04T15:00:00Z", "2026-10-03T15:00:00Z", "2011-12-30T09:00:00Z", "2026-02-14T23:00:00Z",
      "2024-02-29T11:00:00Z",
    ]
    for number in 0..<260 {
      let sample = ScheduleSample(&random)
      let name = zones[number % zones.count]
      let offsets = try zone(name)
      let start =
        try utc(starts[number / zones.count % starts.count]) + Int64.random(in: -90_000...90_000, using: &random)
      let schedule = try ScheduleParser.parse(sample.text)
      let expected = sample.walk(after: start, minutes: 4 * 1_440, zone: offsets.offset)
      let found = schedule.next(after: start, in: offsets)
      let label = "seed \(seed), case \(number): \(sample.text) in \(name) after \(start)"
      if let expected {
        #expect(found == expected, "\(label)")
      } else {
        #expect(found.map { $0 > start + 4 * 86_400 - 60 } ?? true, "\(label)")
      }
    }
  }
}

/// A random schedule, with a search for its next run that shares nothing with the one under test.
private struct ScheduleSample {
  var minutes: [Int]?, hours: [Int]?, days: [Int]?, weekdays: [Int]?

  init(_ random: inout SplitMix) {
    func pick(_ range: ClosedRange<Int>, _ most: Int, _ random: inout SplitMix) -> [Int]? {
      if Int.random(in: 0..<3, using: &random) == 0 { return nil }
      return Array(
        Set((0..<Int.random(in: 1...most, using: &random)).map { _ in Int.random(in: range, using: &random) })
      )
      .sorted()
    }
    minutes = pick(0...59, 3, &random)
    hours = Bool.random(using: &random) ? pick(0...4, 3, &random) : pick(0...23, 4, &random)
    days = pick(1...31, 6, &random)
    weekdays = pick(0...6, 3, &random)
  }

  var text: String {
    func field(_ values: [Int]?) -> String { values.map { $0.map(String.init).joined(separator: ",") } ?? "*" }
    return "\(field(minutes)) \(field(hours)) \(field(days)) * \(field(weekdays))"
  }

  private func matches(_ local: Int64, _ dayOfMonth: (Int64) -> Int) -> Bool {
    let day = local / 86_400
    let minute = Int(local % 86_400) / 60
    guard minutes?.contains(minute % 60) ?? true, hours?.contains(minute / 60) ?? true else { return false }
    let isDay = days?.contains(dayOfMonth(day)) ?? true
    let isWeekday = weekdays?.contains(Int((day + 4) % 7)) ?? true
    return days != nil && weekdays != nil ? isDay || isWeekday : isDay && isWeekday
  }

  func walk(after start: Int64, minutes count: Int, zone: (Int64) -> Int64) -> Int64? {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
    var known: [Int64: Int] = [:]
    func dayOfMonth(_ day: Int64) -> Int {
      if let found = known[day] { return found }
      let found = calendar.component(.day, from: Date(timeIntervalSince1970: Double(day * 86_400)))
      known[day] = found
      return found
    }
    let followsClock = minutes == nil || hours == nil
    let first = start / 60 + 1
    var newest: Int64?
    // From a day and an hour before, to know which local minutes have been.
    for minute in (first - 1_500)..<(first + Int64(count)) {
      let local = minute * 60 + zone(minute * 60)
      var runs = false
      if followsClock {
        runs = matches(local, dayOfMonth)
      } else if let last = newest {
        for skipped in stride(from: last + 60, through: local, by: 60) where matches(skipped, dayOfMonth) {
          runs = true
        }
      } else {
        runs = matches(local, dayOfMonth)
      }
      newest = max(newest ?? local, local)
      if runs, minute >= first { return minute * 60 }
    }
    return nil
  }
}

@Suite struct DueRunsTests {
  private func runs(
    _ text: String, since last: Int64, now: Int64, _ missed: MissedRuns
  ) throws -> (runs: [Int64], last: Int64) {
    DueRuns.runs(try ScheduleParser.parse(text), since: last, now: now, missed: missed, in: ZoneOffsets { _ in 0 })
  }

  @Test func `missed runs are left out, run once, or run up to a limit`() throws {
    let (start, due): (Int64, Int64) = (86_400, 259_200)
    #expect(try runs("0 * * * *", since: start, now: due + 1_830, .skip).runs == [])
    #expect(try runs("0 * * * *", since: start, now: due + 30, .skip).runs == [due])
    #expect(try runs("0 * * * *", since: start, now: due + 1_830, .runOnce).runs == [due])
    let all = try runs("0 * * * *", since: start, now: due + 30, .runAll(limit: 3)).runs
    let expected: [Int64] = [252_000, 255_600, 259_200]
    #expect(all == expected)
    #expect(try runs("0 * * * *", since: due - 3_600, now: due + 30, .runAll(limit: 3)).runs == [due])
  }

  @Test func `a clock that is set back by little repeats no run; set back by much, the schedule starts again`() throws {
    let little = try runs("* * * * *", since: 100_000, now: 99_000, .runAll(limit: 5))
    #expect(little.runs == [])
    #expect(little.last == 100_000)
    let much = try runs("* * * * *", since: 100_000_000, now: 99_000, .runAll(limit: 5))
    #expect(much.runs == [])
    #expect(much.last == 99_000)
  }

  @Test func `how late a run may be, and how far a clock may be set back, is a matter of the tuning`() throws {
    var tuning = ScheduleTuning()
    (tuning.grace, tuning.tolerance) = (2, 3)
    func runs(since last: Int64, now: Int64) throws -> (runs: [Int64], last: Int64) {
      DueRuns.runs(
        try ScheduleParser.parse("0 * * * *"), since: last, now: now, missed: .skip, in: ZoneOffsets { _ in 0 },
        tuning: tuning)
    }
    #expect(try runs(since: 86_400, now: 90_002).runs == [90_000])
    #expect(try runs(since: 86_400, now: 90_003).runs == [])
    #expect(try runs(since: 86_403, now: 86_400).last == 86_403)
    #expect(try runs(since: 86_404, now: 86_400).last == 86_400)
  }

  @Test func `a clock that jumps years ahead costs no walk through all minutes`() throws {
    let result = try runs("* * * * *", since: 0, now: 1_700_000_000, .runAll(limit: 10))
    #expect(result.runs.count == 10)
  }
}
