import Dispatch
public import Foundation
import VestaAuthBackend
import VestaConcurrency
import VestaServiceInterop

/// A user who has signed in.
///
/// - All members may be used from any thread, in any callback.
/// - A user remains usable after another user has signed in; ``Auth/currentUser`` says who is signed in.
/// - The values are the last known ones; ``reload()`` asks the backend.
/// - When the backend no longer accepts the user, the operation fails and the user is signed out.
public final class User: UserInfo {
  /// The user's id in the project; it never changes.
  public let uid: String

  weak let auth: Auth?
  let callbackQueue: DispatchQueue
  private let clock: ServiceClock
  private let refreshes = SingleFlight<String, TokenSet>()
  /// The changes under way that bring new tokens, as they end the old ones.
  private let changes = PendingCount()

  @AuthActor private(set) var record: SessionUser
  @AuthActor private(set) var tokens: TokenSet
  @AuthActor private var lookUps = (begun: 0, applied: 0)

  init(auth: Auth, record: SessionUser, tokens: TokenSet) {
    uid = record.uid
    self.auth = auth
    callbackQueue = auth.callbackQueue
    clock = auth.clock
    self.record = record
    self.tokens = tokens
  }

  // MARK: Known facts

  /// "Firebase", which distinguishes this description of the user from the providers'.
  public var providerID: String { "Firebase" }

  /// Whether the user is anonymous: has no way to sign in again.
  public var isAnonymous: Bool { read { $0.isAnonymous } }

  /// Whether the e-mail address is verified.
  public var isEmailVerified: Bool { read { $0.isEmailVerified } }

  /// The user as each provider describes it.
  public var providerData: [any UserInfo] { read { $0.providers.map(ProviderInfo.init) } }

  /// The times of the sign-up and of the last sign-in.
  public var metadata: UserMetadata {
    read { UserMetadata(lastSignInDate: $0.lastSignInDate, creationDate: $0.creationDate) }
  }

  /// The tenant that the user belongs to; `nil` for none.
  public var tenantID: String? { read { $0.tenantID } }

  /// The second factors of the user.
  public var multiFactor: MultiFactor { MultiFactor(user: self) }

  /// The refresh token; a secret.
  public var refreshToken: String? { AuthActor.sync { tokens.refreshToken } }

  /// The display name.
  public var displayName: String? { read { $0.displayName } }

  /// The URL of the user's picture.
  public var photoURL: URL? { read { $0.photoURL.flatMap { URL(string: $0) } } }

  /// The e-mail address.
  public var email: String? { read { $0.email } }

  /// The phone number.
  public var phoneNumber: String? { read { $0.phoneNumber } }

  private func read<Value>(_ part: (SessionUser) -> Value) -> Value { part(AuthActor.sync { record }) }

  // MARK: Tokens

  @AuthActor var session: StoredSession { StoredSession(user: record, tokens: tokens) }

  @AuthActor var hasFreshToken: Bool { TokenFreshness.isFresh(expiration: tokens.expiration, now: clock.date()) }

  /// The tokens, refreshed first where they are about to expire.
  ///
  /// Many callers share one refresh.
  @AuthActor
  func currentTokens(forcingRefresh: Bool = false) async throws -> TokenSet {
    if !forcingRefresh, hasFreshToken { return tokens }
    return try await refreshes.value(for: uid) { try await self.refresh() }
  }

  @AuthActor
  private func refresh() async throws -> TokenSet {
    let auth = try owner
    let used = tokens
    do {
      let response = try await auth.call(inTenant: record.tenantID) { backend, context throws(AuthServiceError) in
        try await backend.refresh(RefreshRequest(refreshToken: used.refreshToken), context: context)
      }
      guard response.userID == uid else {
        throw AuthError(.internalError, "The backend refreshed another user's token.")
      }
      // A changed password brings new tokens: newer than the ones requested before it.
      if tokens.refreshToken == used.refreshToken { adopt(response.tokens) }
      return tokens
    } catch {
      // From the commit of such a change on the old token is refused, which is before the answer is here.
      await changes.waitUntilZero()
      guard tokens == used else { return tokens }
      auth.endSession(of: self, after: error)
      throw error
    }
  }

  // MARK: Calling the backend

  /// The `Auth` that the user signed in to.
  @AuthActor var owner: Auth {
    get throws {
      guard let auth else { throw AuthError(.internalError, "The app that the user signed in to has been deleted.") }
      return auth
    }
  }

  /// A call of the backend with an ID token.
  typealias Operation<Response> =
    @Sendable (_ idToken: String, any AuthBackend, CallContext) async throws(AuthServiceError) -> Response

  /// Calls the backend with the user's ID token, and signs the user out when the backend refuses it.
  @AuthActor
  func authorized<Response: Sendable>(_ operation: @escaping Operation<Response>) async throws -> Response {
    try await authorized { [self] idToken, auth in try await attempt(operation, with: idToken, auth) }
  }

  /// Changes the account, and takes over the tokens that this brings.
  @AuthActor
  func change<Response: Sendable>(
    bringing tokens: @escaping @Sendable (Response) -> AuthTokens?, _ operation: @escaping Operation<Response>
  ) async throws -> Response {
    try await authorized { [self] idToken, auth in
      changes.begin()
      defer { changes.end() }
      let response = try await attempt(operation, with: idToken, auth)
      adopt(tokens(response))
      return response
    }
  }

  @AuthActor
  private func authorized<Response: Sendable>(
    _ attempt: @AuthActor (_ idToken: String, Auth) async throws -> Response
  ) async throws -> Response {
    let auth = try owner
    let idToken = try await currentTokens().idToken
    do {
      return try await attempt(idToken, auth)
    } catch  where error.isAboutIDToken {
      // A clock that was set back, here or there, makes a good session's token look wrong. The refresh token decides.
      let renewed = try await currentTokens(forcingRefresh: tokens.idToken == idToken).idToken
      guard renewed != idToken else {
        auth.endSession(of: self, after: error)
        throw error
      }
      do {
        return try await attempt(renewed, auth)
      } catch {
        if tokens.idToken == renewed { auth.endSession(of: self, after: error) }
        throw error
      }
    } catch {
      if tokens.idToken == idToken { auth.endSession(of: self, after: error) }
      throw error
    }
  }

  /// The same for public methods, which may be called from anywhere.
  func performAuthorized<Response: Sendable>(_ operation: @escaping Operation<Response>) async throws -> Response {
    try await AuthActor.run { try await self.authorized(operation) }
  }

  @AuthActor
  private func attempt<Response: Sendable>(
    _ operation: @escaping Operation<Response>, with idToken: String, _ auth: Auth
  ) async throws -> Response {
    try await auth.call(inTenant: record.tenantID) { backend, context throws(AuthServiceError) in
      try await operation(idToken, backend, context)
    }
  }

  /// Takes over tokens that a call has brought.
  @AuthActor
  func adopt(_ new: AuthTokens?) {
    guard let new else { return }
    tokens = TokenSet(new, now: clock.date())
    auth?.userChanged(self)
  }

  /// Asks the backend what is known of the user, and takes it over unless a later answer is there already.
  @AuthActor
  func lookUp() async throws {
    lookUps.begun += 1
    let number = lookUps.begun
    let response = try await authorized { idToken, backend, context throws(AuthServiceError) in
      try await backend.lookup(LookupRequest(idToken: idToken), context: context)
    }
    guard let found = response.users.first(where: { $0.localID == uid }) else {
      throw AuthError(.internalError, "The backend does not describe the user it was asked for.")
    }
    guard number > lookUps.applied else { return }
    lookUps.applied = number
    record = SessionUser(found, wasAnonymous: record.isAnonymous)
    auth?.userChanged(self)
  }
}

extension Error {
  /// Whether the backend refused an ID token, which says nothing about its session.
  fileprivate var isAboutIDToken: Bool {
    guard let cause = (self as? AuthError)?.underlying as? AuthServiceError else { return false }
    return cause.code == .tokenExpired || cause.code == .invalidIDToken
  }
}
