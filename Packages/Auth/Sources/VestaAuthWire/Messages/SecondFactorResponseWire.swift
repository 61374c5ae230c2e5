public import VestaAuthBackend
public import VestaBytes

/// The response of the calls about second factors that end with tokens.
public enum AuthTokensWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of tokens: AuthTokens) -> SignInParts { SignInParts(tokens: TokenParts(tokens)) }

  /// The tokens of members.
  public static func value(of parts: SignInParts) throws(BytesError) -> AuthTokens { try parts.tokens.required() }
}

/// The response of `accounts/mfaEnrollment:start`.
public enum StartMfaEnrollmentResponseWire: ProtobufConversion {
  /// The members of a response.
  public struct Parts {
    var phone: FactorPart?
    var totp: TotpSecret?
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "phoneSessionInfo", &parts.phone, ProtobufMessage<FactorPart.Phone>.self)
      try visitor.optional(2, "totpSessionInfo", &parts.totp, ProtobufMessage<SecretWire>.self)
    }
  }

  enum SecretWire: ProtobufSchema {
    static var empty: TotpSecret { TotpSecret(sharedSecretKey: "", sessionInfo: "", finalizeEnrollmentTime: 0) }

    static func visit(_ secret: inout TotpSecret, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "sharedSecretKey", &secret.sharedSecretKey, ProtobufString.self)
      var length = Int32(clamping: secret.verificationCodeLength)
      try visitor.field(2, "verificationCodeLength", &length, ProtobufInt32.self)
      secret.verificationCodeLength = Int(length)
      try visitor.field(3, "hashingAlgorithm", &secret.hashingAlgorithm, ProtobufString.self)
      var period = Int32(clamping: secret.periodSeconds)
      try visitor.field(4, "periodSec", &period, ProtobufInt32.self)
      secret.periodSeconds = Int64(period)
      try visitor.field(5, "sessionInfo", &secret.sessionInfo, ProtobufString.self)
      try visitor.field(6, "finalizeEnrollmentTime", &secret.finalizeEnrollmentTime, MillisecondTime.self)
    }
  }

  /// The members of a response.
  public static func parts(of response: StartMfaEnrollmentResponse) -> Parts {
    switch response {
    case .phone(let session): Parts(phone: FactorPart(sessionInfo: session))
    case .totp(let secret): Parts(totp: secret)
    }
  }

  /// The response of members.
  public static func value(of parts: Parts) throws(BytesError) -> StartMfaEnrollmentResponse {
    if let secret = parts.totp { return .totp(secret) }
    return .phone(sessionInfo: try SignInParts.required(parts.phone?.sessionInfo, "sessionInfo"))
  }
}

/// The response of `accounts/mfaSignIn:start`.
public enum StartMfaSignInResponseWire: ProtobufConversion {
  /// The members of a response.
  public struct Parts {
    var phone: FactorPart?
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "phoneResponseInfo", &parts.phone, ProtobufMessage<FactorPart.Phone>.self)
    }
  }

  /// The members of a response.
  public static func parts(of response: StartMfaSignInResponse) -> Parts {
    Parts(phone: FactorPart(sessionInfo: response.sessionInfo))
  }

  /// The response of members.
  public static func value(of parts: Parts) throws(BytesError) -> StartMfaSignInResponse {
    StartMfaSignInResponse(sessionInfo: try SignInParts.required(parts.phone?.sessionInfo, "sessionInfo"))
  }
}
