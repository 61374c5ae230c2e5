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
    case .debug(let secret): bytes(["debug_token": .string(secret)])
    case .custom(let token): bytes(["custom_token": .string(token)])
    }
  }

  /// Reads the body of an exchange.
  ///
  /// - Throws: `BytesError` for a body without the proof.
  public static func proof(_ body: [UInt8], _ kind: AppCheckRoute.ProofKind) throws(BytesError) -> AppCheckProof {
    switch kind {
    case .debug: .debug(try text(body, "debug_token", "debugToken"))
    case .custom: .custom(try text(body, "custom_token", "customToken"))
    }
  }

  /// The body of an answer with a token.
  public static func body(of token: AppCheckToken) -> [UInt8] {
    bytes(["token": .string(token.text), "ttl": .string("\(token.lifetime.components.seconds)s")])
  }

  /// Reads an answer with a token.
  public static func token(_ body: [UInt8]) throws(BytesError) -> AppCheckToken {
    let time = try text(body, "ttl")
    guard time.hasSuffix("s"), let seconds = Int64(time.dropLast()), (0..<1 << 40).contains(seconds) else {
      throw BytesError(.malformed, "the ttl is no number of seconds")
    }
    return AppCheckToken(text: try text(body, "token"), lifetime: .seconds(seconds))
  }

  // MARK: Verifying

  /// The body of a request to consume a token.
  public static func body(consuming token: String) -> [UInt8] { bytes(["app_check_token": .string(token)]) }

  /// Reads the body of a request to consume a token.
  public static func consumed(_ body: [UInt8]) throws(BytesError) -> String {
    try text(body, "app_check_token", "appCheckToken")
  }

  /// Reads the answer: whether the token was consumed before.
  public static func isAlreadyConsumed(_ body: [UInt8]) throws(BytesError) -> Bool {
    try JSONObject(json: body, limits: limits)["alreadyConsumed"]?.bool ?? false
  }

  /// The body of the answer.
  public static func body(of verified: VerifiedAppCheckToken) -> [UInt8] {
    bytes(verified.isAlreadyConsumed ? ["alreadyConsumed": true] : JSONObject())
  }

  // MARK: Secrets

  /// The body of a request for a secret.
  public static func body(ofSecret secret: String, displayName: String) -> [UInt8] {
    bytes(["displayName": .string(displayName), "token": .string(secret)])
  }

  /// Reads the body of a request for a secret.
  public static func secret(_ body: [UInt8]) throws(BytesError) -> String { try text(body, "token") }

  // MARK: Parts

  private static func text(_ body: [UInt8], _ names: String...) throws(BytesError) -> String {
    let object = try JSONObject(json: body, limits: limits)
    for name in names {
      if let text = object[name]?.string { return text }
    }
    throw BytesError(.malformed, "the body has no \(names[0])")
  }

  private static func bytes(_ object: JSONObject) -> [UInt8] { (try? object.json()) ?? [] }
}
