import Foundation
import VestaBytes

/// Conversions between values.
enum Conversions {
  /// `string(x)`; nil for types that have none.
  static func string(_ value: RulesValue) -> String? {
    switch value {
    case .null: "null"
    case .bool(let bool): bool ? "true" : "false"
    case .int(let int): String(int)
    case .float(let float): JavaNumbers.text(float)
    case .string(let string): string
    case .path(let path): path.string
    default: nil
    }
  }

  /// The distance of two points in metres on a sphere with the radius of the earth, 6,371,010 m.
  static func distance(_ left: RulesLatLng, _ right: RulesLatLng) -> Double {
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let (lat1, lat2) = (radians(left.latitude), radians(right.latitude))
    let dLat = sin((lat2 - lat1) / 2)
    let dLng = sin(radians(right.longitude - left.longitude) / 2)
    let half = dLat * dLat + cos(lat1) * cos(lat2) * dLng * dLng
    return 2 * 6_371_010 * asin(min(1, half.squareRoot()))
  }

  /// The power of two floats.
  static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }
}

extension RulesDuration {
  /// The seconds without their fraction, towards zero.
  var wholeSeconds: Int64 { seconds < 0 && nanoseconds > 0 ? seconds + 1 : seconds }

  /// The nanoseconds that the whole seconds leave, with the sign of the duration.
  var restNanoseconds: Int64 {
    seconds < 0 && nanoseconds > 0 ? Int64(nanoseconds) - 1_000_000_000 : Int64(nanoseconds)
  }
}

extension RulesTimestamp {
  private var day: Int64 { seconds.flooredQuotient(86_400) }
  private var secondOfDay: Int64 { seconds - day * 86_400 }

  /// The result of a method without arguments; nil for a method that timestamps do not have.
  func value(of method: ValueMethod) -> RulesValue? {
    switch method {
    case .year: return .int(RFC3339.date(ofDay: day).year)
    case .month: return .int(Int64(RFC3339.date(ofDay: day).month))
    case .day: return .int(Int64(RFC3339.date(ofDay: day).day))
    case .hours: return .int(secondOfDay / 3_600)
    case .minutes: return .int(secondOfDay / 60 % 60)
    case .seconds: return .int(secondOfDay % 60)
    case .nanos: return .int(Int64(nanoseconds))
    // The first day of 1970 was a Thursday; Monday is 1.
    case .dayOfWeek: return .int(((day + 3) % 7 + 7) % 7 + 1)
    case .dayOfYear:
      return .int(day - RulesTimestamp.dayNumber(year: RFC3339.date(ofDay: day).year, month: 1, day: 1) + 1)
    case .date: return .timestamp(RulesTimestamp(seconds: day * 86_400))
    case .time: return .duration(RulesDuration(seconds: secondOfDay, nanoseconds: Int64(nanoseconds)))
    case .toMillis:
      let (millis, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
      return .int(overflow ? (seconds < 0 ? .min : .max) : millis + Int64(nanoseconds / 1_000_000))
    default: return nil
    }
  }

  /// The number of days from 1970 to a date.
  static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Years begin in March, so that a leap day is the last one.
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.flooredQuotient(400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
