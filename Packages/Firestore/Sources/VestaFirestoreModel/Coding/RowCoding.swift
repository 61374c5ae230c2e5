package import VestaFirestoreBackend

/// Writes numbers and texts of any length in a row.
package struct RowWriter: Sendable {
  /// The bytes written so far.
  package private(set) var bytes: [UInt8] = []

  /// A writer of nothing so far.
  package init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  /// Appends one byte.
  package mutating func write(byte: UInt8) { bytes.append(byte) }

  /// Seven bits in a byte, the lowest first.
  package mutating func write(count: Int) {
    var rest = UInt(bitPattern: count)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Appends eight bytes, the highest first.
  package mutating func write(fixed: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: fixed >> shift))
    }
  }

  /// Appends a signed integer in eight bytes.
  package mutating func write(int: Int64) { write(fixed: UInt64(bitPattern: int)) }

  /// Appends a string: the count of its UTF-8 bytes, then the bytes.
  package mutating func write(text: String) {
    write(count: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  /// Appends bytes behind their count.
  package mutating func write(blob: [UInt8]) {
    write(count: blob.count)
    bytes.append(contentsOf: blob)
  }
}

/// Reads what a `RowWriter` wrote; total: other bytes give `DATA_LOSS`.
package struct RowReader: Sendable {
  private let bytes: [UInt8]
  private var position: Int

  /// A reader of bytes, from a position on.
  package init(_ bytes: [UInt8], from start: Int = 0) {
    self.bytes = bytes
    position = start
  }

  /// Whether every byte has been read.
  package var isAtEnd: Bool { position >= bytes.count }

  /// Reads one byte.
  package mutating func byte() throws(FirestoreServiceError) -> UInt8 {
    guard position < bytes.count else { throw .damaged }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads what `write(count:)` wrote.
  package mutating func count() throws(FirestoreServiceError) -> Int {
    var result: UInt = 0
    var shift: UInt = 0
    while shift < 63 {
      let next = try byte()
      result |= UInt(next & 0x7F) << shift
      if next < 0x80 { return Int(bitPattern: result) }
      shift += 7
    }
    throw .damaged
  }

  /// Reads eight bytes, the highest first.
  package mutating func fixed() throws(FirestoreServiceError) -> UInt64 {
    guard bytes.count - position >= 8 else { throw .damaged }
    var result: UInt64 = 0
    for offset in 0..<8 { result = result << 8 | UInt64(bytes[position + offset]) }
    position += 8
    return result
  }

  /// Reads a signed integer of eight bytes.
  package mutating func int() throws(FirestoreServiceError) -> Int64 { Int64(bitPattern: try fixed()) }

  /// Reads a string.
  package mutating func text() throws(FirestoreServiceError) -> String {
    let count = try count()
    guard count >= 0, bytes.count - position >= count else { throw .damaged }
    defer { position += count }
    return String(decoding: bytes[position..<position + count], as: UTF8.self)
  }

  /// Reads bytes behind their count.
  package mutating func blob() throws(FirestoreServiceError) -> [UInt8] {
    let count = try count()
    guard count >= 0, bytes.count - position >= count else { throw .damaged }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }
}

extension FirestoreServiceError {
  /// A row that cannot be decoded.
  package static let damaged = FirestoreServiceError(
    .dataLoss, "A row of the store cannot be read: other code wrote it, or it is damaged.")
}
