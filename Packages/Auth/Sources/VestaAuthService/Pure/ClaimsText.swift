import CryptoInterop

/// Claims as JSON text, read and written by the token codec, which knows all limits already.
///
/// A token is a header, claims and a signature; so claims are read as the middle part of a token that is never
/// believed, and written by signing with a key that signs nothing.
enum ClaimsText {
  /// Reads an object; `nil` when the text is anything else, or too large or too deep.
  static func read(_ json: String) -> JWTObject? {
    let header = Base64.url.encode(Array(#"{"alg":"none"}"#.utf8))
    return try? JWT(unverified: "\(header).\(Base64.url.encode(Array(json.utf8))).").claims
  }

  /// Writes an object, its members in order.
  static func write(_ object: JWTObject) throws(CryptoError) -> String {
    try payload(of: try JWT.sign(object, with: BlankKey()))
  }

  /// The claims of a token, as their JSON text.
  static func payload(of token: String) throws(CryptoError) -> String {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw CryptoError(.malformed, "the token has not three parts") }
    return String(decoding: try Base64.url.decode(parts[1]), as: UTF8.self)
  }
}

/// A key whose signatures are empty; nothing verifies them.
private struct BlankKey: SigningKey, VerificationKey {
  let algorithm = SignatureAlgorithm.rs256
  let keyID = ""
  var verificationKey: any VerificationKey { self }
  var description: String { "BlankKey" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [:]) }

  func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] { [] }
  func isValidSignature(_ signature: [UInt8], for message: [UInt8]) -> Bool { false }
  func privatePEM() throws(CryptoError) -> String { throw Self.noKey }
  func privateJSONWebKey() throws(CryptoError) -> JSONWebKey { throw Self.noKey }
  func pem() throws(CryptoError) -> String { throw Self.noKey }
  func jsonWebKey() throws(CryptoError) -> JSONWebKey { throw Self.noKey }

  private static var noKey: CryptoError { CryptoError(.unsupported, "there is no key") }
}
