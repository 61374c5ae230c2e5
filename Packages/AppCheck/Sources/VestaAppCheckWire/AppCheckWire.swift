public import VestaAppCheckBackend
public import VestaBytes

/// The bodies of the API of App Check, and back.
///
/// Names in camel case and in snake case are both read.
public enum AppCheckWire {
  /// The bounds of bodies.
  public static let limits = JSONLimits(maximumDepth: 16, maximumSize: 1 << 16)

  // MARK: Proofs and tokens

  /// The body of an exchange.
  public static func body(of proof: AppCheckProof) -> [UInt8] {
    switch proof {
    case .debug(let secret): bytes(of: Text(secret), DebugProofSchema.self)
    case .custom(let token): bytes(of: Text(token), CustomProofSchema.self)
    }
  }

  /// Reads the body of an exchange.
  ///
  /// - Throws: `BytesError` for a body without the proof.
  public static func proof(_ body: [UInt8], _ kind: AppCheckRoute.ProofKind) throws(BytesError) -> AppCheckProof {
    switch kind {
    case .debug: .debug(try message(body, DebugProofSchema.self).needed("debugToken"))
    case .custom: .custom(try message(body, CustomProofSchema.self).needed("customToken"))
    }
  }

  /// The body of an answer with a token.
  public static func body(of token: AppCheckToken) -> [UInt8] {
    let lifetime = Duration.seconds(token.lifetime.components.seconds)
    return bytes(of: TokenParts(text: Text(token.text), lifetime: lifetime), TokenSchema.self)
  }

  /// Reads an answer with a token.
  public static func token(_ body: [UInt8]) throws(BytesError) -> AppCheckToken {
    let parts = try message(body, TokenSchema.self)
    guard let lifetime = parts.lifetime, lifetime >= .zero else {
      throw BytesError(.malformed, "the ttl is no number of seconds")
    }
    return AppCheckToken(text: try parts.text.needed("token"), lifetime: lifetime)
  }

  // MARK: Verifying

  /// The body of a request to consume a token.
  public static func body(consuming token: String) -> [UInt8] { bytes(of: Text(token), ConsumedSchema.self) }

  /// Reads the body of a request to consume a token.
  public static func consumed(_ body: [UInt8]) throws(BytesError) -> String {
    try message(body, ConsumedSchema.self).needed("appCheckToken")
  }

  /// Reads the answer: whether the token was consumed before.
  public static func isAlreadyConsumed(_ body: [UInt8]) throws(BytesError) -> Bool {
    try message(body, VerifiedSchema.self)
  }

  /// The body of the answer.
  public static func body(of verified: VerifiedAppCheckToken) -> [UInt8] {
    bytes(of: verified.isAlreadyConsumed, VerifiedSchema.self)
  }

  // MARK: Secrets

  /// The body of a request for a secret.
  public static func body(ofSecret secret: String, displayName: String) -> [UInt8] {
    bytes(of: SecretParts(displayName: displayName, secret: Text(secret)), SecretSchema.self)
  }

  /// Reads the body of a request for a secret.
  public static func secret(_ body: [UInt8]) throws(BytesError) -> String {
    try message(body, SecretSchema.self).secret.needed("token")
  }

  // MARK: Parts

  private static func message<Schema: ProtobufSchema>(
    _ body: [UInt8], _ schema: Schema.Type
  ) throws(BytesError) -> Schema.Message {
    try Schema.message(json: body, limits: limits, ignoresUnknownNames: true)
  }

  /// Every one of these messages can be written.
  private static func bytes<Schema: ProtobufSchema>(of message: Schema.Message, _ schema: Schema.Type) -> [UInt8] {
    (try? Schema.json(of: message)) ?? []
  }
}
