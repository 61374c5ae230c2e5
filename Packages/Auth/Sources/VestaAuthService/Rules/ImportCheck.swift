import VestaAuthBackend
import VestaCryptoInterop

/// Checks the accounts of an import without the store.
enum ImportCheck {
  /// Why one account is not imported; the others are.
  struct Refusal: Error {
    var message: String
  }

  /// Refuses hash parameters that are out of range, and hashes without a named algorithm.
  static func hash(_ hash: ImportHash?, users: [ImportedUser]) throws {
    guard let hash else {
      guard users.allSatisfy({ $0.passwordHash == nil }) else {
        throw AuthServiceError(
          .invalidHashAlgorithm, "There are hashes, and the batch does not say how they were made.")
      }
      return
    }
    guard hash.signerKey?.isEmpty != true else {
      throw AuthServiceError(.invalidHashAlgorithm, "The hashes were made with a signer key, which is missing.")
    }
    do {
      try hash.scheme?.validate()
    } catch {
      throw AuthServiceError(.invalidHashAlgorithm, error.message)
    }
  }

  /// The dearest bcrypt that is imported: about a second for each sign-in, and for each guess.
  static let highestBcryptCost = 14

  /// Refuses a hash with which any guesser could keep the processors busy.
  static func cost(of hash: PasswordHash) throws(Refusal) {
    guard case .bcrypt(_, let cost) = hash.scheme, cost > highestBcryptCost else { return }
    throw Refusal(message: "password hash is invalid: a bcrypt cost above \(highestBcryptCost) takes too long")
  }

  /// Checks that no user id occurs twice.
  ///
  /// - Throws: `AuthServiceError` with `duplicateLocalID`.
  static func identifiers(_ users: [ImportedUser]) throws {
    var seen: Set<String> = []
    for user in users where !seen.insert(user.localID).inserted {
      throw AuthServiceError(.duplicateLocalID, user.localID)
    }
  }

  /// Refuses a batch in which something occurs twice.
  static func sanity(_ users: [ImportedUser]) throws {
    var emails: Set<String> = []
    var rawIDs: Set<[String]> = []
    for user in users {
      if let email = user.email.map(Checks.canonicalEmail), !emails.insert(email).inserted {
        throw AuthServiceError(.duplicateEmail, email)
      }
      for provider in user.providerUserInfo where !rawIDs.insert([provider.providerID, provider.rawID]).inserted {
        throw AuthServiceError(.duplicateRawID, "Provider id(\(provider.providerID)), Raw id(\(provider.rawID))")
      }
    }
  }

  /// An account without its password.
  static func user(
    _ entry: ImportedUser, scope: Scope, now: Int64, factors: ([NewMfaEnrollment]) throws -> [UserRecord.Factor]
  ) throws -> UserRecord {
    guard !entry.localID.isEmpty else { throw Refusal(message: "localId is missing") }
    if let tenantID = entry.tenantID, TenantKey(tenantID) != scope.tenant {
      throw Refusal(message: "Tenant id in userInfo does not match the tenant id in request.")
    }
    let localID = try refusing("localId is invalid") { try Checks.localID(entry.localID) }
    var user = UserRecord(localID: localID, createdAt: entry.createdAt ?? now)
    try setProfile(of: &user, from: entry)
    user.emailLinkSignIn = entry.emailLinkSignIn && user.email != nil
    user.customAuth = entry.customAuth
    setTimes(of: &user, from: entry)
    if let claims = entry.customAttributes {
      try customClaims(claims)
      user.customAttributes = claims
    }
    try link(entry.providerUserInfo, to: &user)
    user.factors = try importedFactors(entry, factors)
    return user
  }

  private static func setProfile(of user: inout UserRecord, from entry: ImportedUser) throws {
    user.email = try entry.email.map { email in try refusing("email is invalid") { try Checks.email(email) } }
    user.emailVerified = entry.emailVerified
    try limited { () throws(AuthServiceError) in try Checks.profile(entry.displayName, entry.photoURL) }
    user.displayName = entry.displayName
    user.photoURL = entry.photoURL
    user.phoneNumber = try entry.phoneNumber.map { number in
      try refusing("phone number format is invalid") { try Checks.phoneNumber(number) }
    }
    user.disabled = entry.disabled
    user.initialEmail = try entry.initialEmail.map { email in
      try refusing("initialEmail is invalid") { try Checks.email(email) }
    }
  }

  private static func setTimes(of user: inout UserRecord, from entry: ImportedUser) {
    user.passwordUpdatedAt = entry.passwordUpdatedAt
    user.lastRefreshAt = entry.lastRefreshAt
    user.lastLoginAt = entry.lastLoginAt
    user.validSince = entry.validSince
  }

  private static func link(_ providers: [ProviderUserInfo], to user: inout UserRecord) throws {
    for provider in providers where !["password", "phone"].contains(provider.providerID) {
      guard !provider.providerID.isEmpty, !provider.rawID.isEmpty else {
        throw Refusal(message: "provider id or raw id is missing")
      }
      try limited { () throws(AuthServiceError) in try Checks.provider(provider) }
      user.link(UserRecord.Provider(provider))
    }
  }

  private static func importedFactors(
    _ entry: ImportedUser, _ factors: ([NewMfaEnrollment]) throws -> [UserRecord.Factor]
  ) throws -> [UserRecord.Factor] {
    guard !entry.mfaFactors.isEmpty else { return [] }
    guard entry.email != nil else {
      throw Refusal(message: "Second factor account requires email to be presented.")
    }
    guard entry.emailVerified else { throw Refusal(message: "Second factor account requires email to be verified.") }
    do {
      return try factors(entry.mfaFactors)
    } catch AuthServiceError.Code.duplicateMfaEnrollmentID {
      throw Refusal(message: "Enrollment id already exists.")
    } catch AuthServiceError.Code.invalidMfaPhoneNumber {
      throw Refusal(message: "Phone number format is invalid")
    } catch let error as AuthServiceError {
      throw Refusal(message: error.detail ?? error.code.rawValue)
    }
  }

  private static func customClaims(_ json: String) throws {
    do {
      try Checks.customClaims(json)
    } catch AuthServiceError.Code.claimsTooLarge {
      throw Refusal(message: "Custom claims provided are too large.")
    } catch AuthServiceError.Code.forbiddenClaim {
      throw Refusal(message: "Custom claims provided include a reserved claim.")
    } catch {
      throw Refusal(message: "Invalid custom claims provided.")
    }
  }

  /// Refuses an entry with the sentence of a limit that it exceeds.
  private static func limited(_ check: () throws(AuthServiceError) -> Void) throws {
    do {
      try check()
    } catch {
      throw Refusal(message: error.detail ?? error.code.rawValue)
    }
  }

  private static func refusing<Value>(_ message: String, _ check: () throws -> Value) throws -> Value {
    do {
      return try check()
    } catch {
      throw Refusal(message: message)
    }
  }
}

extension ImportHash {
  /// The scheme of all hashes; `nil` where each hash says it itself.
  var scheme: PasswordScheme? {
    switch self {
    case .scrypt(_, let separator, let rounds, let memoryCost):
      .firebaseScrypt(
        FirebaseScryptParameters(rounds: rounds, memoryCost: memoryCost, saltSeparator: separator))
    case .standardScrypt(let cost, let blockSize, let parallelism):
      .scrypt(ScryptParameters(costLog2: cost, blockSize: blockSize, parallelism: parallelism))
    case .pbkdf2SHA256(let rounds): .pbkdf2(.sha256, iterations: rounds)
    case .pbkdf2SHA1(let rounds): .pbkdf2(.sha1, iterations: rounds)
    case .hmac(let digest, _, let mixing): .hmac(digest.algorithm, mixing.mixing)
    case .digest(let digest, let rounds, let mixing):
      .digest(digest.algorithm, rounds: max(1, rounds), mixing.mixing)
    case .bcrypt, .text: nil
    }
  }

  /// The key that the hashes of the batch were made with.
  var signerKey: [UInt8]? {
    switch self {
    case .scrypt(let key, _, _, _), .hmac(_, let key, _): key
    default: nil
    }
  }

  /// One hash of the batch.
  func passwordHash(_ bytes: [UInt8], salt: [UInt8]) throws(CryptoError) -> PasswordHash {
    if let scheme { return try PasswordHash(scheme: scheme, salt: salt, digest: bytes) }
    let hash = try PasswordHash(text: String(decoding: bytes, as: UTF8.self))
    if case .bcrypt = self, case .bcrypt = hash.scheme { return hash }
    if case .text = self { return hash }
    throw CryptoError(.malformed, "password hash: not a bcrypt hash")
  }
}

extension ImportHash.Digest {
  fileprivate var algorithm: DigestAlgorithm {
    switch self {
    case .md5: .md5
    case .sha1: .sha1
    case .sha256: .sha256
    case .sha512: .sha512
    }
  }
}

extension ImportHash.Mixing {
  fileprivate var mixing: SaltMixing { SaltMixing(isSaltFirst: isSaltFirst, separator: separator) }
}
