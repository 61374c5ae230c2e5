/// Strings of bytes that have to be UTF-8.
@usableFromInline
enum UTF8Text {
  /// The string of bytes; `nil` when they are not valid UTF-8.
  ///
  /// The library's validating initializer costs several times what making the string does. ASCII needs no validation,
  /// and most names and texts are that.
  @inlinable
  static func string(validating bytes: UnsafeBufferPointer<UInt8>) -> String? {
    isASCII(bytes) ? string(ascii: bytes) : String(validating: bytes, as: UTF8.self)
  }

  /// The string of bytes that are known to be ASCII: the library does not look at them again.
  @inlinable
  static func string(ascii bytes: UnsafeBufferPointer<UInt8>) -> String {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return String(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: true))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @inlinable
  static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(bytes)
    let count = raw.count
    if count >= 8 {
      var index = 0
      while index &+ 8 <= count {
        if raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
        index &+= 8
      }
      // The last eight bytes, of which some have been looked at.
      return raw.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    }
    if count >= 4 {
      let first = raw.loadUnaligned(as: UInt32.self)
      let last = raw.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      return (first | last) & 0x8080_8080 == 0
    }
    var rest: UInt8 = 0
    for byte in raw { rest |= byte }
    return rest < 0x80
  }
}

extension String {
  /// Calls `body` with the bytes, in place where they are in one piece; not `withUTF8`, which needs a copy to change.
  ///
  /// Unsafe pointer, valid inside `body` only: bytes are copied from it at once.
  @inlinable
  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
    return Array(utf8).withUnsafeBufferPointer(body)
  }
}
