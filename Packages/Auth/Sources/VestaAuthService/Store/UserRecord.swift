import VestaAuthBackend

/// An account as it is kept.
struct UserRecord: Sendable, Equatable {
  /// A user of an identity provider.
  struct Provider: Sendable, Equatable {
    var providerID: String
    var rawID: String
    var federatedID: String?
    var email: String?
    var displayName: String?
    var photoURL: String?
    var phoneNumber: String?
    var screenName: String?
  }

  /// A second factor: a phone where there is a number, an authenticator app where there is a secret.
  struct Factor: Sendable, Equatable {
    var id: String
    var phoneNumber: String?
    var totpSecret: [UInt8]?
    /// The step of the last code that was accepted.
    var totpStep: Int64?
    var displayName: String?
    var enrolledAt: Int64

    /// The name of the factor in tokens.
    var kind: String { phoneNumber != nil ? "phone" : "totp" }
  }

  /// A key pair of an authenticator, which signs in.
  struct Passkey: Sendable, Equatable {
    /// As the client wrote it.
    var credentialID: String
    var name: String
    /// As COSE writes it; `nil` for one that was added in development by its id alone.
    var publicKey: [UInt8]?
    /// How often it has signed; zero where the authenticator does not count.
    var signCount: Int64 = 0
    var createdAt: Int64

    var canonicalID: String { PasskeyID.canonical(credentialID) }

    func isSame(as other: Passkey) -> Bool { canonicalID == other.canonicalID }

    /// The passkey after a signature with this count; `nil` when the count has not grown, so that there are two of it.
    func used(_ signCount: Int64) -> Passkey? {
      guard signCount > self.signCount || signCount == 0 && self.signCount == 0 else { return nil }
      var used = self
      used.signCount = signCount
      return used
    }
  }

  /// A change of the address that the owner of the old one can still take back.
  struct Recovery: Sendable, Equatable {
    /// The SHA-256 of the code.
    var hash: [UInt8]
    var expiresAt: Int64
  }

  var localID: String
  var email: String?
  var emailVerified = false
  var displayName: String?
  var photoURL: String?
  var phoneNumber: String?
  /// A `PasswordHash` as a string.
  var passwordHash: String?
  /// The id of the signer key that the hash needs; for Firebase's scrypt only.
  var signerKeyID: String?
  var passwordUpdatedAt: Int64?
  /// ID tokens that were issued before are revoked, for verifiers that do not know the epoch; in seconds.
  var validSince: Int64?
  /// The one number that everything issued to the account carries: ID tokens, session cookies, refresh tokens, codes
  /// and pending sign-ins of another epoch are revoked.
  ///
  /// Begins at a random number, so that an account that is made again under the same id has another one, and counts
  /// revocations from there. Exact, where `validSince` depends on the clock and is good to a second.
  var epoch: Int64 = 0
  var disabled = false
  var createdAt: Int64
  var lastLoginAt: Int64?
  var lastRefreshAt: Int64?
  var customAuth = false
  /// JSON text.
  var customAttributes: String?
  var initialEmail: String?
  var emailLinkSignIn = false
  var factors: [Factor] = []
  /// Linked providers; `password` and `phone` are not among them, they follow from the rest.
  var providers: [Provider] = []
  var passkeys: [Passkey] = []
  /// How many sessions are kept; never less than there are.
  var sessionCount: Int64 = 0
  /// The changes of the address that can be taken back, oldest first.
  var recoveries: [Recovery] = []

  init(localID: String, createdAt: Int64) {
    self.localID = localID
    self.createdAt = createdAt
  }

  /// Whether there is no way to sign in to it again.
  var isAnonymous: Bool {
    email == nil && phoneNumber == nil && providers.isEmpty && !customAuth && passwordHash == nil
      && passkeys.isEmpty
  }

  /// All ways to sign in: the linked providers, then `phone` and `password` where there are such.
  var providerInfo: [Provider] {
    var all = providers
    if let phoneNumber {
      all.append(Provider(providerID: "phone", rawID: phoneNumber, phoneNumber: phoneNumber))
    }
    if let email, passwordHash != nil || emailLinkSignIn {
      all.append(
        Provider(
          providerID: "password", rawID: email, federatedID: email, email: email, displayName: displayName,
          photoURL: photoURL))
    }
    return all
  }

  /// Links a provider, in place of the one of that name that may be there.
  mutating func link(_ provider: Provider) {
    providers.removeAll { $0.providerID == provider.providerID }
    providers.append(provider)
  }

  /// Takes a way to sign in away.
  mutating func unlink(_ providerID: String) {
    switch providerID {
    case "password": removeEmail()
    case "phone": phoneNumber = nil
    default: providers.removeAll { $0.providerID == providerID }
    }
  }

  /// Takes attributes and ways to sign in away.
  mutating func remove(_ attributes: Set<UserAttribute>, providers: [String], passkeys ids: [String]) {
    for attribute in attributes {
      switch attribute {
      case .email: removeEmail()
      case .displayName: displayName = nil
      case .photoURL: photoURL = nil
      case .password: removePassword()
      }
    }
    for provider in providers { unlink(provider) }
    let removed = Set(ids.map(PasskeyID.canonical))
    if !removed.isEmpty { passkeys.removeAll { removed.contains($0.canonicalID) } }
  }

  /// Takes the address away, and with it what hangs on it.
  mutating func removeEmail() {
    email = nil
    emailVerified = false
    emailLinkSignIn = false
    removePassword()
  }

  mutating func removePassword() {
    passwordHash = nil
    signerKeyID = nil
    passwordUpdatedAt = nil
  }

  mutating func setPassword(_ hash: String, now: Int64) {
    passwordHash = hash
    signerKeyID = nil
    passwordUpdatedAt = now
  }

  /// Ends all sessions and all ID tokens.
  mutating func revokeTokens(now: Int64) {
    validSince = max(now / 1000, validSince ?? 0)
    epoch += 1
  }

  /// The second factors as a sign-in shows them: the last four digits of numbers only.
  var redactedFactors: [MfaEnrollment] { factors.map { $0.enrollment(isRedacted: true) } }
}

extension UserRecord.Factor {
  /// The factor as the service shows it.
  func enrollment(isRedacted: Bool) -> MfaEnrollment {
    let factor = phoneNumber.map { MfaEnrollment.Factor.phone(number: isRedacted ? Self.redacted($0) : $0) } ?? .totp
    return MfaEnrollment(mfaEnrollmentID: id, factor: factor, displayName: displayName, enrolledAt: enrolledAt)
  }

  private static func redacted(_ number: String) -> String {
    let hidden = max(0, number.filter(\.isNumber).count - 4)
    var seen = 0
    return String(
      number.map { character in
        guard character.isNumber else { return character }
        seen += 1
        return seen <= hidden ? "*" : character
      })
  }
}

extension UserRecord.Provider {
  /// The provider as the service shows it.
  var info: ProviderUserInfo {
    ProviderUserInfo(
      providerID: providerID, rawID: rawID, federatedID: federatedID, email: email, displayName: displayName,
      photoURL: photoURL, phoneNumber: phoneNumber, screenName: screenName)
  }

  init(_ info: ProviderUserInfo) {
    self.init(
      providerID: info.providerID, rawID: info.rawID, federatedID: info.federatedID,
      email: info.email.map(Checks.canonicalEmail),
      displayName: info.displayName, photoURL: info.photoURL, phoneNumber: info.phoneNumber,
      screenName: info.screenName)
  }
}
