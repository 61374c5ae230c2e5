// The one file of this package that knows the platform.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(ucrt)
  import ucrt
#endif

/// Compares two keys as unsigned bytes: below zero when `left` sorts first, zero when they are equal.
func compareKeys(_ left: [UInt8], _ right: [UInt8]) -> Int {
  // Unsafe pointers, because the C library compares eight and more bytes at a time; both are used inside the closures.
  left.withUnsafeBytes { leftBytes in
    right.withUnsafeBytes { rightBytes in
      if let a = leftBytes.baseAddress, let b = rightBytes.baseAddress {
        let difference = memcmp(a, b, min(leftBytes.count, rightBytes.count))
        if difference != 0 { return Int(difference) }
      }
      return leftBytes.count - rightBytes.count
    }
  }
}
