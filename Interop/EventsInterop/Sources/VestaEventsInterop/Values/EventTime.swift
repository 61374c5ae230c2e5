/// Times in the data of events: `2026-01-31T12:00:00.000001Z`; pure.
public enum EventTime {
  private static let day: Int64 = 86_400_000_000

  /// A time as a string.
  ///
  /// - Parameter microseconds: The microseconds since 1970, before 1970 below zero.
  public static func text(microseconds: Int64) -> String {
    let days = flooredDivision(microseconds, by: day)
    let rest = microseconds - days * day
    let date = date(ofDay: days)
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000)
    // One buffer: each event of a document has two of these.
    var text: [UInt8] = []
    text.reserveCapacity(27)
    append(date.year, 4, "-", to: &text)
    append(Int64(date.month), 2, "-", to: &text)
    append(Int64(date.day), 2, "T", to: &text)
    append(seconds / 3_600, 2, ":", to: &text)
    append(seconds / 60 % 60, 2, ":", to: &text)
    append(seconds % 60, 2, fraction == 0 ? "Z" : ".", to: &text)
    if fraction > 0 { append(fraction, 6, "Z", to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The microseconds since 1970 of a string; `nil` for a string that is no time.
  public static func microseconds(of text: String) -> Int64? {
    guard text.utf8.last == UInt8(ascii: "Z") else { return nil }
    let parts = text.dropLast().split(separator: "T", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let date = parts[0].split(separator: "-").compactMap { Int64($0) }
    let clock = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    let time = clock[0].split(separator: ":").compactMap { Int64($0) }
    guard date.count == 3, time.count == 3, clock.count <= 2, (1...9_999).contains(date[0]),
      (1...12).contains(date[1]), (1...31).contains(date[2]), (0..<24).contains(time[0]), (0..<60).contains(time[1]),
      (0..<60).contains(time[2])
    else { return nil }
    var fraction: Int64 = 0
    if clock.count == 2 {
      let digits = clock[1].prefix(6)
      guard let number = Int64(digits), number >= 0 else { return nil }
      fraction = (digits.count..<6).reduce(number) { product, _ in product * 10 }
    }
    let seconds = time[0] * 3_600 + time[1] * 60 + time[2]
    return dayNumber(year: date[0], month: date[1], day: date[2]) * day + seconds * 1_000_000 + fraction
  }

  /// The date of a day by its number since 1970-01-01.
  public static func date(ofDay number: Int64) -> (year: Int64, month: Int, day: Int) {
    // Years of the calculation begin on March 1st of the year 0, so that the leap day is the last one.
    let shifted = number + 719_468
    let era = flooredDivision(shifted, by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month < 10 ? 0 : 1)
    return (year, Int(month < 10 ? month + 3 : month - 9), Int(dayOfYear - (153 * month + 2) / 5 + 1))
  }

  private static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month > 2 ? year : year - 1
    let era = flooredDivision(shifted, by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func flooredDivision(_ number: Int64, by divisor: Int64) -> Int64 {
    number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
  }

  /// Appends a number with zeros before it, and what follows it; a year before the year 0 has its sign.
  private static func append(_ number: Int64, _ count: Int, _ end: Unicode.Scalar, to text: inout [UInt8]) {
    if (0..<10_000_000).contains(number) {
      var scale: Int64 = 1
      for _ in 1..<count { scale *= 10 }
      while number / scale > 9 { scale *= 10 }
      while scale > 0 {
        text.append(UInt8(ascii: "0") + UInt8(number / scale % 10))
        scale /= 10
      }
    } else {
      text.append(contentsOf: String(number).utf8)
    }
    text.append(UInt8(ascii: end))
  }
}
