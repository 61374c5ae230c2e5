public import VestaAuthBackend
public import VestaBytes

/// A second factor as an owner sets it: with a phone number, or with an empty object for an app.
enum NewFactorWire: ProtobufConversion {
  struct Parts {
    var id: String?
    var phone: String?
    var totp: Empty?
    var displayName: String?
    var enrolledAt: Int64?
  }

  enum Schema: ProtobufSchema {
    static var empty: Parts { Parts() }

    static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "mfaEnrollmentId", &parts.id, ProtobufString.self)
      try visitor.optional(2, "phoneInfo", &parts.phone, ProtobufString.self)
      try visitor.optional(3, "displayName", &parts.displayName, ProtobufString.self)
      try visitor.optional(4, "enrolledAt", &parts.enrolledAt, MillisecondTime.self)
      try visitor.optional(5, "totpInfo", &parts.totp, ProtobufMessage<Empty.Schema>.self)
    }
  }

  static func parts(of factor: NewMfaEnrollment) -> Parts {
    var parts = Parts(
      id: factor.mfaEnrollmentID, displayName: factor.displayName, enrolledAt: factor.enrolledAt)
    switch factor.factor {
    case .phone(let number): parts.phone = number
    case .totp: parts.totp = Empty()
    }
    return parts
  }

  static func value(of parts: Parts) -> NewMfaEnrollment {
    let isApp = parts.phone == nil && parts.totp != nil
    return NewMfaEnrollment(
      mfaEnrollmentID: parts.id, factor: isApp ? .totp : .phone(number: parts.phone ?? ""),
      displayName: parts.displayName, enrolledAt: parts.enrolledAt)
  }
}

/// The request of `accounts:signUp` of an owner, which signs no user in.
public enum CreateUserRequestWire: ProtobufSchema {
  /// No members.
  public static var empty: CreateUserRequest { CreateUserRequest() }

  /// Visits the members.
  public static func visit(
    _ request: inout CreateUserRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.optional(1, "localId", &request.localID, ProtobufString.self)
    try visitor.optional(2, "email", &request.email, ProtobufString.self)
    try visitor.field(3, "emailVerified", &request.emailVerified, ProtobufBool.self)
    try visitor.optional(4, "password", &request.password, ProtobufString.self)
    try visitor.optional(5, "displayName", &request.displayName, ProtobufString.self)
    try visitor.optional(6, "photoUrl", &request.photoURL, ProtobufString.self)
    try visitor.optional(7, "phoneNumber", &request.phoneNumber, ProtobufString.self)
    try visitor.field(8, "disabled", &request.disabled, ProtobufBool.self)
    try visitor.repeated(9, "mfaInfo", &request.mfaFactors, ProtobufConverted<NewFactorWire>.self)
  }
}

/// The response of `accounts:signUp` to an owner: an account without tokens.
public enum CreatedUserWire: ProtobufSchema {
  /// No members.
  public static var empty: AuthUser { AuthUser(localID: "") }

  /// Visits the members.
  public static func visit(_ user: inout AuthUser, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.constant(1, "kind", "identitytoolkit#SignupNewUserResponse")
    try visitor.field(2, "localId", &user.localID, ProtobufString.self)
    try visitor.optional(3, "email", &user.email, ProtobufString.self)
    try visitor.optional(4, "displayName", &user.displayName, ProtobufString.self)
  }
}

/// The request of `accounts:lookup` of an owner.
public enum GetUsersRequestWire: ProtobufSchema {
  enum FederatedIDWire: ProtobufSchema {
    static var empty: FederatedUserID { FederatedUserID(providerID: "", rawID: "") }

    static func visit(_ id: inout FederatedUserID, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "providerId", &id.providerID, ProtobufString.self)
      try visitor.field(2, "rawId", &id.rawID, ProtobufString.self)
    }
  }

  /// No members.
  public static var empty: GetUsersRequest { GetUsersRequest() }

  /// Visits the members.
  public static func visit(_ request: inout GetUsersRequest, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "localId", &request.localIDs, ProtobufString.self)
    try visitor.repeated(2, "email", &request.emails, ProtobufString.self)
    try visitor.repeated(3, "phoneNumber", &request.phoneNumbers, ProtobufString.self)
    try visitor.repeated(4, "federatedUserId", &request.federatedUserIDs, ProtobufMessage<FederatedIDWire>.self)
    try visitor.repeated(5, "initialEmail", &request.initialEmails, ProtobufString.self)
  }
}

/// The request of `accounts:update` of an owner.
public enum AdminUpdateRequestWire: ProtobufSchema {
  /// The second factors, in a separate object; one without a list removes them all.
  enum FactorsWire: ProtobufSchema {
    static var empty: [NewMfaEnrollment] { [] }

    static func visit(_ factors: inout [NewMfaEnrollment], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.repeated(1, "enrollments", &factors, ProtobufConverted<NewFactorWire>.self)
    }
  }

  /// No members.
  public static var empty: AdminUpdateRequest { AdminUpdateRequest(localID: "") }

  /// Visits the members.
  public static func visit(
    _ request: inout AdminUpdateRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "localId", &request.localID, ProtobufString.self)
    try visitor.optional(2, "email", &request.email, ProtobufString.self)
    try visitor.optional(3, "emailVerified", &request.emailVerified, ProtobufBool.self)
    try visitor.optional(4, "password", &request.password, ProtobufString.self)
    try visitor.optional(5, "displayName", &request.displayName, ProtobufString.self)
    try visitor.optional(6, "photoUrl", &request.photoURL, ProtobufString.self)
    try visitor.optional(7, "phoneNumber", &request.phoneNumber, ProtobufString.self)
    try visitor.optional(8, "disableUser", &request.disabled, ProtobufBool.self)
    try visitor.optional(9, "customAttributes", &request.customAttributes, ProtobufString.self)
    try visitor.optional(10, "validSince", &request.validSince, ProtobufInt64.self)
    try visitor.optional(11, "createdAt", &request.createdAt, ProtobufInt64.self)
    try visitor.optional(12, "lastLoginAt", &request.lastLoginAt, ProtobufInt64.self)
    try UserAttributeWire.visit(13, &request.deleteAttributes, &visitor)
    try visitor.repeated(14, "deleteProvider", &request.deleteProviders, ProtobufString.self)
    try visitor.optional(15, "linkProviderUserInfo", &request.linkProvider, ProtobufMessage<ProviderUserInfoWire>.self)
    try visitor.optional(16, "mfa", &request.mfaFactors, ProtobufMessage<FactorsWire>.self)
    try visitor.repeated(17, "deletePasskey", &request.deletePasskeys, ProtobufString.self)
  }
}

/// The request of `accounts:delete` of an owner: the id of an account.
public enum LocalIDWire: ProtobufSchema {
  /// No id.
  public static var empty: String { "" }

  /// Visits the members.
  public static func visit(_ id: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "localId", &id, ProtobufString.self)
  }
}

/// The request of `accounts:query`, which finds all accounts in the order of their ids.
public enum QueryUsersRequestWire: ProtobufSchema {
  enum OrderWire: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: Bool)] {
      [(1, "ASC", false), (0, "ORDER_UNSPECIFIED", false), (2, "DESC", true)]
    }
  }

  /// All accounts.
  public static var empty: QueryUsersRequest { QueryUsersRequest() }

  /// Visits the members.
  public static func visit(
    _ request: inout QueryUsersRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    var returns: Bool? = request.returnsUsers
    try visitor.optional(1, "returnUserInfo", &returns, ProtobufBool.self)
    request.returnsUsers = returns ?? true
    try visitor.field(2, "order", &request.isDescending, ProtobufEnum<OrderWire>.self)
  }
}

/// The response of `accounts:query`.
public enum QueryUsersResponseWire: ProtobufSchema {
  /// No members.
  public static var empty: QueryUsersResponse { QueryUsersResponse(count: 0) }

  /// Visits the members.
  public static func visit(
    _ response: inout QueryUsersResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    var count: Int64? = Int64(response.count)
    try visitor.optional(1, "recordsCount", &count, ProtobufInt64.self)
    response.count = count.flatMap { Int(exactly: $0) } ?? 0
    try visitor.repeated(2, "userInfo", &response.users, ProtobufMessage<AuthUserWire>.self)
  }
}
