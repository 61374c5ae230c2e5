public import VestaAuthBackend
public import VestaBytes

/// The request of `accounts:batchCreate`: accounts, and how the hashes of their passwords were made.
public enum BatchCreateRequestWire: ProtobufConversion {
  /// The members of a request.
  public struct Parts {
    var users: [ImportedUser] = []
    var allowsOverwrite = false
    var checksSanity = false
    var algorithm: String?
    var signerKey: [UInt8] = []
    var saltSeparator: [UInt8] = []
    var rounds: Int64?
    var memoryCost: Int64?
    var cost: Int64?
    var blockSize: Int64?
    var parallelization: Int64?
    var order: String?
    var derivedKeyLength: Int64?
  }

  /// The statement of the members.
  public enum Schema: ProtobufSchema {
    /// No members.
    public static var empty: Parts { Parts() }

    /// Visits the members.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.repeated(1, "users", &parts.users, ProtobufMessage<ImportedUserWire>.self)
      try visitor.field(2, "allowOverwrite", &parts.allowsOverwrite, ProtobufBool.self)
      try visitor.field(3, "sanityCheck", &parts.checksSanity, ProtobufBool.self)
      try visitor.optional(4, "hashAlgorithm", &parts.algorithm, ProtobufString.self)
      try visitor.field(5, "signerKey", &parts.signerKey, ProtobufBytes.self)
      try visitor.field(6, "saltSeparator", &parts.saltSeparator, ProtobufBytes.self)
      try visitor.optional(7, "rounds", &parts.rounds, JSONInteger.self)
      try visitor.optional(8, "memoryCost", &parts.memoryCost, JSONInteger.self)
      try visitor.optional(9, "cpuMemCost", &parts.cost, JSONInteger.self)
      try visitor.optional(10, "blockSize", &parts.blockSize, JSONInteger.self)
      try visitor.optional(11, "parallelization", &parts.parallelization, JSONInteger.self)
      try visitor.optional(12, "passwordHashOrder", &parts.order, ProtobufString.self)
      // Read by other services; each hash has the length already.
      try visitor.optional(13, "dkLen", &parts.derivedKeyLength, JSONInteger.self)
    }
  }

  /// The members of a request.
  public static func parts(of request: BatchCreateRequest) -> Parts {
    var parts = Parts(
      users: request.users, allowsOverwrite: request.allowsOverwrite, checksSanity: request.checksSanity)
    if let hash = request.hash { ImportHashWire.set(hash, in: &parts) }
    if case .standardScrypt = request.hash {
      let lengths = Set(request.users.compactMap { $0.passwordHash.map { Int64($0.count) } })
      // The member is that of all accounts; where they differ, the length of each hash has to say it.
      parts.derivedKeyLength = lengths.count == 1 ? lengths.first : nil
    }
    return parts
  }

  /// The request of members.
  ///
  /// - Throws: `BytesError` with `.malformed` for an algorithm that is not known, and for costs out of range.
  public static func value(of parts: Parts) throws(BytesError) -> BatchCreateRequest {
    BatchCreateRequest(
      users: parts.users, hash: try ImportHashWire.hash(parts), allowsOverwrite: parts.allowsOverwrite,
      checksSanity: parts.checksSanity)
  }
}

/// The statement of an account that is imported.
public enum ImportedUserWire: ProtobufSchema {
  /// No members.
  public static var empty: ImportedUser { ImportedUser(localID: "") }

  /// Visits the members.
  public static func visit(_ user: inout ImportedUser, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "localId", &user.localID, ProtobufString.self)
    try visitor.optional(2, "email", &user.email, ProtobufString.self)
    try visitor.field(3, "emailVerified", &user.emailVerified, ProtobufBool.self)
    try visitor.optional(4, "displayName", &user.displayName, ProtobufString.self)
    try visitor.optional(5, "photoUrl", &user.photoURL, ProtobufString.self)
    try visitor.optional(6, "phoneNumber", &user.phoneNumber, ProtobufString.self)
    try visitor.optional(7, "passwordHash", &user.passwordHash, ProtobufBytes.self)
    // An export that does not show the hash has a word in its place.
    if visitor.isReading, user.passwordHash == redacted { user.passwordHash = nil }
    try visitor.field(8, "salt", &user.salt, ProtobufBytes.self)
    try visitor.optional(9, "rawPassword", &user.rawPassword, ProtobufString.self)
    try visitor.field(10, "disabled", &user.disabled, ProtobufBool.self)
    try visitor.optional(11, "createdAt", &user.createdAt, ProtobufInt64.self)
    try visitor.optional(12, "lastLoginAt", &user.lastLoginAt, ProtobufInt64.self)
    try visitor.optional(13, "validSince", &user.validSince, ProtobufInt64.self)
    try visitor.optional(14, "customAttributes", &user.customAttributes, ProtobufString.self)
    try visitor.repeated(15, "providerUserInfo", &user.providerUserInfo, ProtobufMessage<ProviderUserInfoWire>.self)
    try visitor.repeated(16, "mfaInfo", &user.mfaFactors, ProtobufConverted<NewFactorWire>.self)
    try visitor.optional(17, "tenantId", &user.tenantID, ProtobufString.self)
    try visitor.optional(18, "initialEmail", &user.initialEmail, ProtobufString.self)
    try visitor.field(19, "emailLinkSignin", &user.emailLinkSignIn, ProtobufBool.self)
    try visitor.field(20, "customAuth", &user.customAuth, ProtobufBool.self)
    try visitor.optional(21, "lastRefreshAt", &user.lastRefreshAt, MillisecondTime.self)
    try visitor.optional(22, "passwordUpdatedAt", &user.passwordUpdatedAt, JSONInteger.self)
  }

  private static let redacted = Array("REDACTED".utf8)
}
