import VestaBytes
public import VestaCryptoInterop
public import VestaTransportInterop

/// The field by which a push service knows the sender (RFC 8292).
public enum VAPIDHeader {
  /// How long a token is valid, in seconds: half of the most that push services accept.
  public static let lifetime: Int64 = 12 * 3_600

  /// The value of the field `authorization`.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint of the subscription; the token is for its origin alone.
  ///   - subject: Whom the push service may write to: a `mailto:` or `https:` URL.
  ///   - key: The key of the sender, for ES256.
  ///   - now: The time in seconds since 1970.
  /// - Throws: `CryptoError` when the token cannot be signed.
  public static func value(
    for endpoint: HTTPURL, subject: String, key: any SigningKey, now: Int64
  ) throws(CryptoError) -> String {
    let token = try JWT.sign(
      [
        "aud": .string("\(endpoint.scheme)://\(endpoint.authority)"), "exp": .integer(now + lifetime),
        "sub": .string(subject),
      ], with: key)
    return "vapid t=\(token), k=\(try publicKey(of: key))"
  }

  /// The public half of a key, as an uncompressed point in base64url.
  ///
  /// - Throws: `CryptoError` with `.invalidKey` for a key that is not on P-256.
  public static func publicKey(of key: any SigningKey) throws(CryptoError) -> String {
    let numbers = try key.verificationKey.jsonWebKey()
    guard let x = numbers[.x], let y = numbers[.y] else { throw CryptoError(.invalidKey, "the key is not on P-256") }
    return Base64.url.encode([4] + x + y)
  }
}
