#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Points in time as conditions write them: a local date and time, and the name of a time zone.
enum ConditionTime {
  enum Outcome: Equatable {
    /// Microseconds since 1970.
    case time(Int64)
    case notATime
    case unknownZone
  }

  /// Parses a date and time such as `2024-01-31T09:30:00`, seconds and a fraction of them optional.
  ///
  /// - Parameters:
  ///   - text: The local time; in UTC when it ends with a `Z`.
  ///   - zone: The name of the time zone; `nil` for UTC. A string with a `Z` must not name another one.
  static func parse(_ text: String, zone: String?) -> Outcome {
    guard let (fields, micros) = fields(of: text) else { return .notATime }
    if text.hasSuffix("Z"), let zone, !["UTC", "GMT", "Etc/UTC"].contains(zone) { return .notATime }
    guard let zone = timeZone(zone ?? "UTC") else { return .unknownZone }
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let components = DateComponents(
      year: fields[0], month: fields[1], day: fields[2], hour: fields[3], minute: fields[4], second: fields[5])
    guard let date = calendar.date(from: components), calendar.component(.day, from: date) == fields[2] else {
      return .notATime
    }
    return .time(Int64(date.timeIntervalSince1970) * 1_000_000 + micros)
  }

  /// The lead of the clocks in a time zone over UTC at a time, in microseconds; 0 for an unknown one.
  static func offset(of zone: String?, at time: Int64) -> Int64 {
    guard let zone, let zone = timeZone(zone) else { return 0 }
    let date = Date(timeIntervalSince1970: Double(time) / 1_000_000)
    return Int64(zone.secondsFromGMT(for: date)) * 1_000_000
  }

  /// Whether a date and time is one of UTC, wherever the instance is.
  static func saysUTC(_ text: String) -> Bool { text.hasSuffix("Z") }

  /// Names are file names on some platforms: a name that cannot be a time zone's is not looked up.
  private static func timeZone(_ name: String) -> TimeZone? {
    let isName = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"),
        UInt8(ascii: "/"), UInt8(ascii: ":"):
        true
      default: false
      }
    }
    return isName ? TimeZone(identifier: name) : nil
  }

  /// Year, month, day, hour, minute and second, and the microseconds.
  private static func fields(of text: String) -> ([Int], Int64)? {
    let halves = text.split(separator: "T", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let day = numbers(in: halves[0], separator: "-")
    let clock = halves[1].hasSuffix("Z") ? halves[1].dropLast() : halves[1]
    let parts = clock.split(separator: ".", omittingEmptySubsequences: false)
    var time = numbers(in: parts[0], separator: ":")
    if time.count == 2, parts.count == 1 { time.append(0) }
    guard day.count == 3, time.count == 3, (1...9999).contains(day[0]), (1...12).contains(day[1]),
      (1...31).contains(day[2]), (0...23).contains(time[0]), (0...59).contains(time[1]), (0...59).contains(time[2])
    else { return nil }
    guard parts.count > 1 else { return (day + time, 0) }
    return parts.count == 2 ? micros(parts[1]).map { (day + time, $0) } : nil
  }

  /// The first six digits of a fraction of a second.
  private static func micros(_ digits: Substring) -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    let text = String(digits.prefix(6))
    return Int64(text + String(repeating: "0", count: 6 - text.utf8.count))
  }

  private static func numbers(in text: Substring, separator: Character) -> [Int] {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.utf8.allSatisfy { (48...57).contains($0) } ? Int(part) : nil }
    return numbers.count == parts.count ? numbers : []
  }
}
