public import VestaAuthBackend
public import VestaBytes

/// The statement of an account, as look-ups and exports have it.
///
/// The members are the service's JSON names; the numbers of the statement are their positions and are not on a wire.
public enum AuthUserWire: ProtobufSchema {
  /// The hash that stands for one that is not shown.
  static let redacted = "UkVEQUNURUQ="

  /// An account without members.
  public static var empty: AuthUser { AuthUser(localID: "") }

  /// Visits the members.
  public static func visit(_ user: inout AuthUser, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "localId", &user.localID, ProtobufString.self)
    try visitor.optional(2, "email", &user.email, ProtobufString.self)
    try visitor.verification(3, &user.emailVerified, of: user.email)
    try visitor.optional(4, "displayName", &user.displayName, ProtobufString.self)
    try visitor.optional(5, "photoUrl", &user.photoURL, ProtobufString.self)
    try visitor.optional(6, "phoneNumber", &user.phoneNumber, ProtobufString.self)
    try visitPassword(&user, &visitor)
    try visitor.optional(8, "salt", &user.salt, ProtobufString.self)
    try visitor.optional(9, "passwordUpdatedAt", &user.passwordUpdatedAt, JSONInteger.self)
    try visitor.optional(10, "validSince", &user.validSince, ProtobufInt64.self)
    try visitor.field(11, "disabled", &user.disabled, ProtobufBool.self)
    try visitor.field(12, "createdAt", &user.createdAt, ProtobufInt64.self)
    try visitor.optional(13, "lastLoginAt", &user.lastLoginAt, ProtobufInt64.self)
    try visitor.optional(14, "lastRefreshAt", &user.lastRefreshAt, MillisecondTime.self)
    try visitor.field(15, "customAuth", &user.customAuth, ProtobufBool.self)
    try visitor.optional(16, "customAttributes", &user.customAttributes, ProtobufString.self)
    try visitor.optional(17, "tenantId", &user.tenantID, ProtobufString.self)
    try visitor.optional(18, "initialEmail", &user.initialEmail, ProtobufString.self)
    try visitor.field(19, "emailLinkSignin", &user.emailLinkSignIn, ProtobufBool.self)
    try visitor.repeated(20, "mfaInfo", &user.mfaInfo, ProtobufConverted<MfaEnrollmentWire>.self)
    try visitor.repeated(21, "providerUserInfo", &user.providerUserInfo, ProtobufMessage<ProviderUserInfoWire>.self)
    try visitor.repeated(22, "passkeyInfo", &user.passkeys, ProtobufMessage<PasskeyInfoWire>.self)
  }

  /// The hash of the password; a placeholder where there is a password whose hash is not shown.
  private static func visitPassword(
    _ user: inout AuthUser, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    var hash = user.passwordHash ?? (user.hasPassword ? redacted : nil)
    try visitor.optional(7, "passwordHash", &hash, ProtobufString.self)
    guard visitor.isReading, let hash else { return }
    user.hasPassword = true
    user.passwordHash = hash == redacted ? nil : hash
  }
}

/// The statement of what a provider says about an account.
public enum ProviderUserInfoWire: ProtobufSchema {
  /// No members.
  public static var empty: ProviderUserInfo { ProviderUserInfo(providerID: "", rawID: "") }

  /// Visits the members.
  public static func visit(_ info: inout ProviderUserInfo, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "providerId", &info.providerID, ProtobufString.self)
    try visitor.field(2, "rawId", &info.rawID, ProtobufString.self)
    try visitor.optional(3, "federatedId", &info.federatedID, ProtobufString.self)
    try visitor.optional(4, "email", &info.email, ProtobufString.self)
    try visitor.optional(5, "displayName", &info.displayName, ProtobufString.self)
    try visitor.optional(6, "photoUrl", &info.photoURL, ProtobufString.self)
    try visitor.optional(7, "phoneNumber", &info.phoneNumber, ProtobufString.self)
    try visitor.optional(8, "screenName", &info.screenName, ProtobufString.self)
  }
}

/// A second factor: with a phone number, or with an empty object for a generator of codes.
public enum MfaEnrollmentWire: ProtobufConversion {
  /// The members of a second factor.
  public struct Parts {
    var id = ""
    var displayName: String?
    var phone: String?
    var totp: Empty?
    var enrolledAt: Int64?
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "mfaEnrollmentId", &parts.id, ProtobufString.self)
      try visitor.optional(2, "displayName", &parts.displayName, ProtobufString.self)
      try visitor.optional(3, "phoneInfo", &parts.phone, ProtobufString.self)
      try visitor.optional(4, "totpInfo", &parts.totp, ProtobufMessage<Empty.Schema>.self)
      try visitor.optional(5, "enrolledAt", &parts.enrolledAt, MillisecondTime.self)
    }
  }

  /// The members of a factor.
  public static func parts(of factor: MfaEnrollment) -> Parts {
    var parts = Parts(id: factor.mfaEnrollmentID, displayName: factor.displayName, enrolledAt: factor.enrolledAt)
    switch factor.factor {
    case .phone(let number): parts.phone = number
    case .totp: parts.totp = Empty()
    }
    return parts
  }

  /// The factor of members; without a phone number it is a generator of codes.
  public static func value(of parts: Parts) throws(BytesError) -> MfaEnrollment {
    MfaEnrollment(
      mfaEnrollmentID: parts.id, factor: parts.phone.map { .phone(number: $0) } ?? .totp,
      displayName: parts.displayName, enrolledAt: parts.enrolledAt ?? 0)
  }
}
