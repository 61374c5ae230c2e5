import VestaAuthFields
import VestaCryptoInterop
import VestaAuthBackend

/// A session: what a refresh token stands for.
///
/// The token itself is not kept, only its SHA-256, in the key behind the account.
struct SessionRecord: Sendable, Equatable {
  /// The user's epoch at the sign-in.
  var epoch: Int64
  var facts: SessionFacts
}

/// Something that is handed out once and comes back once: a code, a proof, a step of a sign-in.
///
/// The secret itself is not kept, only its SHA-256, as the key.
struct TicketRecord: Sendable, Codable, Equatable {
  enum Purpose: String, Sendable, Codable {
    case oobCode, phoneCode, temporaryProof, mfaPending, mfaPhoneEnrollment, mfaTotpEnrollment, mfaPhoneSignIn
  }

  var purpose: Purpose
  var tenant: String
  var expiresAt: Int64
  var localID: String?
  /// The epoch of the account when the ticket was issued.
  var epoch: Int64?
  var email: String?
  var newEmail: String?
  /// Whether `email` was proven to be the account's when it was replaced; for recoveries.
  var wasVerified: Bool?
  var requestType: String?
  var phoneNumber: String?
  /// The SHA-256 of the secret together with the six digits.
  var codeHash: [UInt8]?
  /// How many wrong digits have been tried.
  var failures = 0
  var totpSecret: [UInt8]?
  var factorID: String?
  var facts: SessionFacts?

  init(_ purpose: Purpose, tenant: String, expiresAt: Int64) {
    self.purpose = purpose
    self.tenant = tenant
    self.expiresAt = expiresAt
  }
}

/// The keys that sign tokens.
struct SigningKeysRecord: Sendable, Codable, Equatable {
  struct Key: Sendable, Codable, Equatable {
    var id: String
    /// Private PEM.
    var pem: String
    var createdAt: Int64
    /// When another one took its place.
    var retiredAt: Int64?
  }

  var current: Key
  var previous: [Key] = []
}

/// The account of the servers that sign custom tokens.
struct ServiceAccountRecord: Sendable, Codable, Equatable {
  var clientEmail: String
  var keyID: String
  /// Private PEM.
  var pem: String
}

/// The settings of the project.
struct ConfigRecord: Sendable, Codable, Equatable {
  var signIn: SettingsRecord
  var allowsDuplicateEmails: Bool
  var hidesEmails: Bool
  var authorizedDomains: [String]
  var policy: PolicyRecord

  init(_ config: ProjectConfig) {
    signIn = SettingsRecord(config.signIn)
    allowsDuplicateEmails = config.allowsDuplicateEmails
    hidesEmails = config.hidesEmails
    authorizedDomains = config.authorizedDomains
    policy = PolicyRecord(config.passwordPolicy)
  }

  var config: ProjectConfig {
    ProjectConfig(
      signIn: signIn.settings, allowsDuplicateEmails: allowsDuplicateEmails, hidesEmails: hidesEmails,
      passwordPolicy: policy.policy, authorizedDomains: authorizedDomains)
  }
}

/// A tenant.
struct TenantRecord: Sendable, Codable, Equatable {
  var displayName: String?
  var signIn: SettingsRecord

  func tenant(_ id: String) -> Tenant { Tenant(tenantID: id, displayName: displayName, signIn: signIn.settings) }
}

/// `SignInSettings` as it is kept.
struct SettingsRecord: Sendable, Codable, Equatable {
  var passwords, emailLinks, anonymous, phone, disabled: Bool
  var mfa: String
  var phoneFactors, totpFactors: Bool

  init(_ settings: SignInSettings) {
    passwords = settings.allowsPasswords
    emailLinks = settings.allowsEmailLinks
    anonymous = settings.allowsAnonymous
    phone = settings.allowsPhone
    disabled = settings.isDisabled
    mfa = settings.mfaState.rawValue
    phoneFactors = settings.allowsPhoneFactors
    totpFactors = settings.allowsTotpFactors
  }

  var settings: SignInSettings {
    SignInSettings(
      allowsPasswords: passwords, allowsEmailLinks: emailLinks, allowsAnonymous: anonymous, allowsPhone: phone,
      isDisabled: disabled, mfaState: MfaState(rawValue: mfa) ?? .disabled, allowsPhoneFactors: phoneFactors,
      allowsTotpFactors: totpFactors)
  }
}

/// `PasswordPolicy` as it is kept.
struct PolicyRecord: Sendable, Codable, Equatable {
  var minimum, maximum: Int
  var lowercase, uppercase, numeric, other: Bool
  var allowedOthers: String
  var isEnforced, forcesUpgrade: Bool

  init(_ policy: PasswordPolicy) {
    minimum = policy.minimumLength
    maximum = policy.maximumLength
    lowercase = policy.requiresLowercase
    uppercase = policy.requiresUppercase
    numeric = policy.requiresNumeric
    other = policy.requiresNonAlphanumeric
    allowedOthers = policy.allowedNonAlphanumericCharacters
    isEnforced = policy.isEnforced
    forcesUpgrade = policy.forcesUpgradeOnSignIn
  }

  var policy: PasswordPolicy {
    PasswordPolicy(
      minimumLength: minimum, maximumLength: maximum, requiresLowercase: lowercase, requiresUppercase: uppercase,
      requiresNumeric: numeric, requiresNonAlphanumeric: other, allowedNonAlphanumericCharacters: allowedOthers,
      isEnforced: isEnforced, forcesUpgradeOnSignIn: forcesUpgrade)
  }
}

/// Records as bytes: one byte for the form, then JSON, or fields where the record is a `CompactRecord`.
enum RecordCodec {
  static let json: UInt8 = 1
  static let fields: UInt8 = 2

  static func encode(_ record: some Encodable) throws -> [UInt8] { [json] + (try encodeJSON(record)) }

  static func encode(_ record: some CompactRecord) -> [UInt8] {
    var writer = FieldWriter(after: [fields])
    // One field around all, as its length tells a record that was cut off between two fields.
    writer.put(1, record.write)
    return writer.bytes
  }

  static func decode<Record: Decodable>(_ type: Record.Type, from bytes: [UInt8]) throws -> Record {
    guard bytes.first == json else { throw foreign(type) }
    do {
      return try decodeJSON(type, from: bytes.dropFirst())
    } catch {
      throw IdentityError(.internalError, "A \(type) in the store is damaged.")
    }
  }

  static func decode<Record: CompactRecord>(_ type: Record.Type, from bytes: [UInt8]) throws -> Record {
    guard bytes.first == fields else { throw foreign(type) }
    do {
      var reader = FieldReader(bytes.dropFirst())
      guard let record = try reader.next() else { throw FieldError() }
      return try Record(try record.fields())
    } catch {
      throw IdentityError(.internalError, "A \(type) in the store is damaged.")
    }
  }

  private static func foreign(_ type: Any.Type) -> IdentityError {
    IdentityError(.internalError, "A \(type) in the store was written by another version of Vesta.")
  }
}
