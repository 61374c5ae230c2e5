import VestaRules

extension NaiveValue {
  /// The same value for the package; nil for a set or a difference, which no request has.
  var packaged: RulesValue? {
    switch self {
    case .null: return .some(.null)
    case .bool(let bool): return .bool(bool)
    case .int(let number): return .int(number)
    case .float(let number): return .float(number)
    case .string(let text): return .string(String(decoding: text, as: UTF16.self))
    case .bytes(let bytes): return .bytes(bytes)
    case .timestamp(let time):
      let (seconds, nanos) = NaiveTime.divide(time, 1_000_000_000)
      return .timestamp(RulesTimestamp(seconds: Int64(seconds), nanoseconds: Int64(nanos)))
    case .duration(let time):
      let (seconds, nanos) = NaiveTime.divide(time, 1_000_000_000)
      return .duration(RulesDuration(seconds: Int64(seconds), nanoseconds: Int64(nanos)))
    case .latlng(let latitude, let longitude): return .latlng(RulesLatLng(latitude: latitude, longitude: longitude))
    case .path(let segments): return .path(RulesPath(segments.map { String(decoding: $0, as: UTF16.self) }))
    case .list(let list): return .list(list.compactMap(\.packaged))
    case .map(let map): return .map(map.packaged)
    case .set, .mapDiff: return nil
    }
  }
}

extension NaiveMap {
  var packaged: RulesMap {
    RulesMap(
      members.compactMap { member in
        member.value.packaged.map { RulesMap.Member(String(decoding: member.name, as: UTF16.self), $0) }
      })
  }
}

/// The calendar and the division that it needs.
enum NaiveTime {
  static let day: Int128 = 86_400_000_000_000

  /// The quotient towards negative infinity, and the remainder.
  static func divide(_ value: Int128, _ by: Int128) -> (Int128, Int128) {
    let rest = ((value % by) + by) % by
    return ((value - rest) / by, rest)
  }

  static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  static func days(_ year: Int) -> [Int] {
    [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  }

  /// The date of a day since 1970, found by counting years and months.
  static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int, dayOfYear: Int) {
    var (year, left) = (1970, number)
    while left < 0 {
      year -= 1
      left += isLeap(year) ? 366 : 365
    }
    while left >= (isLeap(year) ? 366 : 365) {
      left -= isLeap(year) ? 366 : 365
      year += 1
    }
    let dayOfYear = left + 1
    var month = 0
    while left >= days(year)[month] {
      left -= days(year)[month]
      month += 1
    }
    return (year, month + 1, left + 1, dayOfYear)
  }

  /// The day since 1970 of a date, found by counting.
  static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
    var number = day - 1
    for index in 0..<(month - 1) { number += days(year)[index] }
    if year >= 1970 {
      for past in 1970..<year { number += isLeap(past) ? 366 : 365 }
    } else {
      for coming in year..<1970 { number -= isLeap(coming) ? 366 : 365 }
    }
    return number
  }
}
