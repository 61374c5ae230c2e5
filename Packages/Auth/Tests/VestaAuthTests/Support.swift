import VestaAppCheckInterop
import Dispatch
import Foundation
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaCredentialInterop
import VestaCredentialInteropFakes
import Testing
import VestaConcurrency
import VestaCore

@testable import VestaAuth

/// An `Auth` with everything it stands on in the test's hands.
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
    options: VestaOptions = VestaOptions(), appCheck: (any AppCheckInterop)? = nil, appName: String = uniqueName()
  ) throws {
    queue = DispatchQueue(label: "callbacks", attributes: .concurrent)
    queue.setSpecific(key: Self.queueKey, value: "callbacks")
    options.callbackQueue = queue
    app = try VestaApp.configure(name: appName, options: options, libraries: [])
    clock = ManualClock()
    (self.store, self.backend) = (store, backend)
    auth = Auth(
      app: app, backend: BackendCaller(backend: backend, appCheck: appCheck), store: store, clock: clock.auth)
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

  /// Returns when everything that listeners are owed so far has been delivered.
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

/// Time that passes when the test says so.
final class ManualClock: Sendable {
  private struct State {
    var now = Date(timeIntervalSince1970: 1_700_000_000)
    var alarms: [Int: (moment: Date, work: @Sendable () -> Void)] = [:]
    var lastNumber = 0
  }

  private let state = Locked(State())

  var now: Date { state.withLock { $0.now } }

  /// The moments at which something wants to be woken.
  var alarms: [Date] { state.withLock { $0.alarms.values.map(\.moment).sorted() } }

  func advance(by seconds: TimeInterval) {
    let due = state.withLock { state in
      state.now += seconds
      let due = state.alarms.filter { $0.value.moment <= state.now }
      for number in due.keys { state.alarms[number] = nil }
      return due.values.sorted { $0.moment < $1.moment }.map(\.work)
    }
    for work in due { work() }
  }

  var auth: AuthClock {
    AuthClock(
      now: { self.now },
      schedule: { moment, work in
        let number = self.state.withLock { state in
          state.lastNumber += 1
          state.alarms[state.lastNumber] = (moment, work)
          return state.lastNumber
        }
        return { _ = self.state.withLock { $0.alarms.removeValue(forKey: number) } }
      }
    )
  }
}

/// What was heard, in order; waits for more.
final class Log<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  var events: [Event] { state.withLock { $0.events } }

  func add(_ event: Event) {
    let ready = state.withLock { state in
      state.events.append(event)
      let ready = state.waiting.filter { $0.count <= state.events.count }
      state.waiting.removeAll { $0.count <= state.events.count }
      return ready.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }

  func wait(for count: Int) async -> [Event] {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.events.count >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
    return events
  }
}

/// Runs a body that blocks on a thread of its own, since the cooperative pool has few.
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

/// A directory that is gone when the body has returned.
func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
  let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-auth-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try await body(directory)
}
