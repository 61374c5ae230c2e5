/// A signed JSON Web Token in its compact form (RFC 7519, RFC 7515): its header and its claims.
///
/// ```swift
/// let text = try JWT.sign(["iss": "me", "exp": 1_800_000_000], with: key)
/// let token = try JWTVerifier(issuers: ["me"], audiences: nil).verify(text, at: now, keys: [key.verificationKey])
/// token.claims["iss"]?.string  // "me"
/// ```
public struct JWT: Sendable, Equatable {
  /// The members of the header that matter to a reader.
  public struct Header: Sendable, Equatable {
    /// `alg`: how the token says it is signed; not to be trusted.
    public let algorithm: String
    /// `kid`: the key it says it is signed with.
    public let keyID: String?
    /// `typ`: the stated type, usually `JWT`.
    public let type: String?
  }

  /// Longer tokens than this (in bytes) are refused before they are looked at, unless the caller allows more.
  public static let defaultMaximumSize = 16 << 10

  /// The header.
  public let header: Header

  /// The claims.
  public let claims: JWTObject

  /// Reads a token WITHOUT checking who signed it or whether it is still valid.
  ///
  /// Good for a client that wants to know when its own token expires; never for a decision about access. That is what
  /// `JWTVerifier` is for.
  ///
  /// - Parameters:
  ///   - token: Three base64url parts with points between them; the signature may be empty.
  ///   - maximumSize: The longest token to look at, in bytes.
  /// - Throws: `CryptoError` with `.malformed`, `.limitExceeded` or `.unsupported` (critical header extensions).
  public init(unverified token: String, maximumSize: Int = defaultMaximumSize) throws(CryptoError) {
    self = try UnverifiedJWT(token, maximumSize: maximumSize).token
  }

  init(header: Header, claims: JWTObject) {
    self.header = header
    self.claims = claims
  }

  /// Signs claims.
  ///
  /// - Parameters:
  ///   - claims: The claims, in the order in which they are written.
  ///   - key: The key; its algorithm and key id go into the header.
  /// - Returns: The compact form.
  /// - Throws: `CryptoError` when a number is not finite, or what the key throws.
  public static func sign(_ claims: JWTObject, with key: any SigningKey) throws(CryptoError) -> String {
    let header: JWTObject = [
      "alg": .string(key.algorithm.rawValue), "kid": .string(key.keyID), "typ": "JWT",
    ]
    var input = Base64.url.encodedBytes(try json(header))
    input.append(UInt8(ascii: "."))
    input += Base64.url.encodedBytes(try json(claims))
    let signature = try key.signature(for: input)
    return String(decoding: input, as: UTF8.self) + "." + Base64.url.encode(signature)
  }

  private static func json(_ object: JWTObject) throws(CryptoError) -> [UInt8] {
    try CryptoError.decoding { () throws(BytesError) in try object.json(maximumDepth: JSONLimits().maximumDepth) }
  }
}
