import Foundation

/// A value of Foundation's JSON, with errors that say what was expected.
struct JSON {
  /// The fault in the data.
  struct Mismatch: Error, CustomStringConvertible {
    let description: String
  }

  private let value: Any?

  /// Reads a JSON text.
  init(parsing data: Data) throws { value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) }

  private init(_ value: Any?) { self.value = value }

  /// Whether there is anything; null counts.
  var isPresent: Bool { value != nil }

  /// The value under a name; nothing where there is none.
  subscript(name: String) -> JSON { JSON((value as? [String: Any])?[name]) }

  /// The names and values of an object; an absent one is empty.
  func object() throws -> [String: JSON] {
    if value == nil { return [:] }
    guard let object = value as? [String: Any] else { throw Mismatch(description: "expected an object") }
    return object.mapValues { JSON($0) }
  }

  /// The elements of an array; an absent one is empty.
  func array() throws -> [JSON] {
    if value == nil { return [] }
    guard let array = value as? [Any] else { throw Mismatch(description: "expected an array") }
    return array.map { JSON($0) }
  }

  /// A text.
  func string() throws -> String {
    guard let text = value as? String else { throw Mismatch(description: "expected a text") }
    return text
  }

  /// A text; empty when it is absent.
  func optionalString() throws -> String { isPresent ? try string() : "" }

  /// A truth value; false when it is absent.
  func bool() throws -> Bool {
    if value == nil { return false }
    guard let bool = value as? Bool else { throw Mismatch(description: "expected a truth value") }
    return bool
  }

  /// An integer, as a number or a text; zero when it is absent.
  func integer() throws -> Int64 {
    if value == nil { return 0 }
    if let text = value as? String, let number = Int64(text) { return number }
    guard let number = value as? NSNumber else { throw Mismatch(description: "expected an integer") }
    return number.int64Value
  }

  /// A double, as a number or a text such as `NaN`; zero when it is absent.
  func double() throws -> Double {
    if value == nil { return 0 }
    if let text = value as? String {
      guard let number = Double(text == "Infinity" ? "inf" : text == "-Infinity" ? "-inf" : text) else {
        throw Mismatch(description: "expected a number, not \(text)")
      }
      return number
    }
    guard let number = value as? NSNumber else { throw Mismatch(description: "expected a number") }
    return number.doubleValue
  }
}
