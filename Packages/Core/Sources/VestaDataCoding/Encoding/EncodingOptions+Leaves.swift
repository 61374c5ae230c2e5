import Foundation

extension EncodingOptions {
  /// Encodes a value; `nil` when it encoded nothing.
  func encode<T: Encodable>(_ value: T, at path: [any CodingKey]) throws -> EncodedValue? {
    if isPassthrough(value) { return .leaf(value) }
    if let scalar = EncodedValue(scalar: value) { return scalar }
    switch value {
    case let value as Date: return try encode(date: value, at: path)
    case let value as Data: return try encode(data: value, at: path)
    case let value as URL: return .string(value.absoluteString)
    case let value as Decimal: return .leaf(NSDecimalNumber(decimal: value))
    default: break
    }
    var options = self
    if T.self is any StringKeyedDictionary.Type { options.keys = .useDefaultKeys }
    return try options.encode(at: path, elementsKeepKeys: T.self is any StringKeyedDictionary.Type ? keys : nil) {
      try value.encode(to: $0)
    }
  }

  /// Whether the resolver puts the value into the result as it is.
  func isPassthrough<T>(_ value: T) -> Bool {
    passthrough != NoPassthroughTypes.self && passthrough.isPassthroughType(value)
  }

  /// Runs a closure that encodes something; `nil` when it encoded nothing.
  ///
  /// - Parameter elementsKeepKeys: The key strategy below this container, when it differs from that of the container.
  func encode(
    at path: [any CodingKey], elementsKeepKeys: FirebaseDataEncoder.KeyEncodingStrategy? = nil,
    _ body: (any Encoder) throws -> Void
  ) throws -> EncodedValue? {
    let slot = EncodedSlot()
    var below = self
    if let elementsKeepKeys { below.keys = elementsKeepKeys }
    try body(DataEncoding(slot: slot, codingPath: path, options: self, below: below))
    if let failure = slot.failure { throw failure }
    return slot.content
  }

  private func encode(date: Date, at path: [any CodingKey]) throws -> EncodedValue? {
    switch dates {
    case .deferredToDate: return try number(date.timeIntervalSinceReferenceDate, at: path)
    case .secondsSince1970: return try number(date.timeIntervalSince1970, at: path)
    case .millisecondsSince1970: return try number(1000 * date.timeIntervalSince1970, at: path)
    case .iso8601: return .string(date.formatted(.iso8601))
    case .formatted(let formatter): return .string(formatter.string(from: date))
    case .custom(let closure):
      return try encode(at: path) { try closure(date, $0) } ?? .dictionary(EncodedDictionary())
    }
  }

  private func encode(data: Data, at path: [any CodingKey]) throws -> EncodedValue? {
    switch self.data {
    case .deferredToData: return try encode(at: path) { try data.encode(to: $0) }
    case .base64: return .string(data.base64EncodedString())
    case .blob: return .leaf(data)
    case .custom(let closure):
      return try encode(at: path) { try closure(data, $0) } ?? .dictionary(EncodedDictionary())
    }
  }

  /// A floating-point number, under the strategy for non-finite numbers.
  func number<F: BinaryFloatingPoint>(
    _ value: F, at path: @autoclosure () -> [any CodingKey]
  ) throws -> EncodedValue {
    if value.isFinite { return .double(Double(value)) }
    switch floats {
    case .throw:
      throw EncodingError.invalidValue(
        value, .init(codingPath: path(), debugDescription: "The number \(value) has no representation."))
    case .convertToString(let positive, let negative, let nan):
      return .string(value.isNaN ? nan : value.sign == .minus ? negative : positive)
    }
  }

  /// The name of a key in the result.
  func name(of key: any CodingKey, in path: [any CodingKey]) -> String {
    switch keys {
    case .useDefaultKeys: key.stringValue
    case .convertToSnakeCase: SnakeCase.from(camelCase: key.stringValue)
    case .custom(let closure): closure(path + [key]).stringValue
    }
  }
}
