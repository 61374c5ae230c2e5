/// Whether second factors can be used.
public enum MfaState: String, Sendable, Hashable, CaseIterable {
  /// They cannot.
  case disabled = "DISABLED"

  /// Users may add them.
  case enabled = "ENABLED"

  /// Users have to add them.
  case mandatory = "MANDATORY"
}

/// The ways to sign in that a project or a tenant allows.
public struct SignInSettings: AuthMessage {
  /// Whether accounts may have passwords.
  public var allowsPasswords: Bool

  /// Whether users may sign in by e-mail link.
  public var allowsEmailLinks: Bool

  /// Whether anonymous accounts can be made.
  public var allowsAnonymous: Bool

  /// Whether users may sign in by phone; never in a tenant.
  public var allowsPhone: Bool

  /// Whether all sign-ins are refused.
  public var isDisabled: Bool

  /// Whether second factors can be used.
  public var mfaState: MfaState

  /// Whether phones can be second factors.
  public var allowsPhoneFactors: Bool

  /// Whether authenticator apps can be second factors.
  public var allowsTotpFactors: Bool

  /// Creates a value with these properties.
  public init(
    allowsPasswords: Bool = true,
    allowsEmailLinks: Bool = true,
    allowsAnonymous: Bool = true,
    allowsPhone: Bool = true,
    isDisabled: Bool = false,
    mfaState: MfaState = .enabled,
    allowsPhoneFactors: Bool = true,
    allowsTotpFactors: Bool = true
  ) {
    self.allowsPasswords = allowsPasswords
    self.allowsEmailLinks = allowsEmailLinks
    self.allowsAnonymous = allowsAnonymous
    self.allowsPhone = allowsPhone
    self.isDisabled = isDisabled
    self.mfaState = mfaState
    self.allowsPhoneFactors = allowsPhoneFactors
    self.allowsTotpFactors = allowsTotpFactors
  }
}

/// The settings of the project.
public struct ProjectConfig: AuthMessage {
  /// The allowed ways to sign in.
  public var signIn: SignInSettings

  /// Whether several accounts may have one e-mail address, by way of providers.
  public var allowsDuplicateEmails: Bool

  /// Whether answers hide which addresses have accounts.
  public var hidesEmails: Bool

  /// The password policy.
  public var passwordPolicy: PasswordPolicy

  /// The domains that links may lead to; tenants use them too.
  public var authorizedDomains: [String]

  /// The functions that are asked before accounts are created and before users sign in.
  public var blockingFunctions: BlockingFunctionSettings

  /// Creates a value with these properties.
  public init(
    signIn: SignInSettings = SignInSettings(),
    allowsDuplicateEmails: Bool = false,
    hidesEmails: Bool = true,
    passwordPolicy: PasswordPolicy = PasswordPolicy(),
    authorizedDomains: [String] = ["localhost"],
    blockingFunctions: BlockingFunctionSettings = BlockingFunctionSettings()
  ) {
    self.blockingFunctions = blockingFunctions
    self.signIn = signIn
    self.allowsDuplicateEmails = allowsDuplicateEmails
    self.hidesEmails = hidesEmails
    self.passwordPolicy = passwordPolicy
    self.authorizedDomains = authorizedDomains
  }
}

/// A tenant: a separate set of users within the project.
public struct Tenant: AuthMessage {
  /// Names the tenant.
  public var tenantID: String

  /// The name.
  public var displayName: String?

  /// The allowed ways to sign in.
  public var signIn: SignInSettings

  /// Creates a value with these properties.
  public init(tenantID: String, displayName: String? = nil, signIn: SignInSettings = SignInSettings()) {
    self.tenantID = tenantID
    self.displayName = displayName
    self.signIn = signIn
  }
}

/// A tenant to make.
public struct CreateTenantRequest: AuthMessage {
  /// The id, for a tenant of an export; `nil` for one that the service chooses.
  public var tenantID: String?

  /// The name; an id that the service chooses begins with it.
  public var displayName: String?

  /// The allowed ways to sign in.
  public var signIn: SignInSettings

  /// Creates a value with these properties.
  public init(
    tenantID: String? = nil, displayName: String? = nil, signIn: SignInSettings = SignInSettings()
  ) {
    self.tenantID = tenantID
    self.displayName = displayName
    self.signIn = signIn
  }
}

/// Changes to a tenant; what is `nil` stays as it is.
public struct UpdateTenantRequest: AuthMessage {
  /// The tenant.
  public var tenantID: String

  /// The name.
  public var displayName: String?

  /// The allowed ways to sign in.
  public var signIn: SignInSettings?

  /// Creates a value with these properties.
  public init(tenantID: String, displayName: String? = nil, signIn: SignInSettings? = nil) {
    self.tenantID = tenantID
    self.displayName = displayName
    self.signIn = signIn
  }
}

/// A page of the tenants.
public struct ListTenantsRequest: AuthMessage {
  /// How many tenants, 1 to 1000.
  public var pageSize: Int

  /// The token of the page before.
  public var pageToken: String?

  /// Creates a value with these properties.
  public init(pageSize: Int = 20, pageToken: String? = nil) {
    self.pageSize = pageSize
    self.pageToken = pageToken
  }
}

/// A page of the tenants.
public struct ListTenantsResponse: AuthMessage {
  /// The tenants by id.
  public var tenants: [Tenant]

  /// Gives the next page; `nil` after the last one.
  public var nextPageToken: String?

  /// Creates a value with these properties.
  public init(tenants: [Tenant], nextPageToken: String? = nil) {
    self.tenants = tenants
    self.nextPageToken = nextPageToken
  }
}
