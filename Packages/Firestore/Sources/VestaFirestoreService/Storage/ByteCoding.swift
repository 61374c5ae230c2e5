import VestaFirestoreBackend

/// Writes numbers and texts of any length in a row.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  init(reserving capacity: Int = 256) { bytes.reserveCapacity(capacity) }

  mutating func write(byte: UInt8) { bytes.append(byte) }

  /// Seven bits in a byte, the lowest first.
  mutating func write(count: Int) {
    var rest = UInt(bitPattern: count)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func write(fixed: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: fixed >> shift))
    }
  }

  mutating func write(int: Int64) { write(fixed: UInt64(bitPattern: int)) }

  mutating func write(text: String) {
    write(count: text.utf8.count)
    bytes.append(contentsOf: text.utf8)
  }

  mutating func write(blob: [UInt8]) {
    write(count: blob.count)
    bytes.append(contentsOf: blob)
  }
}

/// Reads what a `ByteWriter` wrote; total: other bytes give `DATA_LOSS`.
struct ByteReader {
  private let bytes: [UInt8]
  private var position: Int

  init(_ bytes: [UInt8], from start: Int = 0) {
    self.bytes = bytes
    position = start
  }

  var isAtEnd: Bool { position >= bytes.count }

  mutating func byte() throws(FirestoreError) -> UInt8 {
    guard position < bytes.count else { throw .damaged }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func count() throws(FirestoreError) -> Int {
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

  mutating func fixed() throws(FirestoreError) -> UInt64 {
    guard bytes.count - position >= 8 else { throw .damaged }
    var result: UInt64 = 0
    for offset in 0..<8 { result = result << 8 | UInt64(bytes[position + offset]) }
    position += 8
    return result
  }

  mutating func int() throws(FirestoreError) -> Int64 { Int64(bitPattern: try fixed()) }

  mutating func text() throws(FirestoreError) -> String {
    let count = try count()
    guard count >= 0, bytes.count - position >= count else { throw .damaged }
    defer { position += count }
    return String(decoding: bytes[position..<position + count], as: UTF8.self)
  }

  mutating func blob() throws(FirestoreError) -> [UInt8] {
    let count = try count()
    guard count >= 0, bytes.count - position >= count else { throw .damaged }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }
}

extension FirestoreError {
  static let damaged = FirestoreError(
    .dataLoss, "A row of the store cannot be read: other code wrote it, or it is damaged.")
}
