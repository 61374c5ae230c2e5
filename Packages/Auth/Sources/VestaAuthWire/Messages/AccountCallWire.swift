public import VestaAuthBackend
public import VestaBytes

/// The request of `accounts:lookup` for the account of a token.
public enum LookupRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: LookupRequest { LookupRequest(idToken: "") }

  /// Visits the members.
  public static func visit(_ request: inout LookupRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "idToken", &request.idToken, ProtobufString.self)
  }
}

/// The response of `accounts:lookup`; without accounts it has no list at all.
public enum LookupResponseWire: ProtobufSchema {
  /// No members.
  public static var empty: LookupResponse { LookupResponse(users: []) }

  /// Visits the members.
  public static func visit(_ response: inout LookupResponse, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.constant(1, "kind", "identitytoolkit#GetAccountInfoResponse")
    try visitor.repeated(2, "users", &response.users, ProtobufMessage<AuthUserWire>.self)
  }
}

/// The request of `accounts:delete` for the account of a token.
public enum DeleteRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: DeleteRequest { DeleteRequest(idToken: "") }

  /// Visits the members.
  public static func visit(_ request: inout DeleteRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "idToken", &request.idToken, ProtobufString.self)
  }
}

/// The attributes that an update can delete, by the service's names and numbers; others are ignored.
enum UserAttributeWire: ProtobufEnumSchema {
  static var cases: [(number: Int32, name: StaticString, value: UserAttribute?)] {
    [
      (0, "USER_ATTRIBUTE_NAME_UNSPECIFIED", nil), (1, "EMAIL", .email), (2, "DISPLAY_NAME", .displayName),
      (3, "PROVIDER", nil), (4, "PHOTO_URL", .photoURL), (5, "PASSWORD", .password), (6, "RAW_USER_INFO", nil),
    ]
  }

  static func visit(
    _ number: UInt32, _ attributes: inout Set<UserAttribute>, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    var list: [UserAttribute?] = UserAttribute.allCases.filter(attributes.contains)
    try visitor.repeated(number, "deleteAttribute", &list, ProtobufEnum<UserAttributeWire>.self)
    attributes.formUnion(list.compactMap { $0 })
  }
}

/// The request of `accounts:update`.
public enum UpdateRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: UpdateRequest { UpdateRequest() }

  /// Visits the members.
  public static func visit(_ request: inout UpdateRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "idToken", &request.idToken, ProtobufString.self)
    try visitor.optional(2, "oobCode", &request.oobCode, ProtobufString.self)
    try visitor.optional(3, "email", &request.email, ProtobufString.self)
    try visitor.optional(4, "password", &request.password, ProtobufString.self)
    try visitor.optional(5, "displayName", &request.displayName, ProtobufString.self)
    try visitor.optional(6, "photoUrl", &request.photoURL, ProtobufString.self)
    try UserAttributeWire.visit(7, &request.deleteAttributes, &visitor)
    try visitor.repeated(8, "deleteProvider", &request.deleteProviders, ProtobufString.self)
    try visitor.flag(9, "returnSecureToken")
    try visitor.repeated(10, "deletePasskey", &request.deletePasskeys, ProtobufString.self)
  }
}

/// The response of `accounts:update`.
public enum UpdateResponseWire: ProtobufConversion {
  /// The members of a response.
  public struct Parts {
    var response = UpdateResponse(localID: "")
    var tokens = TokenParts()
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.constant(1, "kind", "identitytoolkit#SetAccountInfoResponse")
      try visitor.field(2, "localId", &parts.response.localID, ProtobufString.self)
      try visitor.optional(3, "email", &parts.response.email, ProtobufString.self)
      try visitor.optional(4, "newEmail", &parts.response.newEmail, ProtobufString.self)
      try visitor.verification(5, &parts.response.emailVerified, of: parts.response.email)
      try visitor.optional(6, "displayName", &parts.response.displayName, ProtobufString.self)
      try visitor.optional(7, "photoUrl", &parts.response.photoURL, ProtobufString.self)
      var hash: String? = parts.response.hasPassword ? AuthUserWire.redacted : nil
      try visitor.optional(8, "passwordHash", &hash, ProtobufString.self)
      parts.response.hasPassword = hash != nil
      try visitor.repeated(
        9, "providerUserInfo", &parts.response.providerUserInfo, ProtobufMessage<ProviderUserInfoWire>.self)
      try parts.tokens.visit(&visitor)
    }
  }

  /// The members of a response.
  public static func parts(of response: UpdateResponse) -> Parts {
    Parts(response: response, tokens: TokenParts(response.tokens))
  }

  /// The response of members.
  public static func value(of parts: Parts) throws(BytesError) -> UpdateResponse {
    var response = parts.response
    response.tokens = parts.tokens.tokens
    return response
  }
}

/// The request of `accounts:createAuthUri`.
public enum CreateAuthURIRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: CreateAuthURIRequest { CreateAuthURIRequest(identifier: "", continueURI: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout CreateAuthURIRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "identifier", &request.identifier, ProtobufString.self)
    try visitor.field(2, "continueUri", &request.continueURI, ProtobufString.self)
    try visitor.optional(3, "sessionId", &request.sessionID, ProtobufString.self)
  }
}

/// The response of `accounts:createAuthUri`.
public enum CreateAuthURIResponseWire: ProtobufSchema {
  /// No members.
  public static var empty: CreateAuthURIResponse { CreateAuthURIResponse(sessionID: "") }

  /// Visits the members.
  public static func visit(
    _ response: inout CreateAuthURIResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.constant(1, "kind", "identitytoolkit#CreateAuthUriResponse")
    try visitor.field(2, "sessionId", &response.sessionID, ProtobufString.self)
    try visitor.optional(3, "registered", &response.isRegistered, ProtobufBool.self)
    try visitor.repeated(4, "allProviders", &response.allProviders, ProtobufString.self)
    try visitor.repeated(5, "signinMethods", &response.signInMethods, ProtobufString.self)
  }
}
