import CVestaChecksum

/// The CRC-32C checksum (Castagnoli, RFC 3720 appendix B.4).
///
/// Uses the instructions of the processor where it has some, and tables of eight bytes at a time elsewhere; both give
/// the same values.
///
/// ```swift
/// var checksum = CRC32C()
/// checksum.update(Array("123456789".utf8))
/// checksum.value  // 0xE306_9283
/// ```
public struct CRC32C: Sendable, Hashable {
  /// The checksum of the bytes so far.
  public private(set) var value: UInt32

  /// A checksum that continues where another stopped.
  ///
  /// - Parameter value: The checksum of the bytes before; 0 at the start.
  public init(continuing value: UInt32 = 0) { self.value = value }

  /// Adds bytes to the message.
  ///
  /// - Parameter bytes: The next bytes.
  public mutating func update(_ bytes: RawSpan) {
    guard Self.isAccelerated else { return updateByTable(bytes) }
    // Unsafe pointers, used inside the closures only: the C function takes the bytes in this form.
    value = bytes.withUnsafeBytes { buffer in
      buffer.withMemoryRebound(to: UInt8.self) { vesta_crc32c_accelerated(value, $0.baseAddress, $0.count) }
    }
  }

  private static let isAccelerated = vesta_crc32c_is_accelerated()

  /// The same as `update(_:)`, without the instructions of the processor.
  mutating func updateByTable(_ bytes: RawSpan) {
    // Unsafe pointer, used inside the closure only: words are loaded from it.
    value = bytes.withUnsafeBytes { Self.extended(value, with: $0) }
  }

  /// Adds an array of bytes to the message.
  ///
  /// - Parameter bytes: The next bytes.
  public mutating func update(_ bytes: [UInt8]) { update(bytes.span.bytes) }

  /// The checksum as Storage writes it: base64 of the four bytes, the highest first.
  ///
  /// - Parameter value: A checksum.
  /// - Returns: Eight characters, such as `4waSgw==`.
  public static func text(_ value: UInt32) -> String {
    Base64.standard.encode((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
  }

  private static func extended(_ start: UInt32, with bytes: UnsafeRawBufferPointer) -> UInt32 {
    tables.withUnsafeBufferPointer { table in
      var crc = ~start
      var offset = 0
      while bytes.count - offset >= 8 {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ UInt64(crc)
        crc = 0
        for lane in 0..<8 {
          crc ^= table[(7 - lane) * 256 + Int(truncatingIfNeeded: (word >> (8 * UInt64(lane))) & 0xFF)]
        }
        offset += 8
      }
      while offset < bytes.count {
        crc = table[Int((crc ^ UInt32(bytes[offset])) & 0xFF)] ^ (crc >> 8)
        offset += 1
      }
      return ~crc
    }
  }

  // Eight tables of 256: table k says what a byte does to the checksum when k zero bytes follow it.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var crc = UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0x82F6_3B78 : crc >> 1 }
      tables[byte] = crc
    }
    for index in 256..<tables.count {
      let previous = tables[index - 256]
      tables[index] = tables[Int(previous & 0xFF)] ^ (previous >> 8)
    }
    return tables
  }()
}
