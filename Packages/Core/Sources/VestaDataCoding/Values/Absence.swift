import Foundation

/// An optional inside of an `Any`.
private protocol AnyOptional {
  var wrapped: Any? { get }
}

extension Optional: AnyOptional {
  var wrapped: Any? {
    switch self {
    case .none: nil
    case .some(let value): value
    }
  }
}

/// The value without optionals around it; `nil` for `NSNull` and for an empty optional.
func presentValue(_ value: Any) -> Any? {
  if isPlain(value) { return value }
  // Not by a cast, which on Linux makes an object of each element of an array or dictionary.
  if type(of: value) == NSNull.self { return nil }
  guard let optional = value as? any AnyOptional else { return value }
  return optional.wrapped.flatMap(presentValue)
}

/// Whether the value is of a common type that is neither null nor an optional, nor converts itself.
func isPlain(_ value: Any) -> Bool {
  let type = type(of: value)
  return type == String.self || type == Int.self || type == Double.self || type == Bool.self || type == [Any].self
    || type == [String: Any].self || type == Int64.self || isNumberObject(type)
}

/// The class of the two objects for booleans, which is not that of numbers everywhere.
private let booleanObjects: Any.Type = type(of: NSNumber(value: true))

/// Whether a type is that of objects for numbers or booleans.
func isNumberObject(_ type: Any.Type) -> Bool { type == NSNumber.self || type == booleanObjects }

/// Whether the value is a dictionary or an array of the kinds that structures are made of.
func isContainer(_ value: Any) -> Bool {
  let type = type(of: value)
  return type == [String: Any].self || type == [Any].self
}

/// A dictionary with string keys: its keys are data, which no key strategy renames.
protocol StringKeyedDictionary {
  /// The type of the values.
  static var elementType: Any.Type { get }
}

extension Dictionary: StringKeyedDictionary where Key == String {
  static var elementType: Any.Type { Value.self }
}
