/// One event, as it was logged.
public struct AnalyticsEvent: Sendable, Hashable {
  /// The product that logged it.
  public let origin: String

  /// The name of the event.
  public let name: String

  /// The parameters of the event.
  public let parameters: [String: AnalyticsValue]

  /// An event.
  ///
  /// - Parameters:
  ///   - origin: The product that logged it.
  ///   - name: The name of the event.
  ///   - parameters: The parameters of the event.
  public init(origin: String, name: String, parameters: [String: AnalyticsValue] = [:]) {
    self.origin = origin
    self.name = name
    self.parameters = parameters
  }
}

/// A value of an event's parameter or a user property; literals will do.
///
/// ```swift
/// let parameters: [String: AnalyticsValue] = ["title": "Hello", "count": 3, "price": 9.5, "tags": ["a", "b"]]
/// ```
public enum AnalyticsValue: Sendable, Hashable {
  /// A string.
  case string(String)

  /// A whole number.
  case integer(Int64)

  /// A number.
  case double(Double)

  /// A truth value.
  case boolean(Bool)

  /// Values in order, such as the items of a purchase.
  case array([AnalyticsValue])

  /// Values by name, such as one item of a purchase.
  case dictionary([String: AnalyticsValue])
}

extension AnalyticsValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }

  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// A number.
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension AnalyticsValue: ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }

  /// Values in order.
  public init(arrayLiteral elements: AnalyticsValue...) { self = .array(elements) }

  /// Values by name; the last one counts where a name is given twice.
  public init(dictionaryLiteral elements: (String, AnalyticsValue)...) {
    self = .dictionary(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}
