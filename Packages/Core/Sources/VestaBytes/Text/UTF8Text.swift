/// Strings of bytes that have to be UTF-8.
@usableFromInline
enum UTF8Text {
  /// The string of bytes; `nil` when they are not valid UTF-8.
  ///
  /// The library's validating initializer costs several times what making the string does. ASCII needs no validation,
  /// and most names and texts are that.
  @inlinable
  static func string(validating bytes: UnsafeBufferPointer<UInt8>) -> String? {
    isASCII(bytes) ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
  }

  @inlinable
  static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(bytes)
    var index = 0
    while index &+ 8 <= raw.count {
      if raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      index &+= 8
    }
    var rest: UInt8 = 0
    while index < raw.count {
      rest |= raw[index]
      index &+= 1
    }
    return rest < 0x80
  }
}
