/// The password policy.
public struct PasswordPolicy: AuthMessage {
  /// The fewest characters, 6 to 30.
  public var minimumLength: Int

  /// The most characters, up to 4096.
  public var maximumLength: Int

  /// Whether there has to be a lower-case letter.
  public var requiresLowercase: Bool

  /// Whether there has to be an upper-case letter.
  public var requiresUppercase: Bool

  /// Whether a password needs a digit.
  public var requiresNumeric: Bool

  /// Whether there has to be one of the other characters.
  public var requiresNonAlphanumeric: Bool

  /// The characters that count as others.
  public var allowedNonAlphanumericCharacters: String

  /// Whether passwords that break the policy are refused; otherwise 6 characters are enough.
  public var isEnforced: Bool

  /// Whether also a sign-in is refused with a password that breaks it.
  public var forcesUpgradeOnSignIn: Bool

  /// The version of this description.
  public var schemaVersion: Int

  /// Creates a value with these properties.
  public init(
    minimumLength: Int = 6,
    maximumLength: Int = 4096,
    requiresLowercase: Bool = false,
    requiresUppercase: Bool = false,
    requiresNumeric: Bool = false,
    requiresNonAlphanumeric: Bool = false,
    allowedNonAlphanumericCharacters: String = "^$*.[]{}()?\"!@#%&/\\,><':;|_~-+= ",
    isEnforced: Bool = false,
    forcesUpgradeOnSignIn: Bool = false,
    schemaVersion: Int = 1
  ) {
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
    self.requiresLowercase = requiresLowercase
    self.requiresUppercase = requiresUppercase
    self.requiresNumeric = requiresNumeric
    self.requiresNonAlphanumeric = requiresNonAlphanumeric
    self.allowedNonAlphanumericCharacters = allowedNonAlphanumericCharacters
    self.isEnforced = isEnforced
    self.forcesUpgradeOnSignIn = forcesUpgradeOnSignIn
    self.schemaVersion = schemaVersion
  }
}

/// Returns the part of the project's settings that clients may read.
public struct PublicProjectConfig: AuthMessage {
  /// The project.
  public var projectID: String

  /// The domains that links may lead to.
  public var authorizedDomains: [String]

  /// Creates a value with these properties.
  public init(projectID: String, authorizedDomains: [String]) {
    self.projectID = projectID
    self.authorizedDomains = authorizedDomains
  }
}

/// The keys with which tokens can be verified.
public struct PublicKeysResponse: AuthMessage {
  /// A JSON Web Key Set (RFC 7517) as UTF-8.
  public var jwks: [UInt8]

  /// For how many seconds it may be kept.
  public var maximumAge: Int64

  /// Creates a value with these properties.
  public init(jwks: [UInt8], maximumAge: Int64) {
    self.jwks = jwks
    self.maximumAge = maximumAge
  }
}

/// The keys with which tokens can be verified, each in a certificate that it has signed itself.
public struct CertificatesResponse: AuthMessage {
  /// The certificates as PEM text, by the `kid` of their keys.
  public var certificates: [String: String]

  /// For how many seconds they may be kept.
  public var maximumAge: Int64

  /// Creates a value with these properties.
  public init(certificates: [String: String], maximumAge: Int64) {
    self.certificates = certificates
    self.maximumAge = maximumAge
  }
}
