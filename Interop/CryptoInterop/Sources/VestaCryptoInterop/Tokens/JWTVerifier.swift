/// Verifies a token: its signature, its issuer, its audience and its times.
///
/// A pure value: it holds the rules, the time is an argument of each call. The algorithm is the *key's*: a token whose
/// header names another one (`none`, `HS256` with the public key as its secret) is refused before any signature is
/// looked at.
public struct JWTVerifier: Sendable {
  /// The accepted issuers of the token (`iss`); `nil` for any.
  public var issuers: Set<String>?

  /// The accepted audiences (`aud`, at least one of these); `nil` for any.
  public var audiences: Set<String>?

  /// The algorithms to accept.
  public var algorithms: Set<SignatureAlgorithm>

  /// Whether a token without `exp` is refused.
  public var requiresExpiration: Bool

  /// How many seconds the issuer's clock may be off.
  public var leeway: Int64

  /// The longest token to look at, in bytes.
  public var maximumSize: Int

  /// The usual rules: both algorithms, an expiry time, no leeway.
  ///
  /// - Parameters:
  ///   - issuers: Who may have issued the token; `nil` for any issuer.
  ///   - audiences: Whom the token may be meant for; `nil` for any audience.
  ///   - algorithms: The algorithms to accept.
  ///   - requiresExpiration: Whether a token without `exp` is refused.
  ///   - leeway: How many seconds the issuer's clock may be off; negative counts as 0.
  ///   - maximumSize: The longest token to look at, in bytes.
  public init(
    issuers: Set<String>?,
    audiences: Set<String>?,
    algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases),
    requiresExpiration: Bool = true,
    leeway: Int64 = 0,
    maximumSize: Int = JWT.defaultMaximumSize
  ) {
    self.issuers = issuers
    self.audiences = audiences
    self.algorithms = algorithms
    self.requiresExpiration = requiresExpiration
    self.leeway = max(0, leeway)
    self.maximumSize = maximumSize
  }

  /// Checks a token with a key that is looked up by its header.
  ///
  /// The order is: size, form, algorithm, key, signature, then the claims; so nothing of the claims can be learned
  /// from the error without a valid signature.
  ///
  /// - Parameters:
  ///   - token: The compact form.
  ///   - now: The time, in seconds since 1970.
  ///   - findKey: Gives the key for a header, usually by its key id; `nil` when there is none.
  /// - Returns: The verified token.
  /// - Throws: `CryptoError`; its code says what was wrong.
  public func verify(
    _ token: String,
    at now: Int64,
    findKey: (JWT.Header) throws(CryptoError) -> (any VerificationKey)?
  ) throws(CryptoError) -> JWT {
    try verify(try UnverifiedJWT(token, maximumSize: maximumSize), at: now, findKey: findKey)
  }

  /// Checks a token that was read before, as `verify` does with its text.
  ///
  /// - Parameters:
  ///   - unverified: The token; its size was checked when it was read.
  ///   - now: The time, in seconds since 1970.
  ///   - findKey: Gives the key for a header, usually by its key id; `nil` when there is none.
  /// - Returns: The verified token.
  /// - Throws: `CryptoError`; its code says what was wrong.
  public func verify(
    _ unverified: UnverifiedJWT,
    at now: Int64,
    findKey: (JWT.Header) throws(CryptoError) -> (any VerificationKey)?
  ) throws(CryptoError) -> JWT {
    let token = unverified.token
    guard let algorithm = SignatureAlgorithm(rawValue: token.header.algorithm), algorithms.contains(algorithm)
    else { throw CryptoError(.algorithmNotAllowed, "JWT: the token's algorithm is not on the list") }
    guard let key = try findKey(token.header) else {
      throw CryptoError(.unknownKey, "JWT: no key is known for the token's `kid`")
    }
    guard key.algorithm == algorithm else {
      throw CryptoError(.algorithmNotAllowed, "JWT: the token's algorithm is not that of its key")
    }
    guard key.isValidSignature(unverified.signature, for: unverified.signingInput) else {
      throw CryptoError(.invalidSignature, "JWT: the signature is not valid")
    }
    try check(token.claims, at: now)
    return token
  }

  /// Checks a token with one of several keys.
  ///
  /// - Parameters:
  ///   - token: The compact form.
  ///   - now: The time, in seconds since 1970.
  ///   - keys: The keys. The token's `kid` chooses; a token without one is checked only when there is just one key.
  /// - Returns: The verified token.
  /// - Throws: `CryptoError`; its code says what was wrong.
  public func verify(_ token: String, at now: Int64, keys: [any VerificationKey]) throws(CryptoError) -> JWT {
    try verify(token, at: now) { header throws(CryptoError) in
      guard let keyID = header.keyID else { return keys.count == 1 ? keys.first : nil }
      return keys.first { $0.keyID == keyID }
    }
  }

  /// Checks the claims alone, as `verify` does after the signature.
  ///
  /// - Parameters:
  ///   - claims: The claims.
  ///   - now: The time, in seconds since 1970.
  /// - Throws: `CryptoError` with `.wrongIssuer`, `.wrongAudience`, `.expired`, `.notYetValid` or `.missingClaim`.
  public func check(_ claims: JWTObject, at now: Int64) throws(CryptoError) {
    if let issuers {
      guard let issuer = claims["iss"]?.string, issuers.contains(issuer) else {
        throw CryptoError(.wrongIssuer, "JWT: `iss` is not the issuer that was expected")
      }
    }
    if let audiences {
      guard !audiences.isDisjoint(with: try Self.audiences(of: claims)) else {
        throw CryptoError(.wrongAudience, "JWT: `aud` names somebody else")
      }
    }
    try checkTimes(claims, at: now)
  }

  private func checkTimes(_ claims: JWTObject, at now: Int64) throws(CryptoError) {
    if let expiry = try Self.time(claims, "exp") {
      guard now.saturatingSubtracting(leeway) < expiry else { throw CryptoError(.expired, "JWT: `exp` has passed") }
    } else if requiresExpiration {
      throw CryptoError(.missingClaim, "JWT: `exp` is missing")
    }
    for name in ["nbf", "iat"] {
      guard let start = try Self.time(claims, name), start > now.saturatingAdding(leeway) else { continue }
      throw CryptoError(.notYetValid, "JWT: `\(name)` lies ahead")
    }
  }

  private static func audiences(of claims: JWTObject) throws(CryptoError) -> [String] {
    switch claims["aud"] {
    case .string(let audience)?: return [audience]
    case .array(let list)?: return list.compactMap(\.string)
    default: throw CryptoError(.wrongAudience, "JWT: `aud` is missing")
    }
  }

  private static func time(_ claims: JWTObject, _ name: String) throws(CryptoError) -> Int64? {
    guard let value = claims[name] else { return nil }
    guard let time = value.integer else { throw CryptoError(.missingClaim, "JWT: `\(name)` is not a time") }
    return time
  }
}

extension Int64 {
  fileprivate func saturatingAdding(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }

  fileprivate func saturatingSubtracting(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? .min : difference
  }
}
