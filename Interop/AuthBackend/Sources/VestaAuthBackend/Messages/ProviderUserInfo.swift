/// What one way to sign in says of the user.
public struct ProviderUserInfo: IdentityMessage {
  /// The provider, such as "google.com"; "password" and "phone" are two.
  public var providerID: String

  /// The user's id there; the address or the number for `password` and `phone`.
  public var rawID: String

  /// The user's id as it stands in federated lists.
  public var federatedID: String?

  /// The e-mail address there.
  public var email: String?

  /// The name there.
  public var displayName: String?

  /// The picture there.
  public var photoURL: String?

  /// The phone number there.
  public var phoneNumber: String?

  /// The name to sign in with there.
  public var screenName: String?

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - providerID: The provider, such as "google.com".
  ///   - rawID: The user's id there.
  ///   - federatedID: The user's id as it stands in federated lists.
  ///   - email: The e-mail address there.
  ///   - displayName: The name there.
  ///   - photoURL: The picture there.
  ///   - phoneNumber: The phone number there.
  ///   - screenName: The name to sign in with there.
  public init(
    providerID: String,
    rawID: String,
    federatedID: String? = nil,
    email: String? = nil,
    displayName: String? = nil,
    photoURL: String? = nil,
    phoneNumber: String? = nil,
    screenName: String? = nil
  ) {
    self.providerID = providerID
    self.rawID = rawID
    self.federatedID = federatedID
    self.email = email
    self.displayName = displayName
    self.photoURL = photoURL
    self.phoneNumber = phoneNumber
    self.screenName = screenName
  }
}

/// A second factor of an account.
public struct MfaEnrollment: IdentityMessage {
  /// The kinds of second factors.
  public enum Factor: IdentityMessage {
    /// Codes by text message to this number, of which a sign-in shows the last four digits only.
    case phone(number: String)

    /// Codes of an authenticator app.
    case totp
  }

  /// Names the factor.
  public var mfaEnrollmentID: String

  /// What kind of factor it is.
  public var factor: Factor

  /// What the user calls it.
  public var displayName: String?

  /// When it was added, in milliseconds since 1970.
  public var enrolledAt: Int64

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - mfaEnrollmentID: Names the factor.
  ///   - factor: What kind of factor it is.
  ///   - displayName: What the user calls it.
  ///   - enrolledAt: When it was added, in milliseconds since 1970.
  public init(mfaEnrollmentID: String, factor: Factor, displayName: String? = nil, enrolledAt: Int64 = 0) {
    self.mfaEnrollmentID = mfaEnrollmentID
    self.factor = factor
    self.displayName = displayName
    self.enrolledAt = enrolledAt
  }
}
