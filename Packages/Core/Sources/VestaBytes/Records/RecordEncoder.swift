/// Writes the fields of a record; see ``FieldRecord``.
public struct RecordEncoder: RecordVisitor, Sendable {
  @usableFromInline
  var writer: ByteWriter

  @usableFromInline
  var last: UInt64 = 0

  /// An encoder.
  ///
  /// - Parameter prefix: The bytes to begin with.
  public init(after prefix: [UInt8] = []) { writer = ByteWriter(after: prefix, reserving: 256) }

  /// The bytes written so far.
  public var bytes: [UInt8] { writer.bytes }

  /// Fields are written.
  public var isReading: Bool { false }

  /// Writes an integer, unless it is zero.
  public mutating func field(_ number: UInt64, _ value: inout Int64) throws {
    try visit(number)
    if value != 0 { write(number, integer: value) }
  }

  /// Writes an integer, unless it is absent.
  public mutating func field(_ number: UInt64, _ value: inout Int64?) throws {
    try visit(number)
    if let value { write(number, integer: value) }
  }

  /// Writes a string.
  public mutating func field(_ number: UInt64, _ value: inout String) throws {
    try visit(number)
    write(number, string: value)
  }

  /// Writes a string, unless it is absent.
  public mutating func field(_ number: UInt64, _ value: inout String?) throws {
    try visit(number)
    if let value { write(number, string: value) }
  }

  /// Writes bytes.
  public mutating func field(_ number: UInt64, _ value: inout [UInt8]) throws {
    try visit(number)
    write(number, bytes: value)
  }

  /// Writes bytes, unless they are absent.
  public mutating func field(_ number: UInt64, _ value: inout [UInt8]?) throws {
    try visit(number)
    if let value { write(number, bytes: value) }
  }

  /// Writes one field for each string.
  public mutating func field(_ number: UInt64, _ values: inout [String]) throws {
    try visit(number)
    for value in values { write(number, string: value) }
  }

  /// Writes a record.
  @inlinable
  public mutating func field<Record: FieldRecord>(_ number: UInt64, _ value: inout Record) throws {
    try visit(number)
    write(number, bytes: try value.fieldBytes())
  }

  /// Writes a record, unless it is absent.
  @inlinable
  public mutating func field<Record: FieldRecord>(_ number: UInt64, _ value: inout Record?) throws {
    try visit(number)
    if let value { write(number, bytes: try value.fieldBytes()) }
  }

  /// Writes one field for each record.
  @inlinable
  public mutating func field<Record: FieldRecord>(_ number: UInt64, _ values: inout [Record]) throws {
    try visit(number)
    for value in values { write(number, bytes: try value.fieldBytes()) }
  }

  @usableFromInline
  mutating func visit(_ number: UInt64) throws {
    guard number > last, number < 1 << 32 else {
      throw BytesError(.invalidValue, "field \(number) is visited after field \(last): visit fields in ascending order")
    }
    last = number
  }

  @usableFromInline
  mutating func write(_ number: UInt64, integer: Int64) {
    writer.write(varint: number << 1)
    writer.write(zigzag: integer)
  }

  @usableFromInline
  mutating func write(_ number: UInt64, string: String) {
    writer.write(varint: number << 1 | 1)
    writer.write(string: string)
  }

  @usableFromInline
  mutating func write(_ number: UInt64, bytes: [UInt8]) {
    writer.write(varint: number << 1 | 1)
    writer.write(blob: bytes)
  }
}
