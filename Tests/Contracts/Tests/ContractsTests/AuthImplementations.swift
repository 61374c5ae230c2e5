import Dispatch
import Foundation
import Testing
import VestaAuth
import VestaAuthBackend
import VestaAuthInterop
import VestaAuthInteropContracts
import VestaAuthInteropFakes
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaCredentialInterop
import VestaServiceInterop

@Suite struct AuthImplementations {
  static let all: [Implementation<AuthInteropSubject>] = [
    Implementation("FakeAuth") { fakeAuth() },
    Implementation("Auth on the embedded engine") { try embeddedAuth() },
  ]

  @Test(arguments: all) func `an implementation keeps every promise`(
    _ implementation: Implementation<AuthInteropSubject>
  ) async {
    await implementation.keeps(AuthInteropContracts.all)
  }

  private static func fakeAuth() -> AuthInteropSubject {
    let fake = FakeAuth()
    return AuthInteropSubject(
      fake,
      signIn: { fake.signIn($0) },
      signOut: { fake.signOut() },
      setRefreshesFail: { fake.failRefreshes(with: $0 ? AuthInteropError(.unavailable, "told to fail") : nil) },
      setRefreshesHeld: { if $0 { await fake.holdRefreshes() } else { await fake.releaseRefreshes() } }
    )
  }

  /// The client and the engine as a program has them, on a store that can be held back.
  private static func embeddedAuth() throws -> AuthInteropSubject {
    let (store, parts) = (GatedStore(), Locked<[any Library.Type]>([AuthLibrary.self, EngineLibrary.self]))
    let options = VestaOptions(projectID: "demo")
    options.callbackQueue = DispatchQueue(label: "contracts.callbacks")
    let app = try EngineLibrary.$store.withValue(store) {
      try VestaApp.configure(
        name: UUID().uuidString, options: options, libraries: parts.withLock { $0 })
    }
    let auth = Auth.auth(app: app)
    let admin = try app.container.require(AuthEngine.self)
    return AuthInteropSubject(
      try app.container.require((any AuthInterop).self),
      signIn: { userID in
        let request = CreateCustomTokenRequest(localID: userID)
        let token = try await admin.administration.createCustomToken(request, context: .owner)
        try await auth.signIn(withCustomToken: token)
      },
      signOut: { try auth.signOut() },
      setRefreshesFail: { store.setFails($0) },
      setRefreshesHeld: { store.setHeld($0) }
    )
  }
}

/// The embedded engine, on the store of the check.
private enum EngineLibrary: Library {
  @TaskLocal static var store = GatedStore()

  static let name = "contracts-engine"
  static let version = "1.0.0"

  static func components() -> [Component] {
    let store = store
    return [
      Component(AuthEngine.self) { _, isCacheable in
        isCacheable = true
        var options = AuthServiceOptions()
        // A clock that never shows the same second twice: tokens of one session differ by their times.
        let ticks = Locked(Int64(Date().timeIntervalSince1970 * 1_000_000))
        options.clock = ServiceClock(
          now: {
            ticks.withLock {
              $0 += 1_000_000
              return $0
            }
          }, schedule: { _, _ in ListenerRegistration {} })
        return AuthEngine(projectID: "demo", options: options, crypto: KeptKeysLibrary.crypto()) { store }
      },
      Component((any AuthBackend).self) { container, _ in try container.require(AuthEngine.self) },
      Component((any CredentialStore).self) { _, isCacheable in
        isCacheable = true
        return MemoryCredentialStore()
      },
    ]
  }
}
