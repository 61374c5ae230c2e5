import VestaCryptoInterop

/// Claims as JSON text, as records and messages have them.
enum ClaimsText {
  /// Reads an object; `nil` when the string is anything else, or too large or too deep.
  static func read(_ json: String) -> JWTObject? { try? JWTObject(json: Array(json.utf8)) }

  /// Writes an object, its members in order.
  static func write(_ object: JWTObject) throws(CryptoError) -> String {
    do {
      return String(decoding: try object.json(), as: UTF8.self)
    } catch {
      throw CryptoError(error)
    }
  }

  /// The claims of a token, as their JSON text.
  static func payload(of token: String) throws(CryptoError) -> String {
    do {
      return String(decoding: try CompactToken.payload(of: token), as: UTF8.self)
    } catch {
      throw CryptoError(error)
    }
  }
}
