/// Points in time as strings in the format of RFC 3339: `2026-01-31T12:00:00.000001Z`.
///
/// Days follow the Gregorian calendar, for all years; a leap second is not a time.
///
/// ```swift
/// RFC3339.text(microseconds: 1_767_225_600_000_001)         // 2026-01-01T00:00:00.000001Z
/// RFC3339.microseconds(of: "2026-01-01T02:00:00+02:00")     // 1_767_225_600_000_000
/// ```
public enum RFC3339 {
  private static let secondsOfDay: Int64 = 86_400

  // MARK: Writing

  /// The string of a time; ``parse(_:)`` reads the years 1 to 9999.
  ///
  /// - Parameters:
  ///   - microseconds: The microseconds since 1970, before 1970 below zero.
  ///   - digits: The digits of the fraction, up to six; `nil` for six, and none for a whole second.
  public static func text(microseconds: Int64, digits: Int? = nil) -> String {
    let (seconds, micros) = floored(microseconds, by: 1_000_000)
    let (day, second) = floored(seconds, by: secondsOfDay)
    let (year, month, dayOfMonth) = date(ofDay: day)
    let date = "\(padded(year, 4))-\(padded(Int64(month), 2))-\(padded(Int64(dayOfMonth), 2))"
    let time = "\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    let count = digits ?? (micros == 0 ? 0 : 6)
    return count == 0 ? "\(date)T\(time)Z" : "\(date)T\(time).\(padded(micros, 6).prefix(count))Z"
  }

  /// The string of a time with nanoseconds, in protobuf's form: a fraction of none, three, six or nine digits.
  ///
  /// - Parameters:
  ///   - seconds: The seconds since 1970, before 1970 below zero.
  ///   - nanoseconds: The nanoseconds from there, from 0 to 999,999,999.
  /// - Returns: The string; `nil` for a year before 1 or after 9999, and for other nanoseconds.
  public static func text(seconds: Int64, nanoseconds: Int32) -> String? {
    guard (-62_135_596_800...253_402_300_799).contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else {
      return nil
    }
    let whole = text(microseconds: seconds * 1_000_000, digits: 0)
    guard nanoseconds > 0 else { return whole }
    let digits = padded(Int64(nanoseconds), 9)
    let count = nanoseconds % 1_000_000 == 0 ? 3 : nanoseconds % 1_000 == 0 ? 6 : 9
    return "\(whole.dropLast()).\(digits.prefix(count))Z"
  }

  // MARK: Reading

  /// The time of a string; `nil` for a string that is no time.
  ///
  /// - Parameter text: With an offset, or `Z` for none; of the fraction nine digits count.
  /// - Returns: The seconds since 1970, rounded down, and the nanoseconds from there.
  public static func parse(_ text: String) -> (seconds: Int64, nanoseconds: Int32)? {
    // Unsafe pointer, used inside the closure only: the fields are taken from the bytes of the string in place.
    text.withBytes { parse(Fields(bytes: $0)) }
  }

  private static func parse(_ text: Fields) -> (seconds: Int64, nanoseconds: Int32)? {
    var fields = text
    guard let year = fields.number(4), year > 0, fields.skip("-"), let month = fields.number(2), fields.skip("-"),
      let day = fields.number(2), fields.skip("T"), let hour = fields.number(2), fields.skip(":"),
      let minute = fields.number(2), fields.skip(":"), let second = fields.number(2), hour < 24, minute < 60,
      second < 60, let nanoseconds = fields.fraction(), let offset = fields.offset(), fields.isAtEnd
    else { return nil }
    guard (1...12).contains(month), day > 0, day <= days(ofMonth: month, year: year) else { return nil }
    let number = dayNumber(year: year, month: month, day: day)
    return (number * secondsOfDay + hour * 3_600 + minute * 60 + second - offset, nanoseconds)
  }

  /// The microseconds since 1970 of a string; `nil` for a string that is no time.
  public static func microseconds(of text: String) -> Int64? {
    parse(text).map { $0.seconds * 1_000_000 + Int64($0.nanoseconds) / 1_000 }
  }

  /// Takes one field after another from the front of a string.
  private struct Fields {
    let bytes: UnsafeBufferPointer<UInt8>
    var index = 0

    init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    /// The value of the next character, if that is a digit.
    mutating func digit() -> Int64? {
      guard index < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else { return nil }
      defer { index += 1 }
      return Int64(bytes[index] - UInt8(ascii: "0"))
    }

    mutating func number(_ count: Int) -> Int64? {
      var number: Int64 = 0
      for _ in 0..<count {
        guard let digit = digit() else { return nil }
        number = number * 10 + digit
      }
      return number
    }

    /// The nanoseconds of a fraction; zero without one.
    mutating func fraction() -> Int32? {
      guard skip(".") else { return 0 }
      guard var value = digit() else { return nil }
      var count = 1
      while let digit = digit() {
        if count < 9 { value = value * 10 + digit }
        count += 1
      }
      for _ in min(9, count)..<9 { value *= 10 }
      return Int32(value)
    }

    /// The seconds by which the local time is ahead of UTC.
    mutating func offset() -> Int64? {
      if skip("Z") { return 0 }
      let isAhead = skip("+")
      guard isAhead || skip("-"), let hours = number(2), hours < 24, skip(":"), let minutes = number(2), minutes < 60
      else { return nil }
      let seconds = hours * 3_600 + minutes * 60
      return isAhead ? seconds : -seconds
    }
  }

  // MARK: Days

  /// The date of a day by its number since 1970-01-01.
  public static func date(ofDay number: Int64) -> (year: Int64, month: Int, day: Int) {
    // Years of the calculation begin on March 1st of the year 0, so that the leap day is the last one.
    let (era, dayOfEra) = floored(number + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month < 10 ? 0 : 1)
    return (year, Int(month < 10 ? month + 3 : month - 9), Int(dayOfYear - (153 * month + 2) / 5 + 1))
  }

  private static func days(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    let (era, yearOfEra) = floored(month > 2 ? year : year - 1, by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func floored(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }

  private static func padded(_ number: Int64, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
}
