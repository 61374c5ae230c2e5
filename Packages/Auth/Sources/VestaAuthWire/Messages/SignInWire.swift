public import VestaAuthBackend
public import VestaBytes

/// The members that the responses of all sign-ins share.
///
/// Either tokens or the credential of a pending second factor are among them.
public struct SignInParts {
  var kind = ""
  var localID: String?
  var email: String?
  var displayName: String?
  var phoneNumber: String?
  /// Absent where the response never has it; services write `false` where it has.
  var isNewUser: Bool?
  var isRegistered = false
  var temporaryProof: String?
  var temporaryProofExpiresIn: Int64?
  var tokens = TokenParts()

  /// The user id.
  ///
  /// - Throws: `BytesError` with `.malformed` when it is missing.
  func id() throws(BytesError) -> String { try Self.required(localID, "localId") }

  static func required(_ text: String?, _ name: String) throws(BytesError) -> String {
    guard let text else { throw BytesError(.malformed, "the member \(name) is missing") }
    return text
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: SignInParts { SignInParts() }

    /// Visits the members.
    public static func visit(_ parts: inout SignInParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      if !parts.kind.isEmpty || visitor.isReading { try visitor.constant(1, "kind", parts.kind) }
      try visitor.optional(2, "localId", &parts.localID, ProtobufString.self)
      try visitor.optional(3, "email", &parts.email, ProtobufString.self)
      try visitor.optional(4, "displayName", &parts.displayName, ProtobufString.self)
      try visitor.optional(5, "phoneNumber", &parts.phoneNumber, ProtobufString.self)
      try visitor.optional(6, "isNewUser", &parts.isNewUser, ProtobufBool.self)
      try visitor.field(7, "registered", &parts.isRegistered, ProtobufBool.self)
      try visitor.optional(8, "temporaryProof", &parts.temporaryProof, ProtobufString.self)
      try visitor.optional(9, "temporaryProofExpiresIn", &parts.temporaryProofExpiresIn, ProtobufInt64.self)
      try parts.tokens.visit(&visitor)
    }
  }
}

/// The members with the tokens of a session, or with the credential of a pending second factor.
struct TokenParts {
  var idToken: String?
  var refreshToken: String?
  var expiresIn: Int64?
  var pendingCredential: String?
  var factors: [MfaEnrollment] = []

  init() {}

  init(_ tokens: AuthTokens?) {
    idToken = tokens?.idToken
    refreshToken = tokens?.refreshToken
    expiresIn = tokens?.expiresIn
  }

  init(_ outcome: SignInOutcome?) {
    self.init(outcome?.tokens)
    pendingCredential = outcome?.pending?.mfaPendingCredential
    factors = outcome?.pending?.factors ?? []
  }

  mutating func visit(_ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(20, "idToken", &idToken, ProtobufString.self)
    try visitor.optional(21, "refreshToken", &refreshToken, ProtobufString.self)
    try visitor.optional(22, "expiresIn", &expiresIn, ProtobufInt64.self)
    try visitor.optional(23, "mfaPendingCredential", &pendingCredential, ProtobufString.self)
    try visitor.repeated(24, "mfaInfo", &factors, ProtobufConverted<MfaEnrollmentWire>.self)
  }

  /// The tokens; `nil` when the response has none.
  ///
  /// Without a time they are valid for an hour.
  var tokens: AuthTokens? {
    guard let idToken, let refreshToken else { return nil }
    return AuthTokens(idToken: idToken, refreshToken: refreshToken, expiresIn: expiresIn ?? 3_600)
  }

  func required() throws(BytesError) -> AuthTokens {
    guard let tokens else { throw BytesError(.malformed, "the response has no tokens") }
    return tokens
  }

  var outcome: SignInOutcome? {
    if let tokens { return .signedIn(tokens) }
    return pendingCredential.map {
      .secondFactorRequired(PendingSecondFactor(mfaPendingCredential: $0, factors: factors))
    }
  }

  func requiredOutcome() throws(BytesError) -> SignInOutcome {
    guard let outcome else { throw BytesError(.malformed, "the response has no tokens") }
    return outcome
  }
}

/// The response of `accounts:signUp`.
public enum SignUpResponseWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of response: SignUpResponse) -> SignInParts {
    SignInParts(
      kind: "identitytoolkit#SignupNewUserResponse", localID: response.localID, email: response.email,
      displayName: response.displayName, tokens: TokenParts(response.tokens))
  }

  /// The response of members.
  public static func value(of parts: SignInParts) throws(BytesError) -> SignUpResponse {
    SignUpResponse(
      localID: try parts.id(), email: parts.email, displayName: parts.displayName,
      tokens: try parts.tokens.required())
  }
}

/// The response of `accounts:signInWithPassword`.
public enum PasswordSignInResponseWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of response: PasswordSignInResponse) -> SignInParts {
    SignInParts(
      kind: "identitytoolkit#VerifyPasswordResponse", localID: response.localID, email: response.email,
      displayName: response.displayName, isRegistered: true, tokens: TokenParts(response.outcome))
  }

  /// The response of members.
  public static func value(of parts: SignInParts) throws(BytesError) -> PasswordSignInResponse {
    PasswordSignInResponse(
      localID: try parts.id(), email: try SignInParts.required(parts.email, "email"), displayName: parts.displayName,
      outcome: try parts.tokens.requiredOutcome())
  }
}

/// The response of `accounts:signInWithCustomToken`, in which services leave the user id out: the token has it.
public enum CustomTokenSignInResponseWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of response: CustomTokenSignInResponse) -> SignInParts {
    SignInParts(
      kind: "identitytoolkit#VerifyCustomTokenResponse", localID: response.localID, isNewUser: response.isNewUser,
      tokens: TokenParts(response.tokens))
  }

  /// The response of members.
  public static func value(of parts: SignInParts) throws(BytesError) -> CustomTokenSignInResponse {
    let tokens = try parts.tokens.required()
    let id = try SignInParts.required(parts.localID ?? TokenSubject.id(ofToken: tokens.idToken), "localId")
    return CustomTokenSignInResponse(localID: id, isNewUser: parts.isNewUser ?? false, tokens: tokens)
  }
}

/// The response of `accounts:signInWithEmailLink`.
public enum EmailLinkSignInResponseWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of response: EmailLinkSignInResponse) -> SignInParts {
    SignInParts(
      kind: "identitytoolkit#EmailLinkSigninResponse", localID: response.localID, email: response.email,
      isNewUser: response.isNewUser, tokens: TokenParts(response.outcome))
  }

  /// The response of members.
  public static func value(of parts: SignInParts) throws(BytesError) -> EmailLinkSignInResponse {
    EmailLinkSignInResponse(
      localID: try parts.id(), email: try SignInParts.required(parts.email, "email"),
      isNewUser: parts.isNewUser ?? false,
      outcome: try parts.tokens.requiredOutcome())
  }
}

/// The response of `accounts:signInWithPhoneNumber`; a number of another account is a success without tokens.
public enum PhoneSignInResponseWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of response: PhoneSignInResponse) -> SignInParts {
    switch response {
    case .signedIn(let localID, let phoneNumber, let isNewUser, let tokens):
      SignInParts(localID: localID, phoneNumber: phoneNumber, isNewUser: isNewUser, tokens: TokenParts(tokens))
    case .numberInUse(let phoneNumber, let proof, let expiresIn):
      SignInParts(phoneNumber: phoneNumber, temporaryProof: proof, temporaryProofExpiresIn: expiresIn)
    }
  }

  /// The response of members.
  public static func value(of parts: SignInParts) throws(BytesError) -> PhoneSignInResponse {
    let number = try SignInParts.required(parts.phoneNumber, "phoneNumber")
    if let proof = parts.temporaryProof {
      return .numberInUse(
        phoneNumber: number, temporaryProof: proof, expiresIn: parts.temporaryProofExpiresIn ?? 3_600)
    }
    return .signedIn(
      localID: try parts.id(), phoneNumber: number, isNewUser: parts.isNewUser ?? false,
      tokens: try parts.tokens.required())
  }
}

/// The user id that an ID token names; it is read and not verified.
enum TokenSubject {
  static func id(ofToken token: String) -> String? {
    guard let claims = try? JSONObject(json: CompactToken.payload(of: token)) else { return nil }
    return claims["user_id"]?.string ?? claims["sub"]?.string
  }
}
