public import VestaAuthBackend
public import VestaBytes

/// The request of `accounts:signUp`.
public enum SignUpRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: SignUpRequest { SignUpRequest() }

  /// Visits the members.
  public static func visit(_ request: inout SignUpRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "email", &request.email, ProtobufString.self)
    try visitor.optional(2, "password", &request.password, ProtobufString.self)
    try visitor.optional(3, "displayName", &request.displayName, ProtobufString.self)
    try visitor.optional(4, "photoUrl", &request.photoURL, ProtobufString.self)
    try visitor.optional(5, "idToken", &request.idToken, ProtobufString.self)
    try visitor.optional(6, "captchaResponse", &request.captchaResponse, ProtobufString.self)
    try visitor.flag(7, "returnSecureToken")
  }
}

/// The request of `accounts:signInWithPassword`.
public enum PasswordSignInRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: PasswordSignInRequest { PasswordSignInRequest(email: "", password: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout PasswordSignInRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "email", &request.email, ProtobufString.self)
    try visitor.field(2, "password", &request.password, ProtobufString.self)
    try visitor.optional(3, "captchaResponse", &request.captchaResponse, ProtobufString.self)
    try visitor.flag(4, "returnSecureToken")
  }
}

/// The request of `accounts:signInWithCustomToken`.
public enum CustomTokenSignInRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: CustomTokenSignInRequest { CustomTokenSignInRequest(token: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout CustomTokenSignInRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "token", &request.token, ProtobufString.self)
    try visitor.flag(2, "returnSecureToken")
  }
}

/// The request of `accounts:signInWithEmailLink`.
public enum EmailLinkSignInRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: EmailLinkSignInRequest { EmailLinkSignInRequest(email: "", oobCode: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout EmailLinkSignInRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "email", &request.email, ProtobufString.self)
    try visitor.field(2, "oobCode", &request.oobCode, ProtobufString.self)
    try visitor.optional(3, "idToken", &request.idToken, ProtobufString.self)
    try visitor.flag(4, "returnSecureToken")
  }
}

/// The request of `accounts:sendVerificationCode`.
public enum SendVerificationCodeRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: SendVerificationCodeRequest { SendVerificationCodeRequest(phoneNumber: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout SendVerificationCodeRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "phoneNumber", &request.phoneNumber, ProtobufString.self)
    try AppVerificationWire.visit(&request.appVerification, &visitor)
  }
}

/// The proofs of an app that accompany a phone number, among the members of the request.
enum AppVerificationWire {
  static func visit(
    _ verification: inout AppVerification?, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    var parts = verification ?? AppVerification()
    try visitor.optional(11, "recaptchaToken", &parts.recaptchaToken, ProtobufString.self)
    try visitor.optional(12, "iosReceipt", &parts.appToken, ProtobufString.self)
    try visitor.optional(13, "iosSecret", &parts.appSecret, ProtobufString.self)
    guard visitor.isReading, parts != AppVerification() else { return }
    verification = parts
  }
}

/// The response of `accounts:sendVerificationCode`.
public enum SendVerificationCodeResponseWire: ProtobufSchema {
  /// No members.
  public static var empty: SendVerificationCodeResponse { SendVerificationCodeResponse(sessionInfo: "") }

  /// Visits the members.
  public static func visit(
    _ response: inout SendVerificationCodeResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "sessionInfo", &response.sessionInfo, ProtobufString.self)
  }
}

/// The request of `accounts:signInWithPhoneNumber`: with a code, or with the proof of an earlier call.
public enum PhoneSignInRequestWire: ProtobufConversion {
  /// The members of a request.
  public struct Parts {
    var sessionInfo: String?
    var code: String?
    var phoneNumber: String?
    var temporaryProof: String?
    var idToken: String?
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "sessionInfo", &parts.sessionInfo, ProtobufString.self)
      try visitor.optional(2, "code", &parts.code, ProtobufString.self)
      try visitor.optional(3, "phoneNumber", &parts.phoneNumber, ProtobufString.self)
      try visitor.optional(4, "temporaryProof", &parts.temporaryProof, ProtobufString.self)
      try visitor.optional(5, "idToken", &parts.idToken, ProtobufString.self)
    }
  }

  /// The members of a request.
  public static func parts(of request: PhoneSignInRequest) -> Parts {
    switch request.proof {
    case .code(let sessionInfo, let code): Parts(sessionInfo: sessionInfo, code: code, idToken: request.idToken)
    case .temporaryProof(let number, let proof):
      Parts(phoneNumber: number, temporaryProof: proof, idToken: request.idToken)
    }
  }

  /// The request of members; what is missing is empty, and the service says which it is.
  public static func value(of parts: Parts) throws(BytesError) -> PhoneSignInRequest {
    let proof: PhoneProof =
      if let temporary = parts.temporaryProof {
        .temporaryProof(phoneNumber: parts.phoneNumber ?? "", proof: temporary)
      } else {
        .code(sessionInfo: parts.sessionInfo ?? "", code: parts.code ?? "")
      }
    return PhoneSignInRequest(proof: proof, idToken: parts.idToken)
  }
}
