import Foundation

extension DataDecoding {
  func decodeBool() throws -> Bool {
    if case .boolean(let result)? = source.number { return result }
    guard let value = presentValue(value) else { throw missing(Bool.self) }
    if let configured = value as? any FirebaseRemoteConfigValueDecoding { return configured.boolValue() }
    guard case .boolean(let result)? = Numeric(value) else { throw mismatch(Bool.self, found: value) }
    return result
  }

  func decodeString() throws -> String {
    if let result = source.string { return result }
    guard let value = presentValue(value) else { throw missing(String.self) }
    if let configured = value as? any FirebaseRemoteConfigValueDecoding { return configured.stringValue() }
    guard let result = value as? String else { throw mismatch(String.self, found: value) }
    return result
  }

  func decodeInteger<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
    let number = try numeric(type)
    guard let result = number.exact(I.self) else {
      throw corrupted("The number \(number.text) does not fit in \(type).")
    }
    return result
  }

  func decodeFloat<F: BinaryFloatingPoint>(_ type: F.Type) throws -> F {
    if let special: F = nonConformingFloat() { return special }
    let number = try numeric(type)
    guard let double = number.doubleValue else { throw mismatch(type, found: true) }
    let result = F(double)
    guard result.isFinite || !double.isFinite else { throw corrupted("The number \(double) does not fit in \(type).") }
    return result
  }

  private func numeric(_ type: Any.Type) throws -> Numeric {
    if let number = source.number {
      if case .boolean = number { throw mismatch(type, found: true) }
      return number
    }
    guard let value = presentValue(value) else { throw missing(type) }
    let configured = (value as? any FirebaseRemoteConfigValueDecoding)?.numberValue()
    guard let number = Numeric(configured ?? value) else { throw mismatch(type, found: value) }
    if case .boolean = number { throw mismatch(type, found: true) }
    return number
  }

  private func nonConformingFloat<F: BinaryFloatingPoint>() -> F? {
    guard case .convertFromString(let positive, let negative, let nan) = options.floats, let text = value as? String
    else { return nil }
    return text == positive ? F.infinity : text == negative ? -F.infinity : text == nan ? F.nan : nil
  }

  func decodeDate() throws -> Date {
    switch options.dates {
    case .deferredToDate: return Date(timeIntervalSinceReferenceDate: try decodeFloat(Double.self))
    case .secondsSince1970: return Date(timeIntervalSince1970: try decodeFloat(Double.self))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try decodeFloat(Double.self) / 1000)
    case .iso8601: return try parsed("Expected a date in the format of ISO 8601.") { try? Date($0, strategy: .iso8601) }
    case .formatted(let formatter):
      return try parsed("The string does not match the format of the date formatter.") { formatter.date(from: $0) }
    case .custom(let closure): return try closure(self)
    }
  }

  func decodeData() throws -> Data {
    let value = value
    if let configured = value as? any FirebaseRemoteConfigValueDecoding { return configured.dataValue() }
    switch options.data {
    case .deferredToData: return try Data(from: self)
    case .base64: return try parsed("The string is not valid Base64.") { Data(base64Encoded: $0) }
    case .blob:
      guard let value = presentValue(value) else { throw missing(Data.self) }
      guard let data = value as? Data else { throw mismatch(Data.self, found: value) }
      return data
    case .custom(let closure): return try closure(self)
    }
  }

  func decodeURL() throws -> URL { try parsed("The string is not a URL.") { URL(string: $0) } }

  func decodeDecimal() throws -> Decimal {
    let value = value
    guard let value = presentValue(value) else { throw missing(Decimal.self) }
    if let decimal = value as? Decimal { return decimal }
    switch try numeric(Decimal.self) {
    case .integer(let value): return Decimal(value)
    case .unsigned(let value): return Decimal(value)
    case .double(let value):
      // The shortest decimal notation of the number, not the digits of its binary fraction.
      guard let decimal = Decimal(string: "\(value)") else { throw corrupted("\(value) is not a decimal number.") }
      return decimal
    case .boolean: throw mismatch(Decimal.self, found: value)
    }
  }

  private func parsed<T>(_ complaint: String, _ parse: (String) -> T?) throws -> T {
    guard let result = parse(try decodeString()) else { throw corrupted(complaint) }
    return result
  }
}

extension Numeric {
  /// The number as an error message shows it.
  var text: String {
    switch self {
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .double(let value): "\(value)"
    }
  }
}
