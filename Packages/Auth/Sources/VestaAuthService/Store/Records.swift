import VestaAuthBackend
import VestaBytes

/// The session of a refresh token.
///
/// The token itself is not kept, only its SHA-256, in the key after the account.
struct SessionRecord: FieldRecord, Equatable {
  /// The epoch of the account at the sign-in.
  var epoch: Int64 = 0
  var facts = SessionFacts()

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    var (factorID, factorKind) = (facts.secondFactor?.identifier, facts.secondFactor?.provider)
    try visitor.field(1, &epoch)
    try visitor.field(2, &facts.provider)
    try visitor.field(3, &facts.authTime)
    try visitor.field(4, &facts.claims)
    try visitor.field(5, &factorID)
    try visitor.field(6, &factorKind)
    if let factorID, let factorKind {
      facts.secondFactor = SessionFacts.SecondFactor(identifier: factorID, provider: factorKind)
    }
  }
}

/// Something that is handed out once and returned once: a code, a proof, a step of a sign-in.
///
/// The secret itself is not kept, only its SHA-256, as the key.
struct TicketRecord: FieldRecord, Equatable {
  enum Purpose: String, Sendable {
    case oobCode, phoneCode, temporaryProof, mfaPending, mfaPhoneEnrollment, mfaTotpEnrollment, mfaPhoneSignIn
    case passkeyEnrollment, passkeySignIn
  }

  var purpose: Purpose
  var tenant: TenantKey
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

  init() { self.init(.oobCode, tenant: .project, expiresAt: 0) }

  init(_ purpose: Purpose, tenant: TenantKey, expiresAt: Int64) {
    self.purpose = purpose
    self.tenant = tenant
    self.expiresAt = expiresAt
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &purpose)
    try visitor.field(2, &tenant)
    try visitor.field(3, &expiresAt)
    try visitor.field(4, &localID)
    try visitor.field(5, &epoch)
    try visitor.field(6, &email)
    try visitor.field(7, &newEmail)
    try visitor.field(8, &wasVerified)
    try visitor.field(9, &requestType)
    try visitor.field(10, &phoneNumber)
    try visitor.field(11, &codeHash)
    try visitor.field(12, &failures)
    try visitor.field(13, &totpSecret)
    try visitor.field(14, &factorID)
    try visitor.field(15, &facts)
  }
}

/// The keys that sign tokens.
struct SigningKeysRecord: FieldRecord, Equatable {
  struct Key: FieldRecord, Equatable {
    var id = ""
    /// Private PEM.
    var pem = ""
    var createdAt: Int64 = 0
    /// When another one replaced it.
    var retiredAt: Int64?

    mutating func visit(_ visitor: inout some RecordVisitor) throws {
      try visitor.field(1, &id)
      try visitor.field(2, &pem)
      try visitor.field(3, &createdAt)
      try visitor.field(4, &retiredAt)
    }
  }

  var current = Key()
  var previous: [Key] = []

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &current)
    try visitor.field(2, &previous)
  }
}

/// The account of the servers that sign custom tokens.
struct ServiceAccountRecord: FieldRecord, Equatable {
  var clientEmail = ""
  var keyID = ""
  /// Private PEM.
  var pem = ""

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &clientEmail)
    try visitor.field(2, &keyID)
    try visitor.field(3, &pem)
  }
}
