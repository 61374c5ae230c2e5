/// Writes a record as numbered fields, compactly: for what is written and read at every sign-in.
///
/// A field is a varint, the number doubled plus one where bytes follow, and then a zigzag varint or a length and that
/// many bytes. What is absent or zero is not written. A field's number means the same for ever, and a reader passes
/// over those that it does not know, so records can gain fields.
///
/// ```swift
/// var writer = FieldWriter()
/// writer.put(1, name)
/// writer.put(2, createdAt)
/// let record = try Record(FieldReader(writer.bytes))
/// ```
package struct FieldWriter: Sendable {
  /// What has been written.
  package private(set) var bytes: [UInt8]

  /// A writer.
  ///
  /// - Parameter start: What stands before the fields.
  package init(after start: [UInt8] = []) {
    bytes = start
    bytes.reserveCapacity(start.count + 512)
  }

  /// Writes a number; zero is the absence of the field.
  package mutating func put(_ field: UInt64, _ number: Int64) {
    guard number != 0 else { return }
    append(field << 1)
    append(UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  /// Writes a number that may be absent, which zero is not.
  package mutating func put(_ field: UInt64, optional number: Int64?) {
    guard let number else { return }
    append(field << 1)
    append(UInt64(bitPattern: number << 1 ^ number >> 63))
  }

  /// Writes a truth value; `false` is the absence of the field.
  package mutating func put(_ field: UInt64, _ truth: Bool) { put(field, truth ? 1 : 0) }

  /// Writes a text.
  package mutating func put(_ field: UInt64, _ text: String?) {
    guard var text else { return }
    text.withUTF8 { utf8 in
      begin(field, count: utf8.count)
      bytes.append(contentsOf: utf8)
    }
  }

  /// Writes bytes.
  package mutating func put(_ field: UInt64, _ value: [UInt8]?) {
    guard let value else { return }
    begin(field, count: value.count)
    bytes += value
  }

  /// Writes a record inside the record; a list is the same field several times.
  package mutating func put(_ field: UInt64, _ write: (inout FieldWriter) -> Void) {
    var inner = FieldWriter()
    write(&inner)
    put(field, inner.bytes)
  }

  private mutating func begin(_ field: UInt64, count: Int) {
    append(field << 1 | 1)
    append(UInt64(count))
  }

  private mutating func append(_ varint: UInt64) {
    var rest = varint
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
