import Foundation
import VestaDataCoding

/// Conversions between the strings of the service and values of the app, by upstream's rules.
enum ValueConversion {
  /// The decimal number at the beginning of a string, after white space: "12ab" is 12, "x" is 0.
  static func number(_ text: String) -> Double {
    let bytes = Array(text.utf8.drop { $0 == 32 || (9...13).contains($0) })
    var index = 0
    func digits() -> Int {
      let start = index
      while index < bytes.count, (48...57).contains(bytes[index]) { index += 1 }
      return index - start
    }
    if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") { index += 1 }
    var count = digits()
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      count += digits()
    }
    guard count > 0 else { return 0 }
    var end = index
    if index < bytes.count, bytes[index] == UInt8(ascii: "e") || bytes[index] == UInt8(ascii: "E") {
      index += 1
      if index < bytes.count, bytes[index] == UInt8(ascii: "-") || bytes[index] == UInt8(ascii: "+") { index += 1 }
      if digits() > 0 { end = index }
    }
    var digitsText = String(decoding: bytes[..<end], as: UTF8.self)
    if digitsText.hasSuffix(".") { digitsText.removeLast() }
    return Double(digitsText) ?? 0
  }

  /// `NSString.boolValue`: white space, a sign and zeros are skipped, then one character decides.
  static func boolean(_ text: String) -> Bool {
    var bytes = text.utf8.drop { $0 == 32 || (9...13).contains($0) }
    if let first = bytes.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { bytes = bytes.dropFirst() }
    guard let decisive = bytes.first(where: { $0 != UInt8(ascii: "0") }) else { return false }
    return "YyTt123456789".utf8.contains(decisive)
  }

  /// The bytes of a default value; `nil` for a type that cannot be one.
  static func data(ofDefault value: Any) -> Data? {
    switch value {
    case let data as Data: return data
    case let text as String: return Data(text.utf8)
    case let date as Date: return Data(string(of: date).utf8)
    case let number as NSNumber: return Data(string(of: number).utf8)
    case is [Any], is [String: Any]:
      guard JSONSerialization.isValidJSONObject(value) else { return nil }
      return try? JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
    default: return nil
    }
  }

  /// A number in decimal digits; `true` is 1.
  static func string(of number: NSNumber) -> String {
    switch Numeric(number) {
    case .boolean(let flag): flag ? "1" : "0"
    case let numeric: numeric.exact(Int64.self).map { "\($0)" } ?? number.stringValue
    }
  }

  private static func string(of date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    return formatter.string(from: date)
  }
}
