import Foundation
import Testing
import VestaAppCheckInterop
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaAuthInterop
import VestaAuthInteropContracts
import VestaCore
import VestaCredentialInterop
import VestaTesting

@testable import VestaAuth

@Suite struct AuthLibraryTests {
  enum BackendLibrary: Library {
    static let name = "test-backend", version = "1.0.0"
    static func components() -> [Component] {
      [
        Component((any AuthBackend).self) { _, isCacheable in
          isCacheable = true
          return ScriptedAuthBackend()
        }
      ]
    }
  }

  enum StoreLibrary: Library {
    static let name = "test-store", version = "1.0.0"
    static func components() -> [Component] {
      [
        Component((any CredentialStore).self) { _, isCacheable in
          isCacheable = true
          return MemoryCredentialStore()
        }
      ]
    }
  }

  @Test func `Auth is the same object for app and interop`() async throws {
    let app = try VestaApp.configure(
      name: uniqueName(), options: VestaOptions(),
      libraries: [StoreLibrary.self, BackendLibrary.self, AuthLibrary.self])
    let auth = Auth.auth(app: app)
    let again = try Auth.instance(for: app)
    #expect(auth === again && auth.app === app)
    #expect(app.container.resolve((any AuthInterop).self) as? Auth === auth)
    #expect(auth.store is MemoryCredentialStore)
    try await auth.signInAnonymously()
    await app.delete()
    #expect(auth.currentUser == nil)
  }

  enum FailingStoreLibrary: Library {
    static let name = "failing-store", version = "1.0.0"
    struct NoKey: Error {}
    static func components() -> [Component] {
      [Component((any CredentialStore).self) { _, _ in throw NoKey() }]
    }
  }

  @Test func `a store that cannot be made is not replaced by a plain file`() async throws {
    try await withTemporaryDirectory { directory in
      let options = VestaOptions()
      options.backend = .embedded(directory: directory)
      let app = try VestaApp.configure(
        name: uniqueName(), options: options,
        libraries: [FailingStoreLibrary.self, BackendLibrary.self, AuthLibrary.self])
      let error = #expect(throws: VestaError.self) { try Auth.instance(for: app) }
      #expect(error?.description.contains("CredentialStore") == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
      await app.delete()
    }
  }

  enum FailingAppCheckLibrary: Library {
    static let name = "failing-app-check", version = "1.0.0"
    struct NoKey: Error {}
    static func components() -> [Component] {
      [Component((any AppCheckInterop).self) { _, _ in throw NoKey() }]
    }
  }

  @Test func `App Check that cannot be made is not left off`() async throws {
    let app = try VestaApp.configure(
      name: uniqueName(), options: VestaOptions(),
      libraries: [FailingAppCheckLibrary.self, StoreLibrary.self, BackendLibrary.self, AuthLibrary.self])
    #expect(throws: VestaError.self) { try Auth.instance(for: app) }
    await app.delete()
  }

  @Test func `without a backend the error names the package`() {
    let error = #expect(throws: VestaError.self) {
      try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [AuthLibrary.self])
    }
    #expect(error?.code == .missingDependency && error?.message.contains("VestaAuthService") == true)
  }

  @Test func `without Auth the throwing way says so`() throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [])
    #expect(throws: VestaError.self) { try Auth.instance(for: app) }
  }

  #if os(Linux) || os(macOS) || os(Windows)
    @Test func `Auth without an app stops the process`() async {
      await #expect(processExitsWith: .failure) { _ = Auth.auth() }
    }
  #endif

  @Test func `configuring reads nothing`() async throws {
    try await withTemporaryDirectory { directory in
      let options = VestaOptions()
      options.backend = .embedded(directory: directory)
      let app = try VestaApp.configure(
        name: uniqueName(), options: options, libraries: [BackendLibrary.self, AuthLibrary.self])
      let auth = Auth.auth(app: app)
      let before = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(before.isEmpty && auth.store is FileCredentialStore)
      try await auth.signInAnonymously()
      let path = app.dataDirectory.appending(path: "auth-session").path
      let after = try FileManager.default.contentsOfDirectory(atPath: path)
      #expect(after == ["auth-\(app.name).session"])
      await app.delete()
    }
  }

  @Test func `the promises of Auth interop are kept`() async {
    let outcomes = await AuthInteropContracts.all.run {
      let test = try TestAuth()
      return AuthInteropSubject(
        test.auth,
        signIn: { _ = try await test.auth.signIn(withCustomToken: $0) },
        signOut: { try test.auth.signOut() },
        setRefreshesFail: { test.backend.fail("refresh", with: $0 ? .unavailable : nil) },
        setRefreshesHeld: { $0 ? test.backend.hold("refresh") : test.backend.release("refresh") }
      )
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.description) == [])
    #expect(outcomes.count > 10)
  }

  @Test func `a rejected user is a rejection for other products`() async throws {
    let test = try TestAuth()
    try await test.signIn()
    test.backend.fail("refresh", with: .userDisabled)
    let error = await #expect(throws: AuthInteropError.self) { try await test.auth.getToken(forcingRefresh: true) }
    #expect(error?.code == .userRejected && test.auth.getUserID() == nil)
  }
}
