import VestaBytes

// The schemas of an account and its parts; the numbers of fields never change their meaning.

extension UserRecord: FieldRecord {
  init() { self.init(localID: "", createdAt: 0) }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &localID)
    try visitor.field(2, &email)
    try visitor.field(3, &emailVerified)
    try visitor.field(4, &displayName)
    try visitor.field(5, &photoURL)
    try visitor.field(6, &phoneNumber)
    try visitor.field(7, &passwordHash)
    try visitor.field(8, &signerKeyID)
    try visitor.field(9, &passwordUpdatedAt)
    try visitor.field(10, &validSince)
    try visitor.field(11, &epoch)
    try visitor.field(12, &disabled)
    try visitor.field(13, &createdAt)
    try visitor.field(14, &lastLoginAt)
    try visitor.field(15, &lastRefreshAt)
    try visitor.field(16, &customAuth)
    try visitor.field(17, &customAttributes)
    try visitor.field(18, &initialEmail)
    try visitor.field(19, &emailLinkSignIn)
    try visitor.field(20, &factors)
    try visitor.field(21, &providers)
    try visitor.field(22, &sessionCount)
    try visitor.field(23, &recoveries)
    try visitor.field(24, &passkeys)
  }
}

extension UserRecord.Provider: FieldRecord {
  init() { self.init(providerID: "", rawID: "") }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &providerID)
    try visitor.field(2, &rawID)
    try visitor.field(3, &federatedID)
    try visitor.field(4, &email)
    try visitor.field(5, &displayName)
    try visitor.field(6, &photoURL)
    try visitor.field(7, &phoneNumber)
    try visitor.field(8, &screenName)
  }
}

extension UserRecord.Factor: FieldRecord {
  init() { self.init(id: "", enrolledAt: 0) }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &id)
    try visitor.field(2, &phoneNumber)
    try visitor.field(3, &totpSecret)
    try visitor.field(4, &totpStep)
    try visitor.field(5, &displayName)
    try visitor.field(6, &enrolledAt)
  }
}

extension UserRecord.Recovery: FieldRecord {
  init() { self.init(hash: [], expiresAt: 0) }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &hash)
    try visitor.field(2, &expiresAt)
  }
}

extension UserRecord.Passkey: FieldRecord {
  init() { self.init(credentialID: "", name: "", createdAt: 0) }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &credentialID)
    try visitor.field(2, &name)
    try visitor.field(3, &publicKey)
    try visitor.field(4, &signCount)
    try visitor.field(5, &createdAt)
  }
}
