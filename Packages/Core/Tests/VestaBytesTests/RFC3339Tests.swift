import Foundation
import Testing
import VestaBytes
import VestaTesting

@Suite struct RFC3339Tests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (1_767_225_600_000_001, "2026-01-01T00:00:00.000001Z"),
      (-1, "1969-12-31T23:59:59.999999Z"), (951_782_400_000_000, "2000-02-29T00:00:00Z"),
      (-62_135_596_800_000_000, "0001-01-01T00:00:00Z"), (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ] as [(Int64, String)])
  func `a time is written and read`(microseconds: Int64, text: String) {
    #expect(RFC3339.text(microseconds: microseconds) == text)
    #expect(RFC3339.microseconds(of: text) == microseconds)
  }

  @Test func `the fraction has as many digits as are asked for`() {
    let time: Int64 = 1_500_000_120_000
    let texts = [0, 3, 6].map { RFC3339.text(microseconds: time, digits: $0) }
    #expect(texts == ["1970-01-18T08:40:00Z", "1970-01-18T08:40:00.120Z", "1970-01-18T08:40:00.120000Z"])
    #expect(RFC3339.text(microseconds: 0, digits: 3) == "1970-01-01T00:00:00.000Z")
  }

  @Test(
    arguments: [
      ("2026-01-01T02:00:00+02:00", 1_767_225_600, 0), ("2025-12-31T18:30:00.25-05:30", 1_767_225_600, 250_000_000),
      ("2026-01-01T00:00:00.123456789Z", 1_767_225_600, 123_456_789),
      ("2026-01-01T00:00:00.1234567899Z", 1_767_225_600, 123_456_789), ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
    ] as [(String, Int64, Int32)])
  func `offsets and nanoseconds are read`(text: String, seconds: Int64, nanoseconds: Int32) {
    let time = RFC3339.parse(text)
    #expect(time?.seconds == seconds && time?.nanoseconds == nanoseconds)
  }

  @Test(arguments: [
    "", "Z", "2026-01-01", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z",
    "1900-02-29T00:00:00Z", "2026-06-31T00:00:00Z", "2026-09-31T00:00:00Z", "2026-11-31T00:00:00Z",
    "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z", "0000-01-01T00:00:00Z",
    "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00",
    "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.xZ", "2026-01-01T00:00:00.-1Z", "2026-01-01T00:00:00ZZ",
    "2026-1-01T00:00:00Z", "2026-+1-01T00:00:00Z", "2026--1-01T00:00:00Z", "20260-01-01T00:00:00Z",
    "-026-01-01T00:00:00Z", "2026-01-01T00:00:00+2:00", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+02:60",
    "2026-01-01T00:00:00+0200", "２026-01-01T00:00:00Z", "2026-01-01T00:00:00z ",
  ])
  func `a string that is no time is nil`(text: String) {
    #expect(RFC3339.parse(text) == nil)
    #expect(RFC3339.microseconds(of: text) == nil)
  }

  @Test func `every day of 400 years is read, and no day after the last of a month`() {
    for number in Int64(0)..<146_097 {
      let (year, month, day) = RFC3339.date(ofDay: number)
      func text(_ day: Int) -> String {
        "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)T00:00:00Z"
      }
      #expect(RFC3339.parse(text(day))?.seconds == number * 86_400)
      guard RFC3339.date(ofDay: number + 1).day == 1 else { continue }
      for late in (day + 1)...32 { #expect(RFC3339.parse(text(late)) == nil) }
    }
  }

  @Test func `random times survive being written, and Foundation reads the same`() {
    var random = SplitMix(seed: 11)
    for _ in 0..<2_000 {
      let time = Int64.random(in: -62_135_596_800_000_000...253_402_300_799_999_999, using: &random)
      let text = RFC3339.text(microseconds: time)
      #expect(RFC3339.microseconds(of: text) == time)
      let seconds = RFC3339.text(microseconds: time, digits: 0)
      // Foundation's calendar is the Julian one before 1582.
      if time > -12_219_292_800_000_000 {
        let date = try? Date(seconds, strategy: .iso8601)
        #expect(date.map { Int64($0.timeIntervalSince1970) } == RFC3339.parse(seconds)?.seconds, "\(seconds)")
      }
    }
  }

  @Test func `every number has a string, and random bytes are read or refused`() {
    for time in [Int64.min, .max, .min + 1] { #expect(RFC3339.text(microseconds: time).hasSuffix("Z")) }
    var random = SplitMix(seed: 12)
    let sample = Array("2026-01-31T12:00:00.5+02:00".utf8)
    for _ in 0..<5_000 {
      var bytes = sample
      for _ in 0...random.below(3) {
        bytes[random.below(bytes.count)] = random.pick(Array("0123456789-+:.TZ \u{E9}".utf8))
      }
      bytes.removeLast(random.below(bytes.count))
      _ = RFC3339.parse(String(decoding: bytes, as: UTF8.self))
    }
  }
}
