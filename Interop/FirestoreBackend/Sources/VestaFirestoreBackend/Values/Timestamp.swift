/// A timestamp: seconds since 1970 and the nanoseconds after them, in UTC without leap seconds.
///
/// The service takes timestamps from `0001-01-01T00:00:00Z` to `9999-12-31T23:59:59.999999999Z` and stores them to the
/// microsecond, rounded down.
public struct Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Seconds since the beginning of 1970; below zero before that.
  public var seconds: Int64

  /// Nanoseconds after the second, from 0 to 999,999,999, also before 1970.
  public var nanos: Int32

  /// A timestamp of seconds and nanoseconds, taken as they are.
  public init(seconds: Int64, nanos: Int32 = 0) {
    self.seconds = seconds
    self.nanos = nanos
  }

  /// A timestamp by the microseconds since the beginning of 1970.
  ///
  /// - Parameter microseconds: Below zero before 1970.
  public init(microseconds: Int64) {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let borrows = remainder < 0
    seconds = borrows ? quotient - 1 : quotient
    nanos = Int32((borrows ? remainder + 1_000_000 : remainder) * 1000)
  }

  /// The whole microseconds since the beginning of 1970; `nil` beyond what a number of 64 bits holds.
  public var microseconds: Int64? {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, overflowToo) = product.addingReportingOverflow(Int64(nanos / 1000))
    return overflow || overflowToo ? nil : sum
  }

  /// Whether the first timestamp is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanos) < (right.seconds, right.nanos)
  }

  /// Seconds and nanoseconds, such as `1700000000.000000042`.
  public var description: String {
    let digits = String(nanos)
    return "\(seconds)." + String(repeating: "0", count: max(0, 9 - digits.count)) + digits
  }
}
