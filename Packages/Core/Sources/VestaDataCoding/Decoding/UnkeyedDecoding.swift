import Foundation

/// The elements of an array, loosely typed or not.
enum DecodedElements {
  case loose([Any])
  case typed([DecodedValue])

  var count: Int {
    switch self {
    case .loose(let elements): elements.count
    case .typed(let elements): elements.count
    }
  }

  subscript(index: Int) -> DecodedValue {
    switch self {
    case .loose(let elements): .any(elements[index])
    case .typed(let elements): elements[index]
    }
  }
}

/// Decodes the elements of an array, one after the other.
///
/// An element that does not decode is not passed over.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
  let elements: DecodedElements
  let decoder: DataDecoding
  private let place: CodingPlace.Container?
  private(set) var currentIndex = 0

  init(elements: DecodedElements, decoder: DataDecoding) {
    self.elements = elements
    self.decoder = decoder
    place = decoder.place.container
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private mutating func next<T>(_ type: Any.Type, _ decode: (DataDecoding) throws -> T) throws -> T {
    let element = CodingPlace(PathKey(index: currentIndex), in: place)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: element.path, debugDescription: "The array has no element at index \(currentIndex)."))
    }
    let result = try decode(decoder.below(elements[currentIndex], at: element))
    currentIndex += 1
    return result
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, !elements[currentIndex].isNull else { return try next(NSNull.self) { _ in true } }
    return false
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.decodeBool() } }
  mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.decodeString() } }
  mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.decodeFloat(type) } }
  mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.decodeFloat(type) } }
  mutating func decode(_ type: Int.Type) throws -> Int { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) { try $0.decodeInteger(type) } }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) { try $0.decodeInteger(type) } }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try next(type) { try SingleValueDecoding(decoder: $0).decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try next(type) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next([Any].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
}
