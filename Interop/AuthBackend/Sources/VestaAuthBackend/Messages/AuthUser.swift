/// An account as the service shows it.
public struct AuthUser: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The e-mail address, in lower case.
  public var email: String?

  /// Whether the user has shown to read that mailbox.
  public var emailVerified: Bool

  /// The display name.
  public var displayName: String?

  /// The URL of the user's picture.
  public var photoURL: String?

  /// The phone number in the international form.
  public var phoneNumber: String?

  /// Whether there is a password.
  public var hasPassword: Bool

  /// The password's hash as Base64, for administrators who export; `nil` in a look-up.
  public var passwordHash: String?

  /// The hash's salt as Base64, for administrators who export.
  public var salt: String?

  /// The time at which the password was set, in milliseconds since 1970.
  public var passwordUpdatedAt: Int64?

  /// The time in seconds since 1970 before which issued tokens are invalid.
  public var validSince: Int64?

  /// Whether an administrator has disabled the account.
  public var disabled: Bool

  /// The time of the sign-up, in milliseconds since 1970.
  public var createdAt: Int64

  /// The time of the last sign-in, in milliseconds since 1970.
  public var lastLoginAt: Int64?

  /// The time of the last refresh, in milliseconds since 1970.
  public var lastRefreshAt: Int64?

  /// Whether the account is used with custom tokens.
  public var customAuth: Bool

  /// The custom claims, as JSON text.
  public var customAttributes: String?

  /// The tenant that the account belongs to.
  public var tenantID: String?

  /// The first e-mail address, where it was changed.
  public var initialEmail: String?

  /// Whether the user has signed in by e-mail link.
  public var emailLinkSignIn: Bool

  /// The second factors.
  public var mfaInfo: [MfaEnrollment]

  /// The user as each provider describes it.
  public var providerUserInfo: [ProviderUserInfo]

  /// The passkeys.
  public var passkeys: [PasskeyInfo]

  /// Creates a value with these properties.
  public init(
    localID: String,
    email: String? = nil,
    emailVerified: Bool = false,
    displayName: String? = nil,
    photoURL: String? = nil,
    phoneNumber: String? = nil,
    hasPassword: Bool = false,
    passwordHash: String? = nil,
    salt: String? = nil,
    passwordUpdatedAt: Int64? = nil,
    validSince: Int64? = nil,
    disabled: Bool = false,
    createdAt: Int64 = 0,
    lastLoginAt: Int64? = nil,
    lastRefreshAt: Int64? = nil,
    customAuth: Bool = false,
    customAttributes: String? = nil,
    tenantID: String? = nil,
    initialEmail: String? = nil,
    emailLinkSignIn: Bool = false,
    mfaInfo: [MfaEnrollment] = [],
    providerUserInfo: [ProviderUserInfo] = [],
    passkeys: [PasskeyInfo] = []
  ) {
    self.localID = localID
    self.email = email
    self.emailVerified = emailVerified
    self.displayName = displayName
    self.photoURL = photoURL
    self.phoneNumber = phoneNumber
    self.hasPassword = hasPassword
    self.passwordHash = passwordHash
    self.salt = salt
    self.passwordUpdatedAt = passwordUpdatedAt
    self.validSince = validSince
    self.disabled = disabled
    self.createdAt = createdAt
    self.lastLoginAt = lastLoginAt
    self.lastRefreshAt = lastRefreshAt
    self.customAuth = customAuth
    self.customAttributes = customAttributes
    self.tenantID = tenantID
    self.initialEmail = initialEmail
    self.emailLinkSignIn = emailLinkSignIn
    self.mfaInfo = mfaInfo
    self.providerUserInfo = providerUserInfo
    self.passkeys = passkeys
  }
}
