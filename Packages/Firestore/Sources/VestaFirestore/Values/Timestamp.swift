public import Foundation
internal import VestaFirestoreBackend

/// A point in time, independent of time zone and calendar: seconds since 1970 and the nanoseconds after them, in UTC.
///
/// Firestore stores timestamps from `0001-01-01T00:00:00Z` to `9999-12-31T23:59:59.999999999Z`, to the microsecond.
///
/// ```swift
/// try await room.setData(["opened": Timestamp(date: Date())])
/// ```
public final class Timestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number of seconds since the beginning of 1970; below zero before that.
  public let seconds: Int64

  /// The nanoseconds after ``seconds``, from 0 to 999,999,999, also before 1970.
  public let nanoseconds: Int32

  /// Creates a timestamp.
  ///
  /// - Parameters:
  ///   - seconds: Seconds since 1970, from -62,135,596,800 to 253,402,300,799.
  ///   - nanoseconds: From 0 to 999,999,999. Values outside of the ranges stop the program, as in the Firebase SDK.
  public init(seconds: Int64, nanoseconds: Int32) {
    precondition(nanoseconds >= 0, "Timestamp nanoseconds out of range: \(nanoseconds)")
    precondition(nanoseconds < 1_000_000_000, "Timestamp nanoseconds out of range: \(nanoseconds)")
    precondition(Timestamp.range.contains(seconds), "Timestamp seconds out of range: \(seconds)")
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Creates a timestamp from a date; dates beyond the years 1 to 9999 become the first or the last timestamp.
  public convenience init(date: Date) { self.init(clamping: WireTimestamp(date: date)) }

  /// Creates a timestamp with the current time.
  public convenience init() { self.init(date: Date()) }

  /// Creates a timestamp with the current time.
  public static func now() -> Timestamp { Timestamp() }

  /// The same point in time as a `Date`, which keeps less than a microsecond of precision.
  public func dateValue() -> Date {
    Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(nanoseconds) / 1e9)
  }

  /// Compares two timestamps: `.orderedAscending` if this one is earlier than the other.
  public func compare(_ other: Timestamp) -> ComparisonResult {
    self == other ? .orderedSame : self < other ? .orderedAscending : .orderedDescending
  }

  /// Whether the first timestamp is earlier than the second.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  /// Whether two timestamps are the same point in time.
  public static func == (left: Timestamp, right: Timestamp) -> Bool {
    left.seconds == right.seconds && left.nanoseconds == right.nanoseconds
  }

  /// Hashes seconds and nanoseconds.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(seconds)
    hasher.combine(nanoseconds)
  }

  /// The timestamp for a log: `FIRTimestamp: seconds=1700000000 nanoseconds=42>`, as the Firebase SDK writes it.
  public var description: String { "FIRTimestamp: seconds=\(seconds) nanoseconds=\(nanoseconds)>" }

  private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  /// A timestamp of the backend, moved into the range of this class.
  init(clamping wire: WireTimestamp) {
    let isInside = Timestamp.range.contains(wire.seconds) && (0..<1_000_000_000).contains(wire.nanos)
    let isEarly = wire.seconds < Timestamp.range.lowerBound
    seconds = isInside ? wire.seconds : isEarly ? Timestamp.range.lowerBound : Timestamp.range.upperBound
    nanoseconds = isInside ? wire.nanos : isEarly ? 0 : 999_999_999
  }

  /// The timestamp as the backend stores it, rounded down to the microsecond.
  var wire: WireTimestamp { WireTimestamp(seconds: seconds, nanos: nanoseconds / 1000 * 1000) }
}

extension WireTimestamp {
  /// A date, rounded down to the nanosecond; a date beyond a 64-bit number becomes its first or last value.
  init(date: Date) {
    let interval = date.timeIntervalSince1970
    let whole = interval.rounded(.down)
    guard let seconds = Int64(exactly: whole) else {
      self.init(seconds: interval < 0 ? .min : .max)
      return
    }
    self.init(seconds: seconds, nanos: min(Int32((interval - whole) * 1e9), 999_999_999))
  }
}

/// Codes a timestamp as a map of `seconds` and `nanoseconds`; ``Firestore/Encoder`` keeps it as a timestamp.
extension Timestamp: Codable {
  private enum CodingKeys: String, CodingKey { case seconds, nanoseconds }

  /// Reads `seconds` and `nanoseconds`.
  ///
  /// - Throws: `DecodingError.dataCorrupted` for numbers out of range.
  public convenience init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let seconds = try container.decode(Int64.self, forKey: .seconds)
    let nanoseconds = try container.decode(Int32.self, forKey: .nanoseconds)
    guard Timestamp.range.contains(seconds), (0..<1_000_000_000).contains(nanoseconds) else {
      let context = DecodingError.Context(
        codingPath: decoder.codingPath, debugDescription: "The timestamp \(seconds).\(nanoseconds) is out of range.")
      throw DecodingError.dataCorrupted(context)
    }
    self.init(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// Writes `seconds` and `nanoseconds`.
  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(seconds, forKey: .seconds)
    try container.encode(nanoseconds, forKey: .nanoseconds)
  }
}
