import Dispatch
import Foundation
import Testing
import VestaAppCheckInterop
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaConcurrency
import VestaCore
import VestaCredentialInterop
import VestaCredentialInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaAuth

/// An `Auth` whose store, backend and clock the test controls.
struct TestAuth: Sendable {
  static let queueKey = DispatchSpecificKey<String>()

  let app: VestaApp
  let auth: Auth
  let backend: ScriptedAuthBackend
  let store: FakeCredentialStore
  let clock: ManualClock
  let queue: DispatchQueue

  init(
    store: FakeCredentialStore = FakeCredentialStore(), backend: ScriptedAuthBackend = .watchingTheWorkQueue(),
    options: VestaOptions = VestaOptions(), appCheck: (any AppCheckInterop)? = nil, appName: String = uniqueName(),
    emulators: EmulatorConnection<any AuthBackend>? = nil
  ) throws {
    queue = DispatchQueue(label: "callbacks", attributes: .concurrent)
    queue.setSpecific(key: Self.queueKey, value: "callbacks")
    options.callbackQueue = queue
    app = try VestaApp.configure(name: appName, options: options, libraries: [])
    clock = ManualClock()
    (self.store, self.backend) = (store, backend)
    auth = Auth(
      app: app, backend: AuthCaller(backend: backend, appCheck: appCheck), emulators: emulators, store: store,
      clock: clock.service)
  }

  /// Signs a user in who has a password.
  @discardableResult
  func signIn(_ email: String = "ada@example.com") async throws -> User {
    if !backend.state.withLock({ $0.accounts.values.contains { $0.user.email == email } }) {
      backend.addAccount(email)
    }
    return try await auth.signIn(withEmail: email, password: "secret1").user
  }

  /// Whether the calling code is on the callback queue.
  static var isOnCallbackQueue: Bool { DispatchQueue.getSpecific(key: queueKey) == "callbacks" }

  /// Returns when every event for the listeners so far has been delivered.
  func settle() async {
    _ = auth.currentUser
    await withCheckedContinuation { continuation in auth.listenerQueue.async { continuation.resume() } }
  }
}

extension ScriptedAuthBackend {
  /// A backend whose calls say whether they arrived on the work queue.
  static func watchingTheWorkQueue() -> ScriptedAuthBackend {
    ScriptedAuthBackend(observing: { AuthActor.queue.isCurrent })
  }
}

/// A name that no other test uses.
func uniqueName() -> String { "app-\(UUID().uuidString)" }

extension ManualClock {
  /// The current time.
  var date: Date { Date(timeIntervalSince1970: Double(now) / 1_000_000) }

  /// The times at which timers are due.
  var alarms: [Date] { deadlines.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) } }

  func advance(by seconds: TimeInterval) { advance(by: .microseconds(Int64(seconds * 1_000_000))) }
}

/// Runs a body that blocks on a separate thread, since the cooperative pool has few.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

/// The code that something fails with; `nil` when it does not fail.
func code(of body: () async throws -> Void) async -> AuthErrorCode? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? AuthError)?.code
  }
}
