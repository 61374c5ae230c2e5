import Foundation

/// The offsets of a time zone from UTC, and where they change.
struct ZoneOffsets: Sendable {
  /// The seconds that local time is ahead of UTC, at a time in seconds since 1970.
  let offset: @Sendable (_ time: Int64) -> Int64

  init(offset: @escaping @Sendable (_ time: Int64) -> Int64) { self.offset = offset }

  /// The offsets of a time zone.
  init(_ zone: TimeZone) {
    offset = { Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval($0)))) }
  }

  /// The first second with another offset than `start`, up to and with `end`.
  ///
  /// Two changes within a day that cancel each other are not found; there have been none.
  func firstChange(after start: Int64, through end: Int64) -> Int64? {
    let present = offset(start)
    var low = start
    while low < end {
      let high = min(low + 86_400, end)
      if offset(high) != present { return change(between: low, and: high, from: present) }
      low = high
    }
    return nil
  }

  /// The local time up to which local times have been before, when clocks were set back within the last day;
  /// `Int64.min` when they were not.
  func repeatedUntil(_ time: Int64) -> Int64 {
    let before = offset(time - 86_400)
    guard before > offset(time) else { return .min }
    return change(between: time - 86_400, and: time, from: before) + before
  }

  /// The first second with another offset, where there is one.
  private func change(between low: Int64, and high: Int64, from present: Int64) -> Int64 {
    var (low, high) = (low, high)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      if offset(middle) == present { low = middle } else { high = middle }
    }
    return high
  }
}
