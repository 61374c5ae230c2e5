public import VestaAuthBackend
public import VestaBytes

/// The member of a message that is an object for one kind of factor, and what is in it.
struct FactorPart {
  var sessionInfo: String?
  var code: String?
  var phoneNumber: String?
  var verification: AppVerification?

  /// The part of a phone number: `code` is the code of a text message.
  enum Phone: ProtobufSchema {
    static var empty: FactorPart { FactorPart() }

    static func visit(_ part: inout FactorPart, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "sessionInfo", &part.sessionInfo, ProtobufString.self)
      try visitor.optional(2, "code", &part.code, ProtobufString.self)
      try visitor.optional(3, "phoneNumber", &part.phoneNumber, ProtobufString.self)
      try AppVerificationWire.visit(&part.verification, &visitor)
    }
  }

  /// The part of a generator of codes.
  enum Totp: ProtobufSchema {
    static var empty: FactorPart { FactorPart() }

    static func visit(_ part: inout FactorPart, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "sessionInfo", &part.sessionInfo, ProtobufString.self)
      try visitor.optional(2, "verificationCode", &part.code, ProtobufString.self)
    }
  }
}

/// The members of all requests about second factors.
public struct SecondFactorParts {
  var idToken = ""
  var displayName: String?
  var pendingCredential = ""
  var enrollmentID = ""
  var phone: FactorPart?
  var totp: FactorPart?

  fileprivate mutating func visit(
    _ visitor: inout some ProtobufVisitor, phone phoneName: StaticString, totp totpName: StaticString
  ) throws(BytesError) {
    try visitor.field(1, "idToken", &idToken, ProtobufString.self)
    try visitor.optional(2, "displayName", &displayName, ProtobufString.self)
    try visitor.field(3, "mfaPendingCredential", &pendingCredential, ProtobufString.self)
    try visitor.field(4, "mfaEnrollmentId", &enrollmentID, ProtobufString.self)
    try visitor.optional(5, phoneName, &phone, ProtobufMessage<FactorPart.Phone>.self)
    try visitor.optional(6, totpName, &totp, ProtobufMessage<FactorPart.Totp>.self)
  }

  /// The statement of a start.
  public enum Enrollment: ProtobufSchema {
    /// No members.
    public static var empty: SecondFactorParts { SecondFactorParts() }

    /// Visits the members.
    public static func visit(
      _ parts: inout SecondFactorParts, _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) { try parts.visit(&visitor, phone: "phoneEnrollmentInfo", totp: "totpEnrollmentInfo") }
  }

  /// The statement of an end.
  public enum Verification: ProtobufSchema {
    /// No members.
    public static var empty: SecondFactorParts { SecondFactorParts() }

    /// Visits the members.
    public static func visit(
      _ parts: inout SecondFactorParts, _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) { try parts.visit(&visitor, phone: "phoneVerificationInfo", totp: "totpVerificationInfo") }
  }

  /// The statement of the start of a sign-in.
  public enum SignIn: ProtobufSchema {
    /// No members.
    public static var empty: SecondFactorParts { SecondFactorParts() }

    /// Visits the members.
    public static func visit(
      _ parts: inout SecondFactorParts, _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) { try parts.visit(&visitor, phone: "phoneSignInInfo", totp: "totpSignInInfo") }
  }
}

/// The request of `accounts/mfaEnrollment:start`.
public enum StartMfaEnrollmentRequestWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SecondFactorParts.Enrollment

  /// The members of a request.
  public static func parts(of request: StartMfaEnrollmentRequest) -> SecondFactorParts {
    switch request.factor {
    case .phone(let number, let verification):
      SecondFactorParts(
        idToken: request.idToken, phone: FactorPart(phoneNumber: number, verification: verification))
    case .totp: SecondFactorParts(idToken: request.idToken, totp: FactorPart())
    }
  }

  /// The request of members.
  public static func value(of parts: SecondFactorParts) throws(BytesError) -> StartMfaEnrollmentRequest {
    if parts.totp != nil { return StartMfaEnrollmentRequest(idToken: parts.idToken, factor: .totp) }
    guard let phone = parts.phone else { throw BytesError(.malformed, "((Missing phoneEnrollmentInfo.))") }
    return StartMfaEnrollmentRequest(
      idToken: parts.idToken, factor: .phone(number: phone.phoneNumber ?? "", appVerification: phone.verification))
  }
}

/// The request of `accounts/mfaEnrollment:finalize`.
public enum FinalizeMfaEnrollmentRequestWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SecondFactorParts.Verification

  /// The members of a request.
  public static func parts(of request: FinalizeMfaEnrollmentRequest) -> SecondFactorParts {
    var parts = SecondFactorParts(idToken: request.idToken, displayName: request.displayName)
    switch request.proof {
    case .phone(let session, let code): parts.phone = FactorPart(sessionInfo: session, code: code)
    case .totp(let session, let code): parts.totp = FactorPart(sessionInfo: session, code: code)
    }
    return parts
  }

  /// The request of members; what is missing is empty, and the service says which it is.
  public static func value(of parts: SecondFactorParts) throws(BytesError) -> FinalizeMfaEnrollmentRequest {
    guard let part = parts.totp ?? parts.phone else {
      throw BytesError(.malformed, "((Missing phoneVerificationInfo.))")
    }
    let (session, code) = (part.sessionInfo ?? "", part.code ?? "")
    return FinalizeMfaEnrollmentRequest(
      idToken: parts.idToken, displayName: parts.displayName,
      proof: parts.totp == nil ? .phone(sessionInfo: session, code: code) : .totp(sessionInfo: session, code: code))
  }
}

/// The request of `accounts/mfaSignIn:start`.
public enum StartMfaSignInRequestWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SecondFactorParts.SignIn

  /// The members of a request.
  public static func parts(of request: StartMfaSignInRequest) -> SecondFactorParts {
    SecondFactorParts(
      pendingCredential: request.mfaPendingCredential, enrollmentID: request.mfaEnrollmentID,
      phone: FactorPart(verification: request.appVerification))
  }

  /// The request of members.
  public static func value(of parts: SecondFactorParts) throws(BytesError) -> StartMfaSignInRequest {
    StartMfaSignInRequest(
      mfaPendingCredential: parts.pendingCredential, mfaEnrollmentID: parts.enrollmentID,
      appVerification: parts.phone?.verification)
  }
}

/// The request of `accounts/mfaSignIn:finalize`.
public enum FinalizeMfaSignInRequestWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SecondFactorParts.Verification

  /// The members of a request.
  public static func parts(of request: FinalizeMfaSignInRequest) -> SecondFactorParts {
    var parts = SecondFactorParts(pendingCredential: request.mfaPendingCredential)
    switch request.proof {
    case .phone(let session, let code): parts.phone = FactorPart(sessionInfo: session, code: code)
    case .totp(let id, let code):
      parts.enrollmentID = id
      parts.totp = FactorPart(code: code)
    }
    return parts
  }

  /// The request of members; what is missing is empty, and the service says which it is.
  public static func value(of parts: SecondFactorParts) throws(BytesError) -> FinalizeMfaSignInRequest {
    if let totp = parts.totp {
      return FinalizeMfaSignInRequest(
        mfaPendingCredential: parts.pendingCredential,
        proof: .totp(mfaEnrollmentID: parts.enrollmentID, code: totp.code ?? ""))
    }
    guard let phone = parts.phone else { throw BytesError(.malformed, "MFA provider not supported!") }
    return FinalizeMfaSignInRequest(
      mfaPendingCredential: parts.pendingCredential,
      proof: .phone(sessionInfo: phone.sessionInfo ?? "", code: phone.code ?? ""))
  }
}

/// The request of `accounts/mfaEnrollment:withdraw`.
public enum WithdrawMfaEnrollmentRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: WithdrawMfaEnrollmentRequest {
    WithdrawMfaEnrollmentRequest(idToken: "", mfaEnrollmentID: "")
  }

  /// Visits the members.
  public static func visit(
    _ request: inout WithdrawMfaEnrollmentRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "idToken", &request.idToken, ProtobufString.self)
    try visitor.field(2, "mfaEnrollmentId", &request.mfaEnrollmentID, ProtobufString.self)
  }
}
