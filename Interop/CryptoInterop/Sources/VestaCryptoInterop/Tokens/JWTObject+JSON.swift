extension JWTObject {
  /// Reads an object from JSON text, as strictly as the claims of a token are read.
  ///
  /// Refused are, beyond what JSON forbids, a name that occurs twice, and more than 32 levels.
  ///
  /// - Parameters:
  ///   - json: The text as UTF-8.
  ///   - maximumSize: The longest text to look at, in bytes.
  /// - Throws: `CryptoError` with `.malformed` or `.limitExceeded`.
  public init(json: [UInt8], maximumSize: Int = JWT.defaultMaximumSize) throws(CryptoError) {
    guard case .object(let object) = try JSONReader.read(json[...], maximumSize: maximumSize) else {
      throw CryptoError(.malformed, "JSON: the value is not an object")
    }
    self = object
  }

  /// The object as JSON text, members in their order, without spaces.
  ///
  /// - Returns: UTF-8.
  /// - Throws: `CryptoError` when a number is not finite, or more than 32 levels are nested.
  public func json() throws(CryptoError) -> [UInt8] { try JSONWriter.write(self) }
}
