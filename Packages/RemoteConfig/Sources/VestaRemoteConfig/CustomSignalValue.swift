/// The value of a custom signal: a string or a number.
///
/// ```swift
/// try await remoteConfig.setCustomSignals(["age": 20, "city": "Lyon", "score": 1.5, "old": nil])
/// ```
public struct CustomSignalValue: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case string(String)
    case integer(Int)
    case double(Double)
  }

  let kind: Kind

  /// A string.
  public static func string(_ string: String) -> Self { Self(kind: .string(string)) }
  /// An integer.
  public static func integer(_ integer: Int) -> Self { Self(kind: .integer(integer)) }
  /// A floating-point number.
  public static func double(_ double: Double) -> Self { Self(kind: .double(double)) }

  /// The value as it is sent.
  var text: String {
    switch kind {
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    }
  }
}

extension CustomSignalValue: ExpressibleByStringInterpolation {
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
}

extension CustomSignalValue: ExpressibleByIntegerLiteral {
  /// An integer.
  public init(integerLiteral value: Int) { self = .integer(value) }
}

extension CustomSignalValue: ExpressibleByFloatLiteral {
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .double(value) }
}
