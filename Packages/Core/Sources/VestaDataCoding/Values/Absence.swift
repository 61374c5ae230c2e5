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
  if value is NSNull { return nil }
  guard let optional = value as? any AnyOptional else { return value }
  return optional.wrapped.flatMap(presentValue)
}

/// A dictionary with string keys: its keys are data, which no key strategy renames.
protocol StringKeyedDictionary {
  /// The type of the values.
  static var elementType: Any.Type { get }
}

extension Dictionary: StringKeyedDictionary where Key == String {
  static var elementType: Any.Type { Value.self }
}
