public import VestaAuthBackend
public import VestaBytes

/// Bytes as Base64url, which browsers want; either alphabet is read.
enum Base64URLBytes: JSONKind {
  static func write(_ value: [UInt8], to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: Base64.url.encode(value))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> [UInt8] {
    try ProtobufBytes.read(json, reader)
  }
}

/// The response of `accounts/passkeyEnrollment:start`: the options that a browser makes a passkey with.
public enum PasskeyCreationOptionsWire: ProtobufConversion {
  struct Names {
    var id = ""
    var name = ""

    enum Schema: ProtobufSchema {
      static var empty: Names { Names() }

      static func visit(_ names: inout Names, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
        try visitor.field(1, "id", &names.id, ProtobufString.self)
        try visitor.field(2, "name", &names.name, ProtobufString.self)
      }
    }
  }

  struct User {
    var id: [UInt8] = []
    var name = ""
    var displayName = ""

    enum Schema: ProtobufSchema {
      static var empty: User { User() }

      static func visit(_ user: inout User, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
        try visitor.field(1, "id", &user.id, Base64URLBytes.self)
        try visitor.field(2, "name", &user.name, ProtobufString.self)
        try visitor.field(3, "displayName", &user.displayName, ProtobufString.self)
      }
    }
  }

  /// The keys that are accepted, and the passkeys that are there already.
  struct Credential {
    var algorithm: Int32?
    var id: String?

    enum Schema: ProtobufSchema {
      static var empty: Credential { Credential() }

      static func visit(_ credential: inout Credential, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
        try visitor.constant(1, "type", "public-key")
        try visitor.optional(2, "alg", &credential.algorithm, ProtobufInt32.self)
        try visitor.optional(3, "id", &credential.id, ProtobufString.self)
      }
    }
  }

  /// The authenticators that are of use: a sign-in names no account, so each has to find its passkeys by itself.
  enum SelectionWire: ProtobufSchema {
    static var empty: Empty { Empty() }

    static func visit(_ selection: inout Empty, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.constant(1, "residentKey", "required")
      var isRequired: Bool? = true
      try visitor.optional(2, "requireResidentKey", &isRequired, ProtobufBool.self)
      try visitor.constant(3, "userVerification", "preferred")
    }
  }

  /// The members of the options.
  public struct Parts {
    var party: Names?
    var user: User?
    var challenge: [UInt8] = []
    var excluded: [Credential] = []

    enum Schema: ProtobufSchema {
      static var empty: Parts { Parts() }

      static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
        try visitor.optional(1, "rp", &parts.party, ProtobufMessage<Names.Schema>.self)
        try visitor.optional(2, "user", &parts.user, ProtobufMessage<User.Schema>.self)
        try visitor.field(3, "challenge", &parts.challenge, Base64URLBytes.self)
        // ECDSA on P-256 and RSA, both with SHA-256, by their numbers in COSE.
        var algorithms = visitor.isReading ? [] : [Credential(algorithm: -7), Credential(algorithm: -257)]
        try visitor.repeated(4, "pubKeyCredParams", &algorithms, ProtobufMessage<Credential.Schema>.self)
        var timeout: Int32? = 60_000
        try visitor.optional(5, "timeout", &timeout, ProtobufInt32.self)
        try visitor.constant(6, "attestation", "none")
        var selection: Empty? = visitor.isReading ? nil : Empty()
        try visitor.optional(8, "authenticatorSelection", &selection, ProtobufMessage<SelectionWire>.self)
        try visitor.repeated(7, "excludeCredentials", &parts.excluded, ProtobufMessage<Credential.Schema>.self)
      }
    }
  }

  /// The statement of the response.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      var options: Parts? = parts
      try visitor.optional(1, "credentialCreationOptions", &options, ProtobufMessage<Parts.Schema>.self)
      parts = options ?? parts
    }
  }

  /// The members of options.
  public static func parts(of options: PasskeyCreationOptions) -> Parts {
    Parts(
      party: Names(id: options.relyingPartyID, name: options.relyingPartyName),
      user: User(id: options.userID, name: options.userName, displayName: options.displayName),
      challenge: options.challenge, excluded: options.excludedCredentialIDs.map { Credential(id: $0) })
  }

  /// The options of members.
  public static func value(of parts: Parts) throws(BytesError) -> PasskeyCreationOptions {
    guard let party = parts.party, let user = parts.user, !parts.challenge.isEmpty else {
      throw BytesError(.malformed, "the options of a passkey have no domain, no account or no challenge")
    }
    return PasskeyCreationOptions(
      relyingPartyID: party.id, relyingPartyName: party.name, userID: user.id, userName: user.name,
      displayName: user.displayName, challenge: parts.challenge,
      excludedCredentialIDs: parts.excluded.compactMap(\.id))
  }
}

/// The response of `accounts/passkeySignIn:start`: the options that a browser signs with.
public enum PasskeyRequestOptionsWire: ProtobufSchema {
  enum OptionsWire: ProtobufSchema {
    static var empty: PasskeyRequestOptions { PasskeyRequestOptions(relyingPartyID: "", challenge: []) }

    static func visit(
      _ options: inout PasskeyRequestOptions, _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.field(1, "challenge", &options.challenge, Base64URLBytes.self)
      try visitor.field(2, "rpId", &options.relyingPartyID, ProtobufString.self)
      try visitor.constant(3, "userVerification", "preferred")
    }
  }

  /// No members.
  public static var empty: PasskeyRequestOptions { OptionsWire.empty }

  /// Visits the members.
  public static func visit(
    _ options: inout PasskeyRequestOptions, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    var object: PasskeyRequestOptions? = options
    try visitor.optional(1, "credentialRequestOptions", &object, ProtobufMessage<OptionsWire>.self)
    options = object ?? options
  }
}
