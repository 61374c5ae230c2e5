import Foundation

extension DataDecoding {
  /// Decodes a value of any type, the types with a strategy or a special representation included.
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    // A dictionary or an array is no leaf; the cast would cost more than all the rest.
    if options.passesTypesThrough, case .any(let value) = source, !isContainer(value), let value = value as? T,
      options.passthrough.isPassthroughType(value)
    {
      return value
    }
    if let special = try special(type), let value = special as? T { return value }
    guard options.renamesKeys, T.self is any StringKeyedDictionary.Type else { return try T(from: self) }
    return try T(from: asDictionary)
  }

  private func special(_ type: Any.Type) throws -> Any? {
    if type == Int.self { return try decodeInteger(Int.self) }
    if type == String.self { return try decodeString() }
    if type == Double.self { return try decodeFloat(Double.self) }
    if type == Bool.self { return try decodeBool() }
    if type == Date.self { return try decodeDate() }
    if type == Data.self { return try decodeData() }
    if type == URL.self { return try decodeURL() }
    if type == Decimal.self { return try decodeDecimal() }
    return nil
  }
}

/// Decodes the value of a single-value container.
struct SingleValueDecoding: SingleValueDecodingContainer {
  let decoder: DataDecoding
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.source.isNull }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.decodeBool() }
  func decode(_ type: String.Type) throws -> String { try decoder.decodeString() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.decodeFloat(type) }
  func decode(_ type: Float.Type) throws -> Float { try decoder.decodeFloat(type) }
  func decode(_ type: Int.Type) throws -> Int { try decoder.decodeInteger(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.decodeInteger(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.decodeInteger(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.decodeInteger(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.decodeInteger(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.decodeInteger(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.decodeInteger(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.decodeInteger(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.decodeInteger(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.decodeInteger(type) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if decodeNil(), !(type is any ExpressibleByNilLiteral.Type) { throw decoder.missing(type) }
    return try decoder.decode(type)
  }
}
