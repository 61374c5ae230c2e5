// Until the ground floor has it.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let chunk = bytes[start..<min(start + 3, bytes.count)]
      var group: UInt32 = 0
      for byte in chunk { group = group << 8 | UInt32(byte) }
      group <<= UInt32(8 * (3 - chunk.count))
      for index in 0..<4 {
        let isPadding = index > chunk.count
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(group >> UInt32(18 - 6 * index)) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
