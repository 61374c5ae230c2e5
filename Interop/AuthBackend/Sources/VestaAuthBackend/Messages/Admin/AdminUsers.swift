/// An account that an administrator makes.
public struct CreateUserRequest: AuthMessage {
  /// The user's id; `nil` for a new one.
  public var localID: String?

  /// The e-mail address.
  public var email: String?

  /// Whether the address counts as verified.
  public var emailVerified: Bool

  /// The password.
  public var password: String?

  /// The display name.
  public var displayName: String?

  /// The URL of the user's picture.
  public var photoURL: String?

  /// The phone number in the international form.
  public var phoneNumber: String?

  /// Whether the account is disabled.
  public var disabled: Bool

  /// The second factors.
  public var mfaFactors: [NewMfaEnrollment]

  /// Creates a value with these properties.
  public init(
    localID: String? = nil,
    email: String? = nil,
    emailVerified: Bool = false,
    password: String? = nil,
    displayName: String? = nil,
    photoURL: String? = nil,
    phoneNumber: String? = nil,
    disabled: Bool = false,
    mfaFactors: [NewMfaEnrollment] = []
  ) {
    self.localID = localID
    self.email = email
    self.emailVerified = emailVerified
    self.password = password
    self.displayName = displayName
    self.photoURL = photoURL
    self.phoneNumber = phoneNumber
    self.disabled = disabled
    self.mfaFactors = mfaFactors
  }
}

/// A second factor that an administrator sets.
public struct NewMfaEnrollment: AuthMessage {
  /// Names the factor; `nil` for a new id.
  public var mfaEnrollmentID: String?

  /// A phone, or an app whose secret the service and the app alone know: an app is kept where the account has one by
  /// this id, and cannot be made.
  public var factor: MfaEnrollment.Factor

  /// The name that the user gave it.
  public var displayName: String?

  /// The time of the enrolment, in milliseconds since 1970; `nil` for now.
  public var enrolledAt: Int64?

  /// Creates a value with these properties.
  public init(
    mfaEnrollmentID: String? = nil, factor: MfaEnrollment.Factor, displayName: String? = nil, enrolledAt: Int64? = nil
  ) {
    self.mfaEnrollmentID = mfaEnrollmentID
    self.factor = factor
    self.displayName = displayName
    self.enrolledAt = enrolledAt
  }

  /// A phone.
  ///
  /// - Parameters:
  ///   - mfaEnrollmentID: Names the factor; `nil` for a new id.
  ///   - phoneNumber: The number in the international form.
  ///   - displayName: The name that the user gave it.
  ///   - enrolledAt: The time of the enrolment; `nil` for now.
  public init(
    mfaEnrollmentID: String? = nil, phoneNumber: String, displayName: String? = nil, enrolledAt: Int64? = nil
  ) {
    self.init(
      mfaEnrollmentID: mfaEnrollmentID, factor: .phone(number: phoneNumber), displayName: displayName,
      enrolledAt: enrolledAt)
  }
}

/// Accounts to look up; missing accounts are left out.
public struct GetUsersRequest: AuthMessage {
  /// Users' ids.
  public var localIDs: [String]

  /// E-mail addresses.
  public var emails: [String]

  /// Phone numbers.
  public var phoneNumbers: [String]

  /// Users of providers.
  public var federatedUserIDs: [FederatedUserID]

  /// The first e-mail addresses of accounts, which they were changed from.
  public var initialEmails: [String]

  /// Creates a value with these properties.
  public init(
    localIDs: [String] = [],
    emails: [String] = [],
    phoneNumbers: [String] = [],
    federatedUserIDs: [FederatedUserID] = [],
    initialEmails: [String] = []
  ) {
    self.localIDs = localIDs
    self.emails = emails
    self.phoneNumbers = phoneNumbers
    self.federatedUserIDs = federatedUserIDs
    self.initialEmails = initialEmails
  }
}

/// A user of an identity provider.
public struct FederatedUserID: AuthMessage {
  /// The provider.
  public var providerID: String

  /// The user's id there.
  public var rawID: String

  /// Creates a value with these properties.
  public init(providerID: String, rawID: String) {
    self.providerID = providerID
    self.rawID = rawID
  }
}

/// Changes that an administrator makes to an account.
///
/// Properties that are `nil` keep their values.
public struct AdminUpdateRequest: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The new e-mail address.
  public var email: String?

  /// Whether the address counts as verified.
  public var emailVerified: Bool?

  /// The new password.
  public var password: String?

  /// The new name to show.
  public var displayName: String?

  /// The URL of the new picture.
  public var photoURL: String?

  /// The new phone number.
  public var phoneNumber: String?

  /// Whether the account is disabled.
  public var disabled: Bool?

  /// The custom claims as JSON text of at most 1000 bytes; `{}` for none.
  public var customAttributes: String?

  /// The time in seconds since 1970 before which issued tokens are invalid.
  public var validSince: Int64?

  /// The time of the sign-up, in milliseconds since 1970.
  public var createdAt: Int64?

  /// The time of the last sign-in, in milliseconds since 1970.
  public var lastLoginAt: Int64?

  /// The attributes to remove.
  public var deleteAttributes: Set<UserAttribute>

  /// The providers to unlink.
  public var deleteProviders: [String]

  /// The ids of the passkeys to remove; an id that the account does not have changes nothing.
  public var deletePasskeys: [String]

  /// A user of a provider to link.
  public var linkProvider: ProviderUserInfo?

  /// The second factors that replace the current ones; an app that is to stay is named by its id.
  public var mfaFactors: [NewMfaEnrollment]?

  /// Creates a value with these properties.
  public init(
    localID: String,
    email: String? = nil,
    emailVerified: Bool? = nil,
    password: String? = nil,
    displayName: String? = nil,
    photoURL: String? = nil,
    phoneNumber: String? = nil,
    disabled: Bool? = nil,
    customAttributes: String? = nil,
    validSince: Int64? = nil,
    createdAt: Int64? = nil,
    lastLoginAt: Int64? = nil,
    deleteAttributes: Set<UserAttribute> = [],
    deleteProviders: [String] = [],
    deletePasskeys: [String] = [],
    linkProvider: ProviderUserInfo? = nil,
    mfaFactors: [NewMfaEnrollment]? = nil
  ) {
    self.localID = localID
    self.email = email
    self.emailVerified = emailVerified
    self.password = password
    self.displayName = displayName
    self.photoURL = photoURL
    self.phoneNumber = phoneNumber
    self.disabled = disabled
    self.customAttributes = customAttributes
    self.validSince = validSince
    self.createdAt = createdAt
    self.lastLoginAt = lastLoginAt
    self.deleteAttributes = deleteAttributes
    self.deleteProviders = deleteProviders
    self.deletePasskeys = deletePasskeys
    self.linkProvider = linkProvider
    self.mfaFactors = mfaFactors
  }
}
