/// An account that an administrator makes.
public struct CreateUserRequest: IdentityMessage {
  /// The user's id; `nil` for a new one.
  public var localID: String?

  /// The e-mail address.
  public var email: String?

  /// Whether the address counts as verified.
  public var emailVerified: Bool

  /// The password.
  public var password: String?

  /// The name to show.
  public var displayName: String?

  /// Where the user's picture is.
  public var photoURL: String?

  /// The phone number in the international form.
  public var phoneNumber: String?

  /// Whether the account is disabled.
  public var disabled: Bool

  /// The second factors.
  public var mfaFactors: [NewMfaEnrollment]

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - localID: The user's id.
  ///   - email: The e-mail address.
  ///   - emailVerified: Whether the address counts as verified.
  ///   - password: The password.
  ///   - displayName: The name to show.
  ///   - photoURL: Where the user's picture is.
  ///   - phoneNumber: The phone number in the international form.
  ///   - disabled: Whether the account is disabled.
  ///   - mfaFactors: The second factors.
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
public struct NewMfaEnrollment: IdentityMessage {
  /// Names the factor; `nil` for a new id.
  public var mfaEnrollmentID: String?

  /// The phone number in the international form.
  public var phoneNumber: String

  /// What the user calls it.
  public var displayName: String?

  /// When it was added, in milliseconds since 1970; `nil` for now.
  public var enrolledAt: Int64?

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - mfaEnrollmentID: Names the factor.
  ///   - phoneNumber: The phone number in the international form.
  ///   - displayName: What the user calls it.
  ///   - enrolledAt: When it was added, in milliseconds since 1970.
  public init(
    mfaEnrollmentID: String? = nil,
    phoneNumber: String,
    displayName: String? = nil,
    enrolledAt: Int64? = nil
  ) {
    self.mfaEnrollmentID = mfaEnrollmentID
    self.phoneNumber = phoneNumber
    self.displayName = displayName
    self.enrolledAt = enrolledAt
  }
}

/// Accounts to look up; those that are not there are left out.
public struct GetUsersRequest: IdentityMessage {
  /// Users' ids.
  public var localIDs: [String]

  /// E-mail addresses.
  public var emails: [String]

  /// Phone numbers.
  public var phoneNumbers: [String]

  /// Users of providers.
  public var federatedUserIDs: [FederatedUserID]

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - localIDs: Users' ids.
  ///   - emails: E-mail addresses.
  ///   - phoneNumbers: Phone numbers.
  ///   - federatedUserIDs: Users of providers.
  public init(
    localIDs: [String] = [],
    emails: [String] = [],
    phoneNumbers: [String] = [],
    federatedUserIDs: [FederatedUserID] = []
  ) {
    self.localIDs = localIDs
    self.emails = emails
    self.phoneNumbers = phoneNumbers
    self.federatedUserIDs = federatedUserIDs
  }
}

/// A user of an identity provider.
public struct FederatedUserID: IdentityMessage {
  /// The provider.
  public var providerID: String

  /// The user's id there.
  public var rawID: String

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - providerID: The provider.
  ///   - rawID: The user's id there.
  public init(providerID: String, rawID: String) {
    self.providerID = providerID
    self.rawID = rawID
  }
}

/// Changes that an administrator makes to an account.
///
/// What is `nil` stays as it is.
public struct AdminUpdateRequest: IdentityMessage {
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

  /// Where the new picture is.
  public var photoURL: String?

  /// The new phone number.
  public var phoneNumber: String?

  /// Whether the account is disabled.
  public var disabled: Bool?

  /// The custom claims as JSON text of at most 1000 bytes; `{}` for none.
  public var customAttributes: String?

  /// Tokens that were issued before count no more, in seconds since 1970.
  public var validSince: Int64?

  /// When the account was made, in milliseconds since 1970.
  public var createdAt: Int64?

  /// When the user last signed in, in milliseconds since 1970.
  public var lastLoginAt: Int64?

  /// What to take away.
  public var deleteAttributes: Set<UserAttribute>

  /// The providers to unlink.
  public var deleteProviders: [String]

  /// A user of a provider to link.
  public var linkProvider: ProviderUserInfo?

  /// The second factors that are to be there instead of the present ones.
  public var mfaFactors: [NewMfaEnrollment]?

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - localID: The user's id.
  ///   - email: The new e-mail address.
  ///   - emailVerified: Whether the address counts as verified.
  ///   - password: The new password.
  ///   - displayName: The new name to show.
  ///   - photoURL: Where the new picture is.
  ///   - phoneNumber: The new phone number.
  ///   - disabled: Whether the account is disabled.
  ///   - customAttributes: The custom claims as JSON text of at most 1000 bytes.
  ///   - validSince: Tokens that were issued before count no more, in seconds since 1970.
  ///   - createdAt: When the account was made, in milliseconds since 1970.
  ///   - lastLoginAt: When the user last signed in, in milliseconds since 1970.
  ///   - deleteAttributes: What to take away.
  ///   - deleteProviders: The providers to unlink.
  ///   - linkProvider: A user of a provider to link.
  ///   - mfaFactors: The second factors that are to be there instead of the present ones.
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
    self.linkProvider = linkProvider
    self.mfaFactors = mfaFactors
  }
}

/// Which accounts to count, or to give.
public struct QueryUsersRequest: IdentityMessage {
  /// Whether the accounts are given too.
  public var returnsUsers: Bool

  /// Whether the largest user id comes first.
  public var isDescending: Bool

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - returnsUsers: Whether the accounts are given too.
  ///   - isDescending: Whether the largest user id comes first.
  public init(returnsUsers: Bool = true, isDescending: Bool = false) {
    self.returnsUsers = returnsUsers
    self.isDescending = isDescending
  }
}

/// The accounts of the project or the tenant.
public struct QueryUsersResponse: IdentityMessage {
  /// How many there are.
  public var count: Int

  /// The accounts by user id.
  public var users: [IdentityUser]

  /// All parts of it.
  ///
  /// - Parameters:
  ///   - count: How many there are.
  ///   - users: The accounts by user id.
  public init(count: Int, users: [IdentityUser] = []) {
    self.count = count
    self.users = users
  }
}
