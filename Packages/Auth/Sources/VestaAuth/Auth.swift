import Dispatch
import Foundation
import VestaAuthBackend
import VestaConcurrency
public import VestaCore
import VestaCredentialInterop
import VestaServiceInterop

/// The users of an app: signs them in and out, and says who is signed in.
///
/// ```swift
/// let auth = Auth.auth()
/// let result = try await auth.createUser(withEmail: "ada@example.com", password: password)
/// for await user in auth.authStateChanges { print(user?.uid ?? "signed out") }
/// ```
///
/// - All members may be called from any thread, in any callback.
/// - Each asynchronous operation has two forms: one with a completion handler, which is called on the callback queue of
///   the app's options (the main queue unless it was set), and one with `async`.
/// - The session is kept in a `CredentialStore` and is there again at the next start of the program. It is read when it
///   is first needed.
/// - A session ends when the user signs out, or when the backend no longer accepts it. A backend that cannot be
///   reached, or a store that cannot be read or written, ends none.
///
/// To read on: `Auth+SignIn.swift`, `User.swift`, then `Session/AuthActor.swift` and `Session/SessionMachine.swift`.
public final class Auth: Sendable {
  /// The app; `nil` after its deletion.
  public weak let app: VestaApp?

  let appName: String
  let backend: AuthCaller
  let store: any CredentialStore
  let clock: ServiceClock
  let callbackQueue: DispatchQueue
  /// Keeps the order of the calls of listeners, also when the callback queue is concurrent.
  let listenerQueue: DispatchQueue
  /// The same for other products, which do not wait for the main queue.
  let interopQueue = DispatchQueue(label: "vesta.auth.interop")

  let userChanges = ListenerRegistry<User?>()
  let tokenChanges = ListenerRegistry<User?>()

  private let apiKey: String?
  let appBackend: VestaOptions.Backend
  let emulators: EmulatorConnection<any AuthBackend>?

  @AuthActor var machine = SessionMachine()
  @AuthActor var user: User?
  @AuthActor var isOver = false
  @AuthActor var reportedFailure: String?
  @AuthActor var refreshFailures = 0
  @AuthActor var refreshTimer: ListenerRegistration?
  @AuthActor var configuration = Configuration()

  /// The settings of an app.
  struct Configuration: Sendable {
    var languageCode: String?
    var tenantID: String?
    var customAuthDomain: String?
    var settings: AuthSettings? = AuthSettings()
    var emulator: Emulator?
  }

  init(
    app: VestaApp, backend: AuthCaller, emulators: EmulatorConnection<any AuthBackend>? = nil,
    store: any CredentialStore, clock: ServiceClock = .system
  ) {
    self.app = app
    self.backend = backend
    self.emulators = emulators
    self.store = store
    self.clock = clock
    appName = app.name
    apiKey = app.options.apiKey
    appBackend = app.options.backend
    callbackQueue = app.options.callbackQueue ?? .main
    listenerQueue = DispatchQueue(label: "vesta.auth.listeners", target: callbackQueue)
  }

  // MARK: Reaching it

  /// Returns the `Auth` of the default app.
  ///
  /// Stops the process when no default app is configured, or when it was configured without `AuthLibrary`. Use
  /// ``instance(for:)`` where that can happen.
  public class func auth() -> Auth { VestaApp.instanceOrStop(of: Auth.self, providedBy: library, call: "Auth.auth()") }

  /// Returns the `Auth` of an app.
  ///
  /// Stops the process when the app was configured without `AuthLibrary`. Use ``instance(for:)`` where that can happen.
  ///
  /// - Parameter app: The app.
  /// - Returns: Always the same object for the same app.
  public class func auth(app: VestaApp) -> Auth {
    VestaApp.instanceOrStop(of: Auth.self, for: app, providedBy: library, call: "Auth.auth(app:)")
  }

  /// Returns the `Auth` of an app, or throws when it has none.
  ///
  /// - Parameter app: The app; `nil` for the default app.
  /// - Returns: Always the same object for the same app.
  /// - Throws: `VestaError` with a sentence that says what to do.
  public class func instance(for app: VestaApp? = nil) throws(VestaError) -> Auth {
    try VestaApp.instance(of: Auth.self, for: app, providedBy: library)
  }

  // MARK: The current user

  /// The signed-in user; `nil` when no user is signed in, or when the store cannot be read now.
  ///
  /// ``loadCurrentUser()`` distinguishes the two.
  public var currentUser: User? { AuthActor.sync { currentUserIfReadable() } }

  /// Returns the signed-in user, or throws when the store cannot be read.
  ///
  /// - Returns: The user; `nil` when no user is signed in.
  /// - Throws: ``AuthError`` with `keychainError` when the store cannot be read. The session is still there, and the
  ///   next call, of this or of anything else, tries again.
  public func loadCurrentUser() throws -> User? {
    try AuthActor.sync {
      try restore()
      return user
    }
  }

  // MARK: Settings

  /// The language of e-mails and text messages, such as "de"; `nil` for the project's.
  public var languageCode: String? {
    get { AuthActor.sync { configuration.languageCode } }
    set { AuthActor.sync { configuration.languageCode = newValue } }
  }

  /// Sets ``languageCode`` to the language that the user of this device prefers.
  public func useAppLanguage() { languageCode = preferredLanguage() }

  /// The tenant that users sign in to from now on; `nil` for none.
  public var tenantID: String? {
    get { AuthActor.sync { configuration.tenantID } }
    set { AuthActor.sync { configuration.tenantID = newValue } }
  }

  /// The domain of the pages for signing in, when it is not the project's.
  public var customAuthDomain: String? {
    get { AuthActor.sync { configuration.customAuthDomain } }
    set { AuthActor.sync { configuration.customAuthDomain = newValue } }
  }

  /// Settings for tests; the set value is copied.
  public var settings: AuthSettings? {
    get { AuthActor.sync { configuration.settings } }
    set {
      let copy = newValue.map(AuthSettings.init(copying:))
      AuthActor.sync { configuration.settings = copy }
    }
  }

  // MARK: Calling the backend

  /// Calls the backend for a sign-in, in the tenant that the app has set.
  @AuthActor
  func call<Response: Sendable>(
    _ operation: @escaping @Sendable (any AuthBackend, CallContext) async throws(AuthServiceError) -> Response
  ) async throws -> Response {
    try await call(inTenant: configuration.tenantID, operation)
  }

  /// The same for public methods, which may be called from anywhere.
  func perform<Response: Sendable>(
    _ operation: @escaping @Sendable (any AuthBackend, CallContext) async throws(AuthServiceError) -> Response
  ) async throws -> Response {
    try await AuthActor.run { try await self.call(operation) }
  }

  /// The same for public methods, in a tenant.
  func perform<Response: Sendable>(
    inTenant tenantID: String?,
    _ operation: @escaping @Sendable (any AuthBackend, CallContext) async throws(AuthServiceError) -> Response
  ) async throws -> Response {
    try await AuthActor.run { try await self.call(inTenant: tenantID, operation) }
  }

  /// Calls the backend in a tenant: that of a user, who stays in it whatever the app has set since.
  @AuthActor
  func call<Response: Sendable>(
    inTenant tenantID: String?,
    _ operation: @escaping @Sendable (any AuthBackend, CallContext) async throws(AuthServiceError) -> Response
  ) async throws -> Response {
    try await caller.call(context: try context(inTenant: tenantID), operation)
  }

  /// The context of a call that signs a user in, in the tenant that the app has set.
  @AuthActor
  func callContext() throws -> CallContext { try context(inTenant: configuration.tenantID) }

  @AuthActor
  private func context(inTenant tenantID: String?) throws -> CallContext {
    try checkAppIsThere()
    try checkEmulator()
    return CallContext(apiKey: apiKey, tenantID: tenantID, locale: configuration.languageCode)
  }

  @AuthActor
  func checkAppIsThere() throws {
    if isOver { throw AuthError(.internalError, "The app \"\(appName)\" has been deleted. Configure it again.") }
  }
}

private let library: StaticString = "AuthLibrary of VestaAuth (Packages/Auth)"
