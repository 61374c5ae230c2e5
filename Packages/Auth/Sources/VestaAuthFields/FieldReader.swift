/// Reads the fields that a ``FieldWriter`` wrote, one after the other.
///
/// Nothing that stands in the bytes is trusted: what no writer writes throws ``FieldError``.
package struct FieldReader: Sendable {
  /// A field: its number, and what stands in it.
  package struct Field: Sendable {
    /// The number of the field.
    package let number: UInt64
    fileprivate let content: Content

    fileprivate enum Content: Sendable {
      case number(Int64)
      case bytes(ArraySlice<UInt8>)
    }

    /// The field as a number.
    package func int() throws(FieldError) -> Int64 {
      guard case .number(let value) = content else { throw FieldError() }
      return value
    }

    /// The field as a truth value.
    package func bool() throws(FieldError) -> Bool { try int() != 0 }

    /// The field as bytes.
    package func bytes() throws(FieldError) -> [UInt8] { Array(try slice()) }

    /// The field as a text, which must be valid UTF-8.
    package func text() throws(FieldError) -> String {
      guard let text = String(validating: try slice(), as: UTF8.self) else { throw FieldError() }
      return text
    }

    /// The fields of the record in the field.
    package func fields() throws(FieldError) -> FieldReader { FieldReader(try slice()) }

    private func slice() throws(FieldError) -> ArraySlice<UInt8> {
      guard case .bytes(let value) = content else { throw FieldError() }
      return value
    }
  }

  private var rest: ArraySlice<UInt8>

  /// A reader of bytes.
  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next field; `nil` at the end.
  package mutating func next() throws(FieldError) -> Field? {
    guard !rest.isEmpty else { return nil }
    let head = try varint()
    guard head & 1 == 1 else {
      let value = try varint()
      return Field(number: head >> 1, content: .number(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)))
    }
    let count = try varint()
    guard count <= UInt64(rest.count) else { throw FieldError() }
    defer { rest = rest.dropFirst(Int(count)) }
    return Field(number: head >> 1, content: .bytes(rest.prefix(Int(count))))
  }

  private mutating func varint() throws(FieldError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = rest.popFirst() {
      // The tenth byte holds the last bit, and there is no eleventh.
      guard shift < 63 || byte <= 1 else { throw FieldError() }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw FieldError()
  }
}

/// Bytes that no ``FieldWriter`` wrote.
package struct FieldError: Error {
  /// The error.
  package init() {}
}
