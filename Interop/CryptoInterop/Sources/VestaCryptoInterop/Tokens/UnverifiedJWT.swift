/// A token that was read and is not yet verified.
///
/// For a service that chooses the key or the time by what the token says, and does not want to read the token twice:
///
/// ```swift
/// let unverified = try UnverifiedJWT(text)
/// let key = try await keys.key(unverified.token.header.keyID)
/// let token = try verifier.verify(unverified, at: now) { _ in key }
/// ```
public struct UnverifiedJWT: Sendable {
  /// The header and the claims, which must not decide about access before `JWTVerifier` has verified them.
  public let token: JWT

  let signingInput: [UInt8]
  let signature: [UInt8]

  /// Reads a token.
  ///
  /// - Parameters:
  ///   - text: Three base64url parts with points between them; the signature may be empty.
  ///   - maximumSize: The longest token to look at, in bytes.
  /// - Throws: `CryptoError` with `.malformed`, `.limitExceeded` or `.unsupported` (critical header extensions).
  public init(_ text: String, maximumSize: Int = JWT.defaultMaximumSize) throws(CryptoError) {
    guard text.utf8.count <= maximumSize else {
      throw CryptoError(.limitExceeded, "JWT: the token is longer than \(maximumSize) bytes")
    }
    let bytes = Array(text.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw CryptoError(.malformed, "JWT: the token has not three parts") }
    let header = try Self.object(parts[0], "header")
    guard header["crit"] == nil else { throw CryptoError(.unsupported, "JWT: critical header extensions") }
    guard let algorithm = header["alg"]?.string else { throw CryptoError(.malformed, "JWT: `alg` is missing") }
    token = JWT(
      header: JWT.Header(
        algorithm: algorithm,
        keyID: try Self.text(header["kid"], "kid"),
        type: try Self.text(header["typ"], "typ")
      ),
      claims: try Self.object(parts[1], "claims")
    )
    signingInput = Array(bytes[..<parts[1].endIndex])
    signature = try CryptoError.decoding { () throws(BytesError) in try Base64.url.decode(utf8: parts[2]) }
  }

  private static func object(_ part: ArraySlice<UInt8>, _ name: String) throws(CryptoError) -> JWTObject {
    do {
      return try JSONObject(json: try Base64.url.decode(utf8: part))
    } catch {
      throw CryptoError(error.at("JWT: \(name)"))
    }
  }

  private static func text(_ value: JWTValue?, _ name: String) throws(CryptoError) -> String? {
    guard let value else { return nil }
    guard let text = value.string else { throw CryptoError(.malformed, "JWT: `\(name)` is not text") }
    return text
  }
}
