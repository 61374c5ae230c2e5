public import VestaAuthBackend
public import VestaBytes

/// The request of `projects:createSessionCookie`.
public enum CreateSessionCookieRequestWire: ProtobufSchema {
  /// Two weeks, as where nothing is said.
  public static var empty: CreateSessionCookieRequest { CreateSessionCookieRequest(idToken: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout CreateSessionCookieRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "idToken", &request.idToken, ProtobufString.self)
    var duration: Int64? = request.validDuration
    try visitor.optional(2, "validDuration", &duration, ProtobufInt64.self)
    request.validDuration = duration ?? empty.validDuration
  }
}

/// The response of `projects:createSessionCookie`: the cookie.
public enum SessionCookieWire: ProtobufSchema {
  /// No cookie.
  public static var empty: String { "" }

  /// Visits the members.
  public static func visit(_ cookie: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "sessionCookie", &cookie, ProtobufString.self)
  }
}

/// The response of `accounts:sendOobCode` to an owner who wants the link instead of a message.
public enum OobLinkWire: ProtobufSchema {
  /// No members.
  public static var empty: OobLink { OobLink(email: "", oobCode: "", oobLink: "") }

  /// Visits the members.
  public static func visit(_ link: inout OobLink, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.constant(1, "kind", "identitytoolkit#GetOobConfirmationCodeResponse")
    try visitor.field(2, "email", &link.email, ProtobufString.self)
    try visitor.field(3, "oobCode", &link.oobCode, ProtobufString.self)
    try visitor.field(4, "oobLink", &link.oobLink, ProtobufString.self)
  }
}

/// The response of `oobCodes`, a call of local test suites: the codes by e-mail that can still be used.
public enum SentOobCodesWire: ProtobufSchema {
  enum CodeWire: ProtobufConversion {
    struct Parts {
      var code = SentOobCode(email: "", requestType: .emailSignIn, oobCode: "", oobLink: "")
      var type: OobRequestType?
    }

    enum Schema: ProtobufSchema {
      static var empty: Parts { Parts() }

      static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
        try visitor.field(1, "email", &parts.code.email, ProtobufString.self)
        try visitor.optional(2, "newEmail", &parts.code.newEmail, ProtobufString.self)
        try visitor.field(3, "requestType", &parts.type, ProtobufEnum<OobTypeWire>.self)
        try visitor.field(4, "oobCode", &parts.code.oobCode, ProtobufString.self)
        try visitor.field(5, "oobLink", &parts.code.oobLink, ProtobufString.self)
      }
    }

    static func parts(of code: SentOobCode) -> Parts { Parts(code: code, type: code.requestType) }

    static func value(of parts: Parts) throws(BytesError) -> SentOobCode {
      guard let type = parts.type else { throw BytesError(.malformed, "the type of the code is unknown") }
      var code = parts.code
      code.requestType = type
      return code
    }
  }

  /// No codes.
  public static var empty: [SentOobCode] { [] }

  /// Visits the members.
  public static func visit(_ codes: inout [SentOobCode], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "oobCodes", &codes, ProtobufConverted<CodeWire>.self)
  }
}

/// The response of `verificationCodes`, a call of local test suites: the codes to phones that can still be used.
public enum SentVerificationCodesWire: ProtobufSchema {
  enum CodeWire: ProtobufSchema {
    static var empty: SentVerificationCode { SentVerificationCode(phoneNumber: "", sessionInfo: "", code: "") }

    static func visit(_ code: inout SentVerificationCode, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "phoneNumber", &code.phoneNumber, ProtobufString.self)
      try visitor.field(2, "sessionInfo", &code.sessionInfo, ProtobufString.self)
      try visitor.field(3, "code", &code.code, ProtobufString.self)
    }
  }

  /// No codes.
  public static var empty: [SentVerificationCode] { [] }

  /// Visits the members.
  public static func visit(
    _ codes: inout [SentVerificationCode], _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "verificationCodes", &codes, ProtobufMessage<CodeWire>.self)
  }
}
