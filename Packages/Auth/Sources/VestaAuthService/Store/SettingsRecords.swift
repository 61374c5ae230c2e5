import VestaAuthBackend
import VestaBytes

// Settings as they are kept: the value types of the seam with a schema around them. A field that is absent has its
// default: `false`, zero, an empty string or list.

/// The settings of the project.
struct ConfigRecord: FieldRecord, Equatable {
  var config = ProjectConfig()

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    var signIn = SettingsRecord(settings: config.signIn)
    var policy = PolicyRecord(policy: config.passwordPolicy)
    try visitor.field(1, &signIn)
    try visitor.field(2, &config.allowsDuplicateEmails)
    try visitor.field(3, &config.hidesEmails)
    try visitor.field(4, &config.authorizedDomains)
    try visitor.field(5, &policy)
    let none = BlockingFunctionSettings()
    var blocking = config.blockingFunctions == none ? nil : BlockingRecord(settings: config.blockingFunctions)
    try visitor.field(6, &blocking)
    config.blockingFunctions = blocking?.settings ?? none
    config.signIn = signIn.settings
    config.passwordPolicy = policy.policy
  }
}

/// A tenant.
struct TenantRecord: FieldRecord, Equatable {
  var displayName: String?
  var signIn = SignInSettings()

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    var settings = SettingsRecord(settings: signIn)
    try visitor.field(1, &displayName)
    try visitor.field(2, &settings)
    signIn = settings.settings
  }

  func tenant(_ id: String) -> Tenant { Tenant(tenantID: id, displayName: displayName, signIn: signIn) }
}

/// `SignInSettings` as it is kept.
private struct SettingsRecord: FieldRecord {
  var settings = SignInSettings()

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &settings.allowsPasswords)
    try visitor.field(2, &settings.allowsEmailLinks)
    try visitor.field(3, &settings.allowsAnonymous)
    try visitor.field(4, &settings.allowsPhone)
    try visitor.field(5, &settings.isDisabled)
    try visitor.field(6, &settings.mfaState)
    try visitor.field(7, &settings.allowsPhoneFactors)
    try visitor.field(8, &settings.allowsTotpFactors)
  }
}

/// `PasswordPolicy` as it is kept.
private struct PolicyRecord: FieldRecord {
  var policy = PasswordPolicy()

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &policy.minimumLength)
    try visitor.field(2, &policy.maximumLength)
    try visitor.field(3, &policy.requiresLowercase)
    try visitor.field(4, &policy.requiresUppercase)
    try visitor.field(5, &policy.requiresNumeric)
    try visitor.field(6, &policy.requiresNonAlphanumeric)
    try visitor.field(7, &policy.allowedNonAlphanumericCharacters)
    try visitor.field(8, &policy.isEnforced)
    try visitor.field(9, &policy.forcesUpgradeOnSignIn)
  }
}

/// `BlockingFunctionSettings` as they are kept.
private struct BlockingRecord: FieldRecord {
  var settings = BlockingFunctionSettings()

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &settings.beforeCreate)
    try visitor.field(2, &settings.beforeSignIn)
    try visitor.field(3, &settings.forwardsAccessTokens)
    try visitor.field(4, &settings.forwardsIDTokens)
    try visitor.field(5, &settings.forwardsRefreshTokens)
  }
}

/// The guesses at one account as all processes of a store have it.
struct SharedGuesses: FieldRecord, Equatable {
  /// When the bucket will be full again.
  var fullAt: Int64 = 0
  /// The hash of the address, where several addresses share the row.
  var name: Int64 = 0

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &fullAt)
    try visitor.field(2, &name)
  }
}
