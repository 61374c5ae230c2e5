/// Keys and values, the same for both sides.
package struct Workload {
  package static func key(_ number: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      for at in 0..<16 { buffer[at] = at < 8 ? UInt8(truncatingIfNeeded: number >> (56 - 8 * at)) : 7 }
      count = 16
    }
  }

  package static func mix(_ number: Int) -> Int {
    var bits = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int(truncatingIfNeeded: (bits ^ (bits >> 31)) >> 1)
  }

  /// A value that differs from others in every stretch of it, as SQLite skips what has not changed.
  package static func value(_ number: Int, length: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      var state = UInt64(truncatingIfNeeded: mix(number)) | 1
      let words = UnsafeMutableRawBufferPointer(buffer)
      for at in stride(from: 0, to: length, by: 8) {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        withUnsafeBytes(of: state) { word in
          words[at..<min(at + 8, length)].copyBytes(from: word.prefix(length - at))
        }
      }
      count = length
    }
  }
}
