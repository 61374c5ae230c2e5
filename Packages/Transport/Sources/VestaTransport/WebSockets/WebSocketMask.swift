/// The mask of what clients send, which keeps them from writing bytes of their choice to a network.
enum WebSocketMask {
  /// Masks or unmasks bytes in place, eight at a time.
  ///
  /// - Parameters:
  ///   - mask: The four bytes of the mask, the first one lowest.
  ///   - bytes: The bytes.
  ///   - start: The first one to change.
  ///   - phase: The offset of it in the frame.
  static func apply(_ mask: UInt32, to bytes: inout [UInt8], from start: Int, phase: Int) {
    let shift = UInt32(phase & 3) * 8
    let turned = shift == 0 ? mask : mask >> shift | mask << (32 - shift)
    let wide = UInt64(turned) | UInt64(turned) << 32
    bytes.withUnsafeMutableBytes { buffer in
      var index = start
      while index + 8 <= buffer.count {
        let word = buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
        buffer.storeBytes(of: (word ^ wide).littleEndian, toByteOffset: index, as: UInt64.self)
        index += 8
      }
      var rest = turned
      while index < buffer.count {
        buffer[index] ^= UInt8(truncatingIfNeeded: rest)
        rest = rest >> 8 | rest << 24
        index += 1
      }
    }
  }
}
