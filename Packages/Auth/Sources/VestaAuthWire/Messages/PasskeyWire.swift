public import VestaAuthBackend
public import VestaBytes

/// A passkey of an account.
enum PasskeyInfoWire: ProtobufSchema {
  static var empty: PasskeyInfo { PasskeyInfo(credentialID: "", name: "") }

  static func visit(_ passkey: inout PasskeyInfo, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "credentialId", &passkey.credentialID, ProtobufString.self)
    try visitor.field(2, "name", &passkey.name, ProtobufString.self)
  }
}

/// The members of an answer of an authenticator: the id of the passkey, and the rest in an object.
struct PasskeyAnswer<Response> {
  var id = ""
  var response: Response?
}

/// The statement of an answer.
enum PasskeyAnswerWire<ResponseWire: ProtobufSchema>: ProtobufSchema {
  static var empty: PasskeyAnswer<ResponseWire.Message> { PasskeyAnswer() }

  static func visit(
    _ answer: inout PasskeyAnswer<ResponseWire.Message>, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "id", &answer.id, ProtobufString.self)
    try visitor.optional(2, "response", &answer.response, ProtobufMessage<ResponseWire>.self)
  }
}

/// The request of `accounts/passkeyEnrollment:start`.
public enum StartPasskeyEnrollmentRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: StartPasskeyEnrollmentRequest { StartPasskeyEnrollmentRequest(idToken: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout StartPasskeyEnrollmentRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) { try visitor.field(1, "idToken", &request.idToken, ProtobufString.self) }
}

/// The request of `accounts/passkeyEnrollment:finalize`.
public enum FinalizePasskeyEnrollmentRequestWire: ProtobufSchema {
  enum RegistrationWire: ProtobufConversion {
    typealias Parts = Schema.Message
    typealias Schema = PasskeyAnswerWire<ResponseWire>

    enum ResponseWire: ProtobufSchema {
      static var empty: FinalizePasskeyEnrollmentRequest.Registration { .init(credentialID: "") }

      static func visit(
        _ response: inout FinalizePasskeyEnrollmentRequest.Registration, _ visitor: inout some ProtobufVisitor
      ) throws(BytesError) {
        try visitor.optional(1, "clientDataJSON", &response.clientData, Base64URLBytes.self)
        try visitor.optional(2, "attestationObject", &response.attestationObject, Base64URLBytes.self)
      }
    }

    static func parts(of registration: FinalizePasskeyEnrollmentRequest.Registration) -> Parts {
      let isBare = registration.clientData == nil && registration.attestationObject == nil
      return Parts(id: registration.credentialID, response: isBare ? nil : registration)
    }

    static func value(of parts: Parts) throws(BytesError) -> FinalizePasskeyEnrollmentRequest.Registration {
      var registration = parts.response ?? ResponseWire.empty
      registration.credentialID = parts.id
      return registration
    }
  }

  /// No members.
  public static var empty: FinalizePasskeyEnrollmentRequest {
    FinalizePasskeyEnrollmentRequest(idToken: "", registration: nil)
  }

  /// Visits the members.
  public static func visit(
    _ request: inout FinalizePasskeyEnrollmentRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "idToken", &request.idToken, ProtobufString.self)
    try visitor.optional(2, "name", &request.name, ProtobufString.self)
    // Some clients name it so; the other name precedes.
    var other: String?
    try visitor.optional(3, "displayName", &other, ProtobufString.self)
    request.name = request.name ?? other
    try visitor.optional(
      4, "authenticatorRegistrationResponse", &request.registration, ProtobufConverted<RegistrationWire>.self)
  }
}

/// The response of `accounts/passkeyEnrollment:finalize`.
public enum FinalizePasskeyEnrollmentResponseWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of response: FinalizePasskeyEnrollmentResponse) -> SignInParts {
    SignInParts(localID: response.localID, tokens: TokenParts(response.tokens))
  }

  /// The response of members; without an account, which services may leave out, it is that of the token.
  public static func value(of parts: SignInParts) throws(BytesError) -> FinalizePasskeyEnrollmentResponse {
    let tokens = try parts.tokens.required()
    let id = try SignInParts.required(parts.localID ?? TokenSubject.id(ofToken: tokens.idToken), "localId")
    return FinalizePasskeyEnrollmentResponse(localID: id, tokens: tokens)
  }
}

/// The request of `accounts/passkeySignIn:finalize`.
public enum FinalizePasskeySignInRequestWire: ProtobufSchema {
  enum AssertionWire: ProtobufConversion {
    typealias Parts = Schema.Message
    typealias Schema = PasskeyAnswerWire<ResponseWire>

    enum ResponseWire: ProtobufSchema {
      static var empty: FinalizePasskeySignInRequest.Assertion { .init(credentialID: "") }

      static func visit(
        _ response: inout FinalizePasskeySignInRequest.Assertion, _ visitor: inout some ProtobufVisitor
      ) throws(BytesError) {
        try visitor.optional(1, "clientDataJSON", &response.clientData, Base64URLBytes.self)
        try visitor.optional(2, "authenticatorData", &response.authenticatorData, Base64URLBytes.self)
        try visitor.optional(3, "signature", &response.signature, Base64URLBytes.self)
        try visitor.optional(4, "userHandle", &response.userHandle, Base64URLBytes.self)
      }
    }

    static func parts(of assertion: FinalizePasskeySignInRequest.Assertion) -> Parts {
      let members = [assertion.clientData, assertion.authenticatorData, assertion.signature, assertion.userHandle]
      return Parts(id: assertion.credentialID, response: members.allSatisfy { $0 == nil } ? nil : assertion)
    }

    static func value(of parts: Parts) throws(BytesError) -> FinalizePasskeySignInRequest.Assertion {
      var assertion = parts.response ?? ResponseWire.empty
      assertion.credentialID = parts.id
      return assertion
    }
  }

  /// No members.
  public static var empty: FinalizePasskeySignInRequest { FinalizePasskeySignInRequest(assertion: nil) }

  /// Visits the members.
  public static func visit(
    _ request: inout FinalizePasskeySignInRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.optional(
      1, "authenticatorAuthenticationResponse", &request.assertion, ProtobufConverted<AssertionWire>.self)
  }
}

/// The response of `accounts/passkeySignIn:finalize`.
public enum FinalizePasskeySignInResponseWire: ProtobufConversion {
  /// The statement of the members.
  public typealias Schema = SignInParts.Schema

  /// The members of a response.
  public static func parts(of response: FinalizePasskeySignInResponse) -> SignInParts {
    SignInParts(localID: response.localID, tokens: TokenParts(response.outcome))
  }

  /// The response of members; without an account, which services may leave out, it is that of the token.
  public static func value(of parts: SignInParts) throws(BytesError) -> FinalizePasskeySignInResponse {
    let outcome = try parts.tokens.requiredOutcome()
    let id = parts.localID ?? outcome.tokens.flatMap { TokenSubject.id(ofToken: $0.idToken) }
    return FinalizePasskeySignInResponse(localID: try SignInParts.required(id, "localId"), outcome: outcome)
  }
}
