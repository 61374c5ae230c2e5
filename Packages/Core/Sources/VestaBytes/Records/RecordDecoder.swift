/// Reads the fields of a record; see ``FieldRecord``.
///
/// Total: any bytes give values or a ``BytesError`` that names the field.
public struct RecordDecoder: RecordVisitor, Sendable {
  private enum Content {
    case integer(Int64)
    case bytes(ArraySlice<UInt8>)
  }

  private var reader: ByteReader
  /// The next field that has not been visited; `nil` at the end.
  private var next: (number: UInt64, content: Content)?
  private var hasBegun = false

  /// A decoder.
  ///
  /// - Parameter bytes: The bytes of one record.
  public init(_ bytes: ArraySlice<UInt8>) { reader = ByteReader(bytes) }

  /// Fields are read.
  public var isReading: Bool { true }

  /// Reads an integer; zero when the field is absent.
  public mutating func field(_ number: UInt64, _ value: inout Int64) throws {
    value = try integer(number) ?? 0
  }

  /// Reads an integer.
  public mutating func field(_ number: UInt64, _ value: inout Int64?) throws {
    value = try integer(number)
  }

  /// Reads a string; empty when the field is absent.
  public mutating func field(_ number: UInt64, _ value: inout String) throws {
    value = try string(number) ?? ""
  }

  /// Reads a string.
  public mutating func field(_ number: UInt64, _ value: inout String?) throws {
    value = try string(number)
  }

  /// Reads bytes; empty when the field is absent.
  public mutating func field(_ number: UInt64, _ value: inout [UInt8]) throws {
    value = Array(try bytes(number) ?? [])
  }

  /// Reads bytes.
  public mutating func field(_ number: UInt64, _ value: inout [UInt8]?) throws {
    value = try bytes(number).map { Array($0) }
  }

  /// Reads every string with the number.
  public mutating func field(_ number: UInt64, _ values: inout [String]) throws {
    values = []
    while let string = try string(number) { values.append(string) }
  }

  /// Reads a record; the absence of its field is the record without fields.
  @inlinable
  public mutating func field<Record: FieldRecord>(_ number: UInt64, _ value: inout Record) throws {
    value = try record(Record.self, number, try bytes(number) ?? [])
  }

  /// Reads a record.
  @inlinable
  public mutating func field<Record: FieldRecord>(_ number: UInt64, _ value: inout Record?) throws {
    value = nil
    if let bytes = try bytes(number) { value = try record(Record.self, number, bytes) }
  }

  /// Reads every record with the number.
  @inlinable
  public mutating func field<Record: FieldRecord>(_ number: UInt64, _ values: inout [Record]) throws {
    values = []
    while let bytes = try bytes(number) { values.append(try record(Record.self, number, bytes)) }
  }

  /// Reads what is left, so that damage after the last known field is found.
  @usableFromInline
  mutating func finish() throws {
    try advance(to: .max)
  }

  @usableFromInline
  func record<Record: FieldRecord>(
    _ type: Record.Type, _ number: UInt64, _ bytes: ArraySlice<UInt8>
  ) throws -> Record {
    do {
      return try Record(fieldBytes: bytes)
    } catch let error as BytesError {
      throw error.at("field \(number)")
    }
  }

  private mutating func integer(_ number: UInt64) throws -> Int64? {
    guard let content = try take(number) else { return nil }
    guard case .integer(let value) = content else { throw Self.malformed(number, "bytes instead of an integer") }
    return value
  }

  private mutating func string(_ number: UInt64) throws -> String? {
    guard let bytes = try bytes(number) else { return nil }
    guard let string = bytes.withUnsafeBufferPointer({ UTF8Text.string(validating: $0) }) else {
      throw Self.malformed(number, "the string is not valid UTF-8")
    }
    return string
  }

  @usableFromInline
  mutating func bytes(_ number: UInt64) throws -> ArraySlice<UInt8>? {
    guard let content = try take(number) else { return nil }
    guard case .bytes(let bytes) = content else { throw Self.malformed(number, "an integer instead of bytes") }
    return bytes
  }

  private mutating func take(_ number: UInt64) throws -> Content? {
    try advance(to: number)
    guard let field = next, field.number == number else { return nil }
    try read()
    return field.content
  }

  /// Skips the fields with lower numbers: they are not requested afterwards.
  private mutating func advance(to number: UInt64) throws {
    if !hasBegun { try read() }
    while let field = next, field.number < number { try read() }
  }

  private mutating func read() throws {
    let last = next?.number ?? 0
    hasBegun = true
    guard !reader.isAtEnd else { return next = nil }
    do throws(BytesError) {
      let head = try reader.varint()
      let content: Content = head & 1 == 1 ? .bytes(try reader.blob()) : .integer(try reader.zigzag())
      guard head >> 1 >= last else { throw BytesError.malformed("field \(head >> 1) comes after field \(last)") }
      next = (head >> 1, content)
    } catch {
      throw error.at("after field \(last)")
    }
  }

  private static func malformed(_ number: UInt64, _ message: String) -> BytesError {
    .malformed("field \(number): \(message)")
  }
}
