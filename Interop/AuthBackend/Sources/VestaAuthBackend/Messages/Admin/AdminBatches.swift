/// The form in which an export has the hashes of passwords.
public enum ExportedHashForm: Sendable, Hashable {
  /// The hash and its salt apart, made as ``AuthAdminBackend/passwordHashing(context:)`` says, for any importer.
  ///
  /// An account whose password was hashed in another way, such as one that was imported and has not signed in since,
  /// has no hash in the export.
  case parts

  /// A text that states how the hash was made, for an import with ``ImportHash/text``; for every account.
  ///
  /// Only Vesta reads it. Keys of hashes that were imported with a signer key are not part of it.
  case text
}

/// A page of all accounts.
public struct BatchGetRequest: AuthMessage {
  /// How many accounts, up to 1000; -1 for all.
  public var maxResults: Int

  /// The token of the page before.
  public var nextPageToken: String?

  /// The form of the hashes.
  public var hashForm: ExportedHashForm

  /// Creates a value with these properties.
  public init(maxResults: Int = 20, nextPageToken: String? = nil, hashForm: ExportedHashForm = .parts) {
    self.maxResults = maxResults
    self.nextPageToken = nextPageToken
    self.hashForm = hashForm
  }
}

/// A page of accounts, with their password hashes.
public struct BatchGetResponse: AuthMessage {
  /// The accounts by user id.
  public var users: [AuthUser]

  /// Gives the next page; `nil` when this one is not full.
  public var nextPageToken: String?

  /// Creates a value with these properties.
  public init(users: [AuthUser], nextPageToken: String? = nil) {
    self.users = users
    self.nextPageToken = nextPageToken
  }
}

/// An account to import.
///
/// Apps as second factors are left out: exports do not have their secrets, so they cannot be imported.
public struct ImportedUser: AuthMessage {
  /// The user's id.
  public var localID: String

  /// The e-mail address.
  public var email: String?

  /// Whether the address counts as verified.
  public var emailVerified: Bool

  /// The display name.
  public var displayName: String?

  /// The URL of the user's picture.
  public var photoURL: String?

  /// The phone number in the international form.
  public var phoneNumber: String?

  /// The password's hash, made as the batch says.
  public var passwordHash: [UInt8]?

  /// The hash's salt.
  public var salt: [UInt8]

  /// The password itself, to be hashed.
  public var rawPassword: String?

  /// Whether the account is disabled.
  public var disabled: Bool

  /// The time of the sign-up, in milliseconds since 1970; `nil` for now.
  public var createdAt: Int64?

  /// The time of the last sign-in, in milliseconds since 1970.
  public var lastLoginAt: Int64?

  /// The time in seconds since 1970 before which issued tokens are invalid.
  public var validSince: Int64?

  /// The custom claims as JSON text.
  public var customAttributes: String?

  /// The users of providers that are linked.
  public var providerUserInfo: [ProviderUserInfo]

  /// The second factors.
  public var mfaFactors: [NewMfaEnrollment]

  /// The tenant of the account; has to be that of the call.
  public var tenantID: String?

  /// The first e-mail address, where it was changed.
  public var initialEmail: String?

  /// Whether the user has signed in by e-mail link.
  public var emailLinkSignIn = false

  /// Whether the account is used with custom tokens.
  public var customAuth = false

  /// The time of the last refresh, in milliseconds since 1970.
  public var lastRefreshAt: Int64?

  /// The time at which the password was set, in milliseconds since 1970; `nil` for now.
  public var passwordUpdatedAt: Int64?

  /// Creates a value with these properties.
  public init(
    localID: String,
    email: String? = nil,
    emailVerified: Bool = false,
    displayName: String? = nil,
    photoURL: String? = nil,
    phoneNumber: String? = nil,
    passwordHash: [UInt8]? = nil,
    salt: [UInt8] = [],
    rawPassword: String? = nil,
    disabled: Bool = false,
    createdAt: Int64? = nil,
    lastLoginAt: Int64? = nil,
    validSince: Int64? = nil,
    customAttributes: String? = nil,
    providerUserInfo: [ProviderUserInfo] = [],
    mfaFactors: [NewMfaEnrollment] = [],
    tenantID: String? = nil
  ) {
    self.localID = localID
    self.email = email
    self.emailVerified = emailVerified
    self.displayName = displayName
    self.photoURL = photoURL
    self.phoneNumber = phoneNumber
    self.passwordHash = passwordHash
    self.salt = salt
    self.rawPassword = rawPassword
    self.disabled = disabled
    self.createdAt = createdAt
    self.lastLoginAt = lastLoginAt
    self.validSince = validSince
    self.customAttributes = customAttributes
    self.providerUserInfo = providerUserInfo
    self.mfaFactors = mfaFactors
    self.tenantID = tenantID
  }
}

/// Accounts to import.
public struct BatchCreateRequest: AuthMessage {
  /// The accounts.
  public var users: [ImportedUser]

  /// How their passwords were hashed.
  public var hash: ImportHash?

  /// Whether accounts that are there are replaced.
  public var allowsOverwrite: Bool

  /// Whether the batch is refused as a whole when it contains something twice.
  public var checksSanity: Bool

  /// Creates a value with these properties.
  public init(
    users: [ImportedUser],
    hash: ImportHash? = nil,
    allowsOverwrite: Bool = false,
    checksSanity: Bool = false
  ) {
    self.users = users
    self.hash = hash
    self.allowsOverwrite = allowsOverwrite
    self.checksSanity = checksSanity
  }
}

/// The accounts that could not be imported; all others were.
public struct BatchCreateResponse: AuthMessage {
  /// An account that was not imported.
  public struct Failure: Sendable, Hashable {
    /// The index in the batch.
    public var index: Int

    /// The error message of the service.
    public var message: String

    /// A failure.
    ///
    /// - Parameters:
    ///   - index: Its position in the batch.
    ///   - message: Why.
    public init(index: Int, message: String) {
      self.index = index
      self.message = message
    }
  }

  /// The failures.
  public var errors: [Failure]

  /// Creates a value with these properties.
  public init(errors: [Failure] = []) {
    self.errors = errors
  }
}

/// Accounts to delete.
public struct BatchDeleteRequest: AuthMessage {
  /// 1 to 1000 users' ids; ids without an account are ignored.
  public var localIDs: [String]

  /// Whether accounts are deleted that are not disabled.
  public var force: Bool

  /// Creates a value with these properties.
  public init(localIDs: [String], force: Bool = false) {
    self.localIDs = localIDs
    self.force = force
  }
}

/// The accounts that were not deleted.
public struct BatchDeleteResponse: AuthMessage {
  /// An account that was not deleted.
  public struct Failure: Sendable, Hashable {
    /// The index in the batch.
    public var index: Int

    /// The user's id.
    public var localID: String

    /// The error message of the service.
    public var message: String

    /// A failure.
    ///
    /// - Parameters:
    ///   - index: Its position in the batch.
    ///   - localID: The user's id.
    ///   - message: Why.
    public init(index: Int, localID: String, message: String) {
      self.index = index
      self.localID = localID
      self.message = message
    }
  }

  /// The failures.
  public var errors: [Failure]

  /// Creates a value with these properties.
  public init(errors: [Failure] = []) {
    self.errors = errors
  }
}
