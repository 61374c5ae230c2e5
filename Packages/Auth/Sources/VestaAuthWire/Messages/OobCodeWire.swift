public import VestaAuthBackend
public import VestaBytes

/// The kinds of codes by the service's names and numbers; kinds that are never asked for are none.
enum OobTypeWire: ProtobufEnumSchema {
  static var cases: [(number: Int32, name: StaticString, value: OobRequestType?)] {
    [
      (0, "OOB_REQ_TYPE_UNSPECIFIED", nil), (1, "PASSWORD_RESET", .passwordReset), (2, "OLD_EMAIL_AGREE", nil),
      (3, "NEW_EMAIL_ACCEPT", nil), (4, "VERIFY_EMAIL", .verifyEmail), (5, "RECOVER_EMAIL", .recoverEmail),
      (6, "EMAIL_SIGNIN", .emailSignIn), (7, "VERIFY_AND_CHANGE_EMAIL", .verifyAndChangeEmail),
      (8, "REVERT_SECOND_FACTOR_ADDITION", .revertSecondFactorAddition),
    ]
  }
}

/// The request of `accounts:sendOobCode`.
public enum SendOobCodeRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: SendOobCodeRequest { SendOobCodeRequest(requestType: nil) }

  /// Visits the members.
  public static func visit(
    _ request: inout SendOobCodeRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "requestType", &request.requestType, ProtobufEnum<OobTypeWire>.self)
    try visitor.optional(2, "email", &request.email, ProtobufString.self)
    try visitor.optional(3, "newEmail", &request.newEmail, ProtobufString.self)
    try visitor.optional(4, "idToken", &request.idToken, ProtobufString.self)
    try visitor.optional(5, "continueUrl", &request.settings.continueURL, ProtobufString.self)
    try visitor.field(6, "canHandleCodeInApp", &request.settings.canHandleCodeInApp, ProtobufBool.self)
    try visitor.optional(7, "iOSBundleId", &request.settings.iosBundleID, ProtobufString.self)
    try visitor.optional(8, "androidPackageName", &request.settings.androidPackageName, ProtobufString.self)
    try visitor.field(9, "androidInstallApp", &request.settings.androidInstallApp, ProtobufBool.self)
    try visitor.optional(
      10, "androidMinimumVersion", &request.settings.androidMinimumVersion, ProtobufString.self)
    try visitor.optional(11, "linkDomain", &request.settings.linkDomain, ProtobufString.self)
  }
}

/// The response of `accounts:sendOobCode` to a user.
public enum SendOobCodeResponseWire: ProtobufSchema {
  /// No members.
  public static var empty: SendOobCodeResponse { SendOobCodeResponse(email: "") }

  /// Visits the members.
  public static func visit(
    _ response: inout SendOobCodeResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.constant(1, "kind", "identitytoolkit#GetOobConfirmationCodeResponse")
    try visitor.field(2, "email", &response.email, ProtobufString.self)
  }
}

/// The request of `accounts:resetPassword`.
public enum ResetPasswordRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: ResetPasswordRequest { ResetPasswordRequest(oobCode: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout ResetPasswordRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "oobCode", &request.oobCode, ProtobufString.self)
    try visitor.optional(2, "newPassword", &request.newPassword, ProtobufString.self)
  }
}

/// The response of `accounts:resetPassword`.
public enum ResetPasswordResponseWire: ProtobufConversion {
  /// The members of a response.
  public struct Parts {
    var requestType: OobRequestType?
    var email: String?
    var newEmail: String?
    var mfaInfo: MfaEnrollment?
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.constant(1, "kind", "identitytoolkit#ResetPasswordResponse")
      try visitor.field(2, "requestType", &parts.requestType, ProtobufEnum<OobTypeWire>.self)
      try visitor.optional(3, "email", &parts.email, ProtobufString.self)
      try visitor.optional(4, "newEmail", &parts.newEmail, ProtobufString.self)
      try visitor.optional(5, "mfaInfo", &parts.mfaInfo, ProtobufConverted<MfaEnrollmentWire>.self)
    }
  }

  /// The members of a response.
  public static func parts(of response: ResetPasswordResponse) -> Parts {
    Parts(
      requestType: response.requestType, email: response.email, newEmail: response.newEmail, mfaInfo: response.mfaInfo)
  }

  /// The response of members.
  public static func value(of parts: Parts) throws(BytesError) -> ResetPasswordResponse {
    guard let type = parts.requestType else { throw BytesError(.malformed, "the type of the code is unknown") }
    return ResetPasswordResponse(
      requestType: type, email: parts.email, newEmail: parts.newEmail, mfaInfo: parts.mfaInfo)
  }
}
