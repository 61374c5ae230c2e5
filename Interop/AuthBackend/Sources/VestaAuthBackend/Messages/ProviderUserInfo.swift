/// A user as one provider describes it.
public struct ProviderUserInfo: AuthMessage {
  /// The provider, such as "google.com"; "password" and "phone" are two.
  public var providerID: String

  /// The user's id there; the address or the number for `password` and `phone`.
  public var rawID: String

  /// The user's id as listed in `providerUserInfo`.
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

  /// Creates a value with these properties.
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
public struct MfaEnrollment: AuthMessage {
  /// The kinds of second factors.
  public enum Factor: AuthMessage {
    /// Codes by text message to this number, of which a sign-in shows the last four digits only.
    case phone(number: String)

    /// Codes of an authenticator app.
    case totp
  }

  /// Names the factor.
  public var mfaEnrollmentID: String

  /// The kind of factor.
  public var factor: Factor

  /// The name that the user gave it.
  public var displayName: String?

  /// The time of the enrolment, in milliseconds since 1970.
  public var enrolledAt: Int64

  /// Creates a value with these properties.
  public init(mfaEnrollmentID: String, factor: Factor, displayName: String? = nil, enrolledAt: Int64 = 0) {
    self.mfaEnrollmentID = mfaEnrollmentID
    self.factor = factor
    self.displayName = displayName
    self.enrolledAt = enrolledAt
  }
}
