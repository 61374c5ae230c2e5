#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Points in time as strings in the format of RFC 3339, with microseconds.
enum ConfigTime {
  static func text(_ micros: Int64) -> String {
    let (seconds, fraction) = micros.quotientAndRemainder(dividingBy: 1_000_000)
    let date = Date(timeIntervalSince1970: Double(fraction < 0 ? seconds - 1 : seconds))
    let digits = String(1_000_000 + (fraction < 0 ? fraction + 1_000_000 : fraction)).dropFirst()
    return date.formatted(.iso8601).dropLast() + ".\(digits)Z"
  }

  static func micros(_ text: String) -> Int64? {
    let parts = text.dropLast(text.hasSuffix("Z") ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
    guard text.hasSuffix("Z"), (1...2).contains(parts.count), let date = try? Date("\(parts[0])Z", strategy: .iso8601)
    else { return nil }
    let fraction = parts.count == 2 ? String(parts[1].prefix(6)) : "0"
    guard let digits = Int64(fraction.padding(to: 6)), digits >= 0, abs(date.timeIntervalSince1970) < 9e12 else {
      return nil
    }
    return Int64(date.timeIntervalSince1970) * 1_000_000 + digits
  }
}

extension String {
  fileprivate func padding(to length: Int) -> String { self + String(repeating: "0", count: max(0, length - count)) }
}
