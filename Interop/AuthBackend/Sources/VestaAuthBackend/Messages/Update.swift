/// Changes to the account of an ID token, or a code that was sent by e-mail.
///
/// Properties that are `nil` keep their values.
public struct UpdateRequest: AuthMessage {
  /// The ID token of the account.
  public var idToken: String?

  /// A code to verify, change or recover an e-mail address; nothing else counts then.
  public var oobCode: String?

  /// The new e-mail address.
  public var email: String?

  /// The new password.
  public var password: String?

  /// The new name to show.
  public var displayName: String?

  /// The URL of the new picture.
  public var photoURL: String?

  /// The attributes to remove.
  public var deleteAttributes: Set<UserAttribute>

  /// The providers to unlink; "password" and "phone" are two.
  public var deleteProviders: [String]

  /// The ids of the passkeys to remove; an id that the account does not have changes nothing.
  public var deletePasskeys: [String]

  /// Creates a value with these properties.
  public init(
    idToken: String? = nil,
    oobCode: String? = nil,
    email: String? = nil,
    password: String? = nil,
    displayName: String? = nil,
    photoURL: String? = nil,
    deleteAttributes: Set<UserAttribute> = [],
    deleteProviders: [String] = [],
    deletePasskeys: [String] = []
  ) {
    self.idToken = idToken
    self.oobCode = oobCode
    self.email = email
    self.password = password
    self.displayName = displayName
    self.photoURL = photoURL
    self.deleteAttributes = deleteAttributes
    self.deleteProviders = deleteProviders
    self.deletePasskeys = deletePasskeys
  }
}

/// A part of an account that can be taken away.
public enum UserAttribute: String, Sendable, Hashable, CaseIterable {
  /// The e-mail address.
  case email = "EMAIL"

  /// The display name.
  case displayName = "DISPLAY_NAME"

  /// The picture.
  case photoURL = "PHOTO_URL"

  /// The password.
  case password = "PASSWORD"
}

/// The account after the change.
public struct UpdateResponse: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The e-mail address.
  public var email: String?

  /// The address that a code changed to.
  public var newEmail: String?

  /// Whether the address is verified.
  public var emailVerified: Bool

  /// The display name.
  public var displayName: String?

  /// The URL of the picture.
  public var photoURL: String?

  /// Whether there is a password.
  public var hasPassword: Bool

  /// The user as each provider describes it.
  public var providerUserInfo: [ProviderUserInfo]

  /// New tokens, where the change ended the previous ones.
  public var tokens: AuthTokens?

  /// Creates a value with these properties.
  public init(
    localID: String,
    email: String? = nil,
    newEmail: String? = nil,
    emailVerified: Bool = false,
    displayName: String? = nil,
    photoURL: String? = nil,
    hasPassword: Bool = false,
    providerUserInfo: [ProviderUserInfo] = [],
    tokens: AuthTokens? = nil
  ) {
    self.localID = localID
    self.email = email
    self.newEmail = newEmail
    self.emailVerified = emailVerified
    self.displayName = displayName
    self.photoURL = photoURL
    self.hasPassword = hasPassword
    self.providerUserInfo = providerUserInfo
    self.tokens = tokens
  }
}

/// The account to delete.
public struct DeleteRequest: AuthMessage {
  /// The ID token of the account.
  public var idToken: String

  /// Creates a value with these properties.
  public init(idToken: String) {
    self.idToken = idToken
  }
}
