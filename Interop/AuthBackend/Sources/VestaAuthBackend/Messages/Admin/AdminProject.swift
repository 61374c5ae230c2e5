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

extension SignInSettings {
  /// One of the settings, for a change of some of them.
  public enum Member: Sendable, Hashable, CaseIterable {
    /// ``SignInSettings/allowsPasswords``.
    case allowsPasswords
    /// ``SignInSettings/allowsEmailLinks``.
    case allowsEmailLinks
    /// ``SignInSettings/allowsAnonymous``.
    case allowsAnonymous
    /// ``SignInSettings/allowsPhone``.
    case allowsPhone
    /// ``SignInSettings/isDisabled``.
    case isDisabled
    /// ``SignInSettings/mfaState``.
    case mfaState
    /// ``SignInSettings/allowsPhoneFactors``.
    case allowsPhoneFactors
    /// ``SignInSettings/allowsTotpFactors``.
    case allowsTotpFactors
  }

  /// Takes one setting from other settings.
  mutating func take(_ member: Member, from other: SignInSettings) {
    switch member {
    case .allowsPasswords: allowsPasswords = other.allowsPasswords
    case .allowsEmailLinks: allowsEmailLinks = other.allowsEmailLinks
    case .allowsAnonymous: allowsAnonymous = other.allowsAnonymous
    case .allowsPhone: allowsPhone = other.allowsPhone
    case .isDisabled: isDisabled = other.isDisabled
    case .mfaState: mfaState = other.mfaState
    case .allowsPhoneFactors: allowsPhoneFactors = other.allowsPhoneFactors
    case .allowsTotpFactors: allowsTotpFactors = other.allowsTotpFactors
    }
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

extension ProjectConfig {
  /// One of the settings, for a change of some of them.
  public enum Member: Sendable, Hashable, CaseIterable {
    /// A member of ``ProjectConfig/signIn``.
    case signIn(SignInSettings.Member)
    /// ``ProjectConfig/allowsDuplicateEmails``.
    case allowsDuplicateEmails
    /// ``ProjectConfig/hidesEmails``.
    case hidesEmails
    /// ``ProjectConfig/passwordPolicy`` as a whole.
    case passwordPolicy
    /// ``ProjectConfig/authorizedDomains``.
    case authorizedDomains
    /// ``ProjectConfig/blockingFunctions`` as a whole.
    case blockingFunctions

    /// Every setting.
    public static var allCases: [Member] {
      SignInSettings.Member.allCases.map(Member.signIn)
        + [.allowsDuplicateEmails, .hidesEmails, .passwordPolicy, .authorizedDomains, .blockingFunctions]
    }
  }

  /// Takes some settings from other settings.
  ///
  /// - Parameters:
  ///   - members: The settings to take.
  ///   - other: Has their values.
  public mutating func take(_ members: Set<Member>, from other: ProjectConfig) {
    for member in members {
      switch member {
      case .signIn(let setting): signIn.take(setting, from: other.signIn)
      case .allowsDuplicateEmails: allowsDuplicateEmails = other.allowsDuplicateEmails
      case .hidesEmails: hidesEmails = other.hidesEmails
      case .passwordPolicy: passwordPolicy = other.passwordPolicy
      case .authorizedDomains: authorizedDomains = other.authorizedDomains
      case .blockingFunctions: blockingFunctions = other.blockingFunctions
      }
    }
  }
}

/// A change of some settings of the project; all others stay as they are when the change is made.
public struct ProjectConfigChange: AuthMessage {
  /// Has the new values.
  public var config: ProjectConfig

  /// The settings that are changed.
  public var members: Set<ProjectConfig.Member>

  /// Creates a value with these properties.
  public init(_ config: ProjectConfig, members: Set<ProjectConfig.Member>) {
    self.config = config
    self.members = members
  }
}
