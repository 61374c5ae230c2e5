import VestaAuthBackend
import VestaCryptoInterop
import VestaEngineInterop
import VestaStoreInterop

/// One call within its transaction: the core, whose users it is about, the time, and the store.
///
/// The time is read once, so everything that a call writes has the same time.
protocol AuthCall {
  var core: AuthCore { get }
  var scope: Scope { get }
  /// Milliseconds since 1970.
  var now: Int64 { get }
  var reader: any StoreReader { get }
  /// The answers of blocking functions so far.
  var answers: BlockingAnswers { get }
}

extension AuthCall {
  /// None.
  var answers: BlockingAnswers { BlockingAnswers() }
}

/// A call that reads.
struct AuthReadCall: AuthCall {
  let core: AuthCore
  let scope: Scope
  let now: Int64
  let reader: any StoreReader
}

/// A call that changes something.
struct AuthWriteCall: AuthCall {
  let core: AuthCore
  let cause: EventCause
  let scope: Scope
  let now: Int64
  let transaction: any StoreTransaction
  /// The answers of blocking functions so far.
  var answers = BlockingAnswers()

  var reader: any StoreReader { transaction }
}

extension AuthCall {
  var options: AuthServiceOptions { core.options }
  var crypto: any CryptoProvider { core.crypto }
  /// The tenant as keys have it.
  var tenant: TenantKey { scope.tenant }
  var nowSeconds: Int64 { now / 1000 }

  // MARK: Accounts

  func user(_ localID: String) async throws -> UserRecord? { try await reader.user(tenant, localID) }

  func user(email: String) async throws -> UserRecord? { try await reader.user(tenant, email: email) }

  func user(phoneNumber: String) async throws -> UserRecord? {
    try await reader.user(tenant, phoneNumber: phoneNumber)
  }

  func user(providerID: String, rawID: String) async throws -> UserRecord? {
    try await reader.user(tenant, providerID: providerID, rawID: rawID)
  }

  /// The account with an id.
  func existingUser(_ localID: String) async throws -> UserRecord {
    guard let user = try await user(localID) else { throw AuthServiceError(.userNotFound) }
    return user
  }

  /// The id of the account that has an address.
  func owner(ofEmail email: String) async throws -> String? { try await reader.text(Keys.email(tenant, email)) }

  /// A new account, of an id that may have had another account before.
  func newAccount(_ localID: String? = nil) throws -> UserRecord {
    var user = UserRecord(localID: try localID ?? answers.localID ?? core.secrets.newLocalID(), createdAt: now)
    user.begin(epoch: try core.secrets.newEpoch(), now: now)
    return user
  }

  // MARK: Callers

  /// The account of a token, as it is now.
  func caller(_ proof: Proof) async throws -> Caller {
    let user = try await existingUser(proof.localID)
    guard proof.isCurrent(for: user) else { throw AuthServiceError(.tokenExpired) }
    guard !user.disabled else { throw AuthServiceError(.userDisabled) }
    return Caller(user: user, facts: try TokenClaims.session(of: proof.claims, user: user))
  }

  /// The account of a token that may be absent.
  func caller(_ proof: Proof?) async throws -> Caller? {
    guard let proof else { return nil }
    return try await caller(proof) as Caller
  }

  /// Refuses what needs a recent sign-in.
  ///
  /// An anonymous user has nothing to sign in with again, so this session is all the proof there can be.
  func requireRecentSignIn(_ caller: Caller) throws {
    guard !caller.user.isAnonymous else { return }
    // Of several processes one may have a clock that is ahead of the one that signed the user in.
    let tolerance = core.hasSharedStore ? ClockTolerance.seconds : 0
    guard nowSeconds - caller.facts.authTime <= options.recentSignInWindow.seconds + tolerance else {
      throw AuthServiceError(.credentialTooOld)
    }
  }

  /// Refuses to change second factors without a recent sign-in that passed one, where the account has any.
  func requireRecentSignInToChangeFactors(_ caller: Caller) throws {
    try requireRecentSignIn(caller)
    guard caller.user.factors.isEmpty || caller.facts.secondFactor != nil else {
      throw AuthServiceError(.credentialTooOld, "Sign in with a second factor first.")
    }
  }

  /// Refuses to add an address that the caller's account cannot take at once.
  func checkNewEmail(_ email: String, _ caller: Caller) throws {
    try requireRecentSignIn(caller)
    guard (caller.user.email ?? email) == email || !scope.config.hidesEmails else {
      throw AuthServiceError.verifyFirst
    }
  }
}

extension AuthServiceError {
  /// The refusal of a new address that has not been proven, where that is demanded.
  static var verifyFirst: AuthServiceError {
    AuthServiceError(.operationNotAllowed, "Please verify the new email before changing email.")
  }
}
