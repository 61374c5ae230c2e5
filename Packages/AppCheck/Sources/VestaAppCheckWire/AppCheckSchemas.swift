import VestaBytes

/// A string that a message needs.
struct Text {
  var text: String?

  init(_ text: String? = nil) { self.text = text }

  /// The string.
  ///
  /// - Throws: `BytesError` where the message did not have it.
  func needed(_ name: String) throws(BytesError) -> String {
    guard let text else { throw BytesError(.malformed, "the body has no \(name)") }
    return text
  }
}

/// The statement of an exchange of a secret for development.
enum DebugProofSchema: ProtobufSchema {
  static var empty: Text { Text() }

  static func visit(_ proof: inout Text, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "debugToken", &proof.text, ProtobufString.self)
  }
}

/// The statement of an exchange of a token that the owner's server has signed.
enum CustomProofSchema: ProtobufSchema {
  static var empty: Text { Text() }

  static func visit(_ proof: inout Text, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "customToken", &proof.text, ProtobufString.self)
  }
}

/// The members of an answer with a token.
struct TokenParts {
  var text = Text()
  var lifetime: Duration?
}

/// The statement of an answer with a token.
enum TokenSchema: ProtobufSchema {
  static var empty: TokenParts { TokenParts() }

  static func visit(_ token: inout TokenParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "token", &token.text.text, ProtobufString.self)
    try visitor.optional(2, "ttl", &token.lifetime, JSONDuration.self)
  }
}

/// The statement of a request to consume a token.
enum ConsumedSchema: ProtobufSchema {
  static var empty: Text { Text() }

  static func visit(_ token: inout Text, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "appCheckToken", &token.text, ProtobufString.self)
  }
}

/// The statement of the answer: whether the token was consumed before.
enum VerifiedSchema: ProtobufSchema {
  static var empty: Bool { false }

  static func visit(_ isAlreadyConsumed: inout Bool, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "alreadyConsumed", &isAlreadyConsumed, ProtobufBool.self)
  }
}

/// The members of a request for a secret.
struct SecretParts {
  var displayName = ""
  var secret = Text()
}

/// The statement of a request for a secret.
enum SecretSchema: ProtobufSchema {
  static var empty: SecretParts { SecretParts() }

  static func visit(_ request: inout SecretParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "displayName", &request.displayName, ProtobufString.self)
    try visitor.optional(2, "token", &request.secret.text, ProtobufString.self)
  }
}
