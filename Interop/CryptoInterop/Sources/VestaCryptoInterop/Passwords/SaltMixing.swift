/// How old schemes put a password and its salt together.
public struct SaltMixing: Sendable, Hashable {
  /// Whether the salt is before the password, and not after it.
  public var isSaltFirst: Bool
  /// Bytes between the two.
  public var separator: [UInt8]

  /// The given mixing.
  ///
  /// - Parameters:
  ///   - isSaltFirst: Whether the salt is before the password.
  ///   - separator: Bytes between the two, up to 64.
  public init(isSaltFirst: Bool = true, separator: [UInt8] = []) {
    self.isSaltFirst = isSaltFirst
    self.separator = separator
  }

  /// The message of a password and its salt.
  ///
  /// - Parameters:
  ///   - password: The bytes of the password.
  ///   - salt: The salt.
  public func message(password: [UInt8], salt: [UInt8]) -> [UInt8] {
    isSaltFirst ? salt + separator + password : password + separator + salt
  }

  func validate() throws(CryptoError) {
    try PasswordScheme.check(separator.count <= 64, "separators of up to 64 bytes")
  }
}
