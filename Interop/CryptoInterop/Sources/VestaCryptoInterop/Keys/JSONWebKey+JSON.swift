extension JSONWebKey {
  /// Reads a key from its JSON text.
  ///
  /// - Parameter json: A JSON object of at most 64 KiB. Members that are not known are ignored, as RFC 7517 asks.
  /// - Throws: `CryptoError` with `.malformed` or `.invalidKey`; `.unsupported` for another kind of key, curve,
  ///   algorithm or use.
  public init(json: [UInt8]) throws(CryptoError) {
    try self.init(
      try CryptoError.decoding { () throws(BytesError) in
        try JSONObject(json: json, limits: JSONLimits(maximumSize: 1 << 16))
      })
  }

  /// The key as JSON text, with its private part where it has one.
  ///
  /// - Returns: UTF-8 bytes of one JSON object.
  public func json() -> [UInt8] {
    // Strings and objects of strings always have a JSON text.
    (try? object.json()) ?? []
  }

  init(_ object: JWTObject) throws(CryptoError) {
    guard let kind = object["kty"]?.string else { throw CryptoError(.malformed, "JWK: `kty` is missing") }
    guard let keyType = KeyType(rawValue: kind) else {
      throw CryptoError(.unsupported, "JWK: the kind of key is neither RSA nor EC")
    }
    if keyType == .p256, object["crv"]?.string != "P-256" {
      throw CryptoError(.unsupported, "JWK: the curve is not P-256")
    }
    guard object["use"] == nil || object["use"]?.string == "sig" else {
      throw CryptoError(.unsupported, "JWK: the key is not for signatures")
    }
    guard object["oth"] == nil else { throw CryptoError(.unsupported, "JWK: RSA keys of more than two primes") }
    try self.init(
      keyType: keyType,
      keyID: object["kid"]?.string,
      algorithm: try Self.algorithm(object["alg"]),
      parameters: try Self.parameters(of: keyType, in: object)
    )
  }

  var object: JWTObject {
    var object: JWTObject = ["kty": .string(keyType.rawValue)]
    if let keyID { object["kid"] = .string(keyID) }
    if let algorithm { object["alg"] = .string(algorithm.rawValue) }
    object["use"] = "sig"
    if keyType == .p256 { object["crv"] = "P-256" }
    for parameter in Parameter.allCases {
      if let bytes = self[parameter] { object[parameter.rawValue] = .string(Base64.url.encode(bytes)) }
    }
    return object
  }

  private static func algorithm(_ value: JWTValue?) throws(CryptoError) -> SignatureAlgorithm? {
    guard let value else { return nil }
    guard let name = value.string, let algorithm = SignatureAlgorithm(rawValue: name) else {
      throw CryptoError(.unsupported, "JWK: the algorithm is neither RS256 nor ES256")
    }
    return algorithm
  }

  private static func parameters(
    of keyType: KeyType, in object: JWTObject
  ) throws(CryptoError) -> [Parameter: [UInt8]] {
    let names: [Parameter] = keyType == .rsa ? [.n, .e, .d, .p, .q, .dp, .dq, .qi] : [.x, .y, .d]
    var parameters: [Parameter: [UInt8]] = [:]
    for name in names {
      guard let value = object[name.rawValue] else { continue }
      guard let text = value.string else { throw CryptoError(.malformed, "JWK: `\(name)` is not text") }
      parameters[name] = try CryptoError.decoding { () throws(BytesError) in try Base64.url.decode(text) }
    }
    return parameters
  }
}

/// A JSON Web Key Set (RFC 7517 section 5): the keys that an issuer publishes.
public struct JSONWebKeySet: Sendable, Equatable {
  /// The keys, in order.
  public var keys: [JSONWebKey]

  /// A set of the given keys.
  ///
  /// - Parameter keys: The keys, in order.
  public init(keys: [JSONWebKey]) { self.keys = keys }

  /// Reads a set from its JSON text.
  ///
  /// - Parameter json: A JSON object of at most 1 MiB. Keys of a kind, curve, algorithm or use that is not supported
  ///   are left out, as RFC 7517 asks.
  /// - Throws: `CryptoError` with `.malformed` or `.invalidKey`.
  public init(json: [UInt8]) throws(CryptoError) {
    let object = try CryptoError.decoding { () throws(BytesError) in
      try JSONObject(json: json, limits: JSONLimits(maximumSize: 1 << 20))
    }
    guard let list = object["keys"]?.array else { throw CryptoError(.malformed, "JWKS: there is no list `keys`") }
    keys = []
    for element in list {
      guard let member = element.object else { throw CryptoError(.malformed, "JWKS: a key is not an object") }
      do {
        keys.append(try JSONWebKey(member))
      } catch  where error.code == .unsupported {
        continue
      }
    }
  }

  /// The public parts of the keys as JSON text, fit to be published.
  ///
  /// - Returns: UTF-8 bytes of one JSON object.
  public func publicJSON() -> [UInt8] {
    let set: JWTObject = ["keys": .array(keys.map { .object($0.publicKey.object) })]
    return (try? set.json()) ?? []
  }
}
