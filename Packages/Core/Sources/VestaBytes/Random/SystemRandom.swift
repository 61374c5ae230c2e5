/// Random bytes and texts of the system's generator: fit for secrets and for unique names.
public enum SystemRandom {
  /// Random bytes.
  public static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      // A call of the system gives eight bytes, whether one or all of them are used.
      withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0.prefix(count - bytes.count)) }
    }
    return bytes
  }

  /// Random letters and digits of ASCII, each with the same probability: 119 bits for twenty of them.
  public static func alphanumeric(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return String(
      decoding: (0..<count).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] }, as: UTF8.self)
  }

  /// A random identifier of an installation: 22 characters in base64url, whose first four bits are 0111.
  public static func installationID() -> String {
    var bytes = bytes(17)
    bytes[0] = bytes[0] & 0x0F | 0x70
    return String(Base64.url.encode(bytes).prefix(22))
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
}
