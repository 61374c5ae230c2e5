/// An RSA or P-256 key as numbers (RFC 7517, RFC 7518): the members of a JSON Web Key.
///
/// This is a codec and no key yet: hand it to a `CryptoProvider`, which checks the numbers. Descriptions and mirrors
/// show the kind and the key id, never the numbers.
public struct JSONWebKey: Sendable, Equatable {
  /// The kind of a key.
  public enum KeyType: String, Sendable {
    /// An RSA key.
    case rsa = "RSA"
    /// A key on the curve P-256.
    case p256 = "EC"
  }

  /// The name of a number in a key.
  public enum Parameter: String, Sendable, CaseIterable {
    /// RSA: the modulus and the public exponent.
    case n, e
    /// P-256: the public point.
    case x, y
    /// The private exponent or the private scalar.
    case d
    /// RSA: the primes and what is derived from them, private.
    case p, q, dp, dq, qi
  }

  /// The kind of key.
  public let keyType: KeyType

  /// The `kid`.
  public var keyID: String?

  /// The `alg`, where the key says what it is for.
  public var algorithm: SignatureAlgorithm?

  private let parameters: [Parameter: [UInt8]]

  /// A key of the given numbers.
  ///
  /// - Parameters:
  ///   - keyType: The kind of key.
  ///   - keyID: The `kid`.
  ///   - algorithm: The `alg`.
  ///   - parameters: The numbers, big-endian: for RSA `n` and `e` without leading zeros, and all of `d p q dp dq qi` or
  ///     none; for P-256 `x` and `y`, and perhaps `d`, of 32 bytes each.
  /// - Throws: `CryptoError` with `.invalidKey` when a number is missing, surplus or of a wrong length.
  public init(
    keyType: KeyType, keyID: String? = nil, algorithm: SignatureAlgorithm? = nil, parameters: [Parameter: [UInt8]]
  ) throws(CryptoError) {
    self.keyType = keyType
    self.keyID = keyID
    self.algorithm = algorithm
    self.parameters = parameters
    try validate()
  }

  /// One of the numbers, big-endian.
  ///
  /// - Parameter parameter: Which number.
  public subscript(parameter: Parameter) -> [UInt8]? { parameters[parameter] }

  /// Whether the private part is there.
  public var isPrivate: Bool { parameters[.d] != nil }

  /// The same key without its private part.
  public var publicKey: JSONWebKey {
    JSONWebKey(copying: self, parameters: parameters.filter { Self.publicNames(keyType).contains($0.key) })
  }

  /// The input of the RFC 7638 thumbprint, whose SHA-256 in base64url is a good key id.
  public var thumbprintInput: [UInt8] {
    func text(_ parameter: Parameter) -> String { Base64.url.encode(parameters[parameter] ?? []) }
    return switch keyType {
    case .rsa: Array("{\"e\":\"\(text(.e))\",\"kty\":\"RSA\",\"n\":\"\(text(.n))\"}".utf8)
    case .p256: Array("{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(text(.x))\",\"y\":\"\(text(.y))\"}".utf8)
    }
  }

  private init(copying key: JSONWebKey, parameters: [Parameter: [UInt8]]) {
    keyType = key.keyType
    keyID = key.keyID
    algorithm = key.algorithm
    self.parameters = parameters
  }

  private static func publicNames(_ keyType: KeyType) -> Set<Parameter> {
    keyType == .rsa ? [.n, .e] : [.x, .y]
  }

  private static func privateNames(_ keyType: KeyType) -> Set<Parameter> {
    keyType == .rsa ? [.d, .p, .q, .dp, .dq, .qi] : [.d]
  }

  private func validate() throws(CryptoError) {
    let names = Set(parameters.keys)
    let publicNames = Self.publicNames(keyType)
    guard names == publicNames || names == publicNames.union(Self.privateNames(keyType)) else {
      throw CryptoError(.invalidKey, "JWK: the parameters are not those of a public or private \(keyType) key")
    }
    let lengthsFit =
      switch keyType {
      case .rsa: parameters.values.allSatisfy { (1...1024).contains($0.count) && $0.first != 0 }
      case .p256: parameters.values.allSatisfy { $0.count == 32 }
      }
    guard lengthsFit else { throw CryptoError(.invalidKey, "JWK: a parameter has a wrong length or a leading zero") }
    if let algorithm, algorithm != (keyType == .rsa ? .rs256 : .es256) {
      throw CryptoError(.invalidKey, "JWK: a \(keyType) key cannot be used for \(algorithm.rawValue)")
    }
  }
}

extension JSONWebKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The kind and the key id.
  public var description: String {
    "JSONWebKey(\(keyType), kid: \(keyID ?? "none"), \(isPrivate ? "private" : "public"))"
  }
  /// The kind and the key id.
  public var debugDescription: String { description }
  /// A mirror without the numbers.
  public var customMirror: Mirror { Mirror(self, children: ["keyID": keyID ?? "none"]) }
}
