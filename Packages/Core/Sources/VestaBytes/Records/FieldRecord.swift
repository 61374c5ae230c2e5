/// A record that is kept as numbered fields, with one schema for writing and reading.
///
/// ```swift
/// struct Account: FieldRecord {
///   var uid = ""
///   var email: String?
///   var createdAt: Int64 = 0
///   var devices: [Device] = []   // Device is a FieldRecord too
///
///   mutating func visit(_ visitor: inout some RecordVisitor) throws {
///     try visitor.field(1, &uid)
///     try visitor.field(2, &email)
///     try visitor.field(3, &createdAt)
///     try visitor.field(5, &devices)   // field 4 is of an older version: its number is not used again
///   }
/// }
///
/// let bytes = try account.fieldBytes()
/// let copy = try Account(fieldBytes: bytes)
/// ```
///
/// The format: a field is a varint, twice its number plus one where bytes follow, and then a zigzag varint, or a count
/// and that many bytes. A value that is absent, zero, false or an empty array is not written; an optional number is
/// written also when it is zero. A reader skips the fields that it does not know, so records can gain and lose fields;
/// the number of a field means the same for ever. Fields are visited in ascending order of their numbers.
public protocol FieldRecord: Sendable {
  /// A record to read into; every visited field is set then.
  init()

  /// Visits every field, in ascending order of the numbers: the one place that knows the schema.
  ///
  /// - Parameter visitor: Writes the fields, or reads them.
  /// - Throws: The error of the visitor, or why the values that were read cannot be.
  mutating func visit(_ visitor: inout some RecordVisitor) throws
}

extension FieldRecord {
  /// The record as bytes.
  ///
  /// - Parameter prefix: The bytes to begin with, such as the number of a version.
  @inlinable
  public func fieldBytes(after prefix: [UInt8] = []) throws -> [UInt8] {
    var encoder = RecordEncoder(after: prefix)
    var copy = self
    try copy.visit(&encoder)
    return encoder.bytes
  }

  /// Reads a record.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that `fieldBytes(after:)` returned.
  ///   - start: The number of bytes to skip, such as the prefix.
  /// - Throws: ``BytesError`` with `.malformed` and the number of the field, for bytes that no record has.
  @inlinable
  public init(fieldBytes bytes: [UInt8], from start: Int = 0) throws {
    try self.init(fieldBytes: bytes.dropFirst(start))
  }

  /// Reads a record.
  ///
  /// - Parameter bytes: The bytes that `fieldBytes(after:)` returned.
  /// - Throws: ``BytesError`` with `.malformed` and the number of the field, for bytes that no record has.
  @inlinable
  public init(fieldBytes bytes: ArraySlice<UInt8>) throws {
    self.init()
    var decoder = RecordDecoder(bytes)
    try visit(&decoder)
    try decoder.finish()
  }
}

/// Writes the fields of a record, or reads them; ``FieldRecord`` has the rules.
public protocol RecordVisitor {
  /// Whether fields are read: the values that are passed in are replaced.
  var isReading: Bool { get }

  /// Visits an integer; zero is the absence of the field.
  mutating func field(_ number: UInt64, _ value: inout Int64) throws
  /// Visits an integer that may be absent.
  mutating func field(_ number: UInt64, _ value: inout Int64?) throws
  /// Visits a string.
  mutating func field(_ number: UInt64, _ value: inout String) throws
  /// Visits a string that may be absent.
  mutating func field(_ number: UInt64, _ value: inout String?) throws
  /// Visits bytes.
  mutating func field(_ number: UInt64, _ value: inout [UInt8]) throws
  /// Visits bytes that may be absent.
  mutating func field(_ number: UInt64, _ value: inout [UInt8]?) throws
  /// Visits strings.
  mutating func field(_ number: UInt64, _ values: inout [String]) throws
  /// Visits a record.
  mutating func field<Record: FieldRecord>(_ number: UInt64, _ value: inout Record) throws
  /// Visits a record that may be absent.
  mutating func field<Record: FieldRecord>(_ number: UInt64, _ value: inout Record?) throws
  /// Visits records.
  mutating func field<Record: FieldRecord>(_ number: UInt64, _ values: inout [Record]) throws
}

extension RecordVisitor {
  /// Visits a boolean; `false` is the absence of the field.
  @inlinable
  public mutating func field(_ number: UInt64, _ value: inout Bool) throws {
    var integer: Int64 = value ? 1 : 0
    try field(number, &integer)
    value = integer != 0
  }

  /// Visits a boolean that may be absent.
  @inlinable
  public mutating func field(_ number: UInt64, _ value: inout Bool?) throws {
    var integer: Int64? = value.map { $0 ? 1 : 0 }
    try field(number, &integer)
    value = integer.map { $0 != 0 }
  }

  /// Visits an integer; zero is the absence of the field.
  @inlinable
  public mutating func field(_ number: UInt64, _ value: inout Int) throws {
    var integer = Int64(value)
    try field(number, &integer)
    guard let read = Int(exactly: integer) else {
      throw BytesError(.malformed, "field \(number): the integer is out of range")
    }
    value = read
  }

  /// Visits a double; zero is the absence of the field.
  @inlinable
  public mutating func field(_ number: UInt64, _ value: inout Double) throws {
    var bits = Int64(bitPattern: value.bitPattern)
    try field(number, &bits)
    value = Double(bitPattern: UInt64(bitPattern: bits))
  }

  /// Visits a double that may be absent.
  @inlinable
  public mutating func field(_ number: UInt64, _ value: inout Double?) throws {
    var bits = value.map { Int64(bitPattern: $0.bitPattern) }
    try field(number, &bits)
    value = bits.map { Double(bitPattern: UInt64(bitPattern: $0)) }
  }

  /// Visits a value that is kept as a string, such as a case of an enumeration.
  ///
  /// - Throws: ``BytesError`` with `.malformed` when the string that was read is no valid value.
  @inlinable
  public mutating func field<Value: RawRepresentable>(
    _ number: UInt64, _ value: inout Value
  ) throws where Value.RawValue == String {
    var raw = value.rawValue
    try field(number, &raw)
    guard isReading else { return }
    guard let read = Value(rawValue: raw) else {
      throw BytesError(.malformed, "field \(number): the string stands for no \(Value.self)")
    }
    value = read
  }

  /// Visits a value that may be absent and is kept as a string.
  ///
  /// - Throws: ``BytesError`` with `.malformed` when the string that was read is no valid value.
  @inlinable
  public mutating func field<Value: RawRepresentable>(
    _ number: UInt64, _ value: inout Value?
  ) throws where Value.RawValue == String {
    var raw = value?.rawValue
    try field(number, &raw)
    guard isReading else { return }
    value = try raw.map { raw in
      guard let read = Value(rawValue: raw) else {
        throw BytesError(.malformed, "field \(number): the string stands for no \(Value.self)")
      }
      return read
    }
  }

  /// Visits a value that is kept as an integer, such as a case of an enumeration.
  ///
  /// - Throws: ``BytesError`` with `.malformed` when the integer that was read is no valid value.
  @inlinable
  public mutating func field<Value: RawRepresentable>(
    _ number: UInt64, _ value: inout Value
  ) throws where Value.RawValue: FixedWidthInteger {
    var raw = Int64(truncatingIfNeeded: value.rawValue)
    try field(number, &raw)
    guard isReading else { return }
    guard let exact = Value.RawValue(exactly: raw), let read = Value(rawValue: exact) else {
      throw BytesError(.malformed, "field \(number): \(raw) stands for no \(Value.self)")
    }
    value = read
  }
}
