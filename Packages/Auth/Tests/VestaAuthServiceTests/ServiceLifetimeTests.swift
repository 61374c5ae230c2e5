import Foundation
import Testing
import VestaAuthBackend
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaAuthService

@Suite struct ServiceLifetimeTests {
  @Test func `accounts, sessions and codes outlive the engine`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await world.engine.sendOobCode(
      SendOobCodeRequest(requestType: .verifyEmail, idToken: made.tokens.idToken), context: world.context)
    let code = try world.emailedCode(.verifyEmail)
    let custom = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: "bob"), context: .owner)
    let later = World(store: world.store, at: world.now)
    #expect(try await later.lookup(made.tokens).localID == made.localID)
    #expect(try await later.refresh(made.tokens).userID == made.localID)
    #expect(try await later.engine.update(UpdateRequest(oobCode: code), context: later.context).emailVerified)
    let bob = CustomTokenSignInRequest(token: custom)
    #expect(try await later.engine.signInWithCustomToken(bob, context: later.context).localID == "bob")
    #expect(later.crypto.generatedKeys == 0)
  }

  @Test func `an engine that is closed ends the deliveries of events before it closes its store`() async throws {
    let world = World()
    let observer = ClosingObserver(store: world.store)
    let registration = world.engine.events.observe(observer)
    try await world.engine.close()
    #expect(observer.wasStoreOpen.withLock { $0 } == [true])
    registration.cancel()
  }

  /// Notes at the end whether the store can still be used, as a dispatcher needs it to settle.
  private final class ClosingObserver: EventSourceObserver {
    let store: any OrderedStore
    let wasStoreOpen = Locked<[Bool]>([])

    init(store: any OrderedStore) { self.store = store }

    func eventsWereRecorded() {}
    func sourceWillClose() async {
      let isOpen: Bool
      do {
        _ = try await store.get([1])
        isOpen = true
      } catch {
        isOpen = false
      }
      wasStoreOpen.withLock { $0.append(isOpen) }
    }
  }

  // MARK: As a component

  private enum Stores: Library {
    static let name = "test-stores"
    static let version = "1.0.0"
    static func components() -> [Component] {
      [
        Component((any StoreProvider).self) { _, isCacheable in
          isCacheable = true
          return Provider()
        },
        Component((any CryptoProvider).self) { _, isCacheable in
          isCacheable = true
          return FakeCrypto()
        },
      ]
    }
  }

  /// Remembers what was opened; makes a new store each time, which records whether it was closed.
  private struct Provider: StoreProvider {
    struct Opened: Sendable {
      var name, directory: String
      var store: ModelStore
    }
    let opened = Locked<[Opened]>([])

    func openStore(
      named name: String, in directory: String, options: StoreOptions
    ) async throws -> any OrderedStore {
      let store = ModelStore()
      opened.withLock { $0.append(Opened(name: name, directory: directory, store: store)) }
      return store
    }
  }

  private func options(_ backend: VestaOptions.Backend = .embedded()) -> VestaOptions {
    VestaOptions(projectID: "demo-\(UUID().uuidString)", backend: backend)
  }

  @Test func `one engine serves both protocols and opens its store when it is used`() async throws {
    let app = try VestaApp.configure(
      name: "identity-\(UUID().uuidString)", options: options(), libraries: [AuthServiceLibrary.self, Stores.self])
    let backend = try app.container.require((any AuthBackend).self)
    let admin = try app.container.require((any AuthAdminBackend).self)
    #expect(try #require(backend as? AuthEngine).administration === admin as? AuthAdministration)
    let provider = try #require(try app.container.require((any StoreProvider).self) as? Provider)
    #expect(provider.opened.withLock { $0.isEmpty })
    let context = CallContext()
    let made = try await backend.signUp(SignUpRequest(), context: context)
    let found = try await admin.getUsers(GetUsersRequest(localIDs: [made.localID]), context: .owner)
    #expect(found.users.count == 1)
    let opened = provider.opened.withLock { $0 }
    #expect(
      opened.map(\.name) == ["auth"]
        && opened.first?.directory.hasSuffix("/\(app.options.projectID ?? "")/(engines)") == true)
    await app.delete()
    let store = try #require(opened.first).store
    await #expect(throws: StoreError.self) { try await store.read { try await $0.entries(in: .all) } }
    #expect(await refusal { try await backend.signUp(SignUpRequest(), context: context) } == .unavailable)
  }

  private enum OwnOptions: Library {
    static let name = "test-options"
    static let version = "1.0.0"
    static func components() -> [Component] {
      [
        Component(AuthServiceOptions.self) { _, _ in
          var options = AuthServiceOptions()
          options.initialConfig.signIn.allowsAnonymous = false
          return options
        }
      ]
    }
  }

  @Test func `an app may bring its own options`() async throws {
    let app = try VestaApp.configure(
      name: "identity-\(UUID().uuidString)", options: options(),
      libraries: [AuthServiceLibrary.self, Stores.self, OwnOptions.self])
    let backend = try app.container.require((any AuthBackend).self)
    #expect(
      await refusal { try await backend.signUp(SignUpRequest(), context: CallContext()) }
        == .adminOnlyOperation)
    await app.delete()
  }

  @Test func `an app with another backend has no service in the process`() throws {
    let app = try VestaApp.configure(
      name: "identity-\(UUID().uuidString)", options: options(.firebase),
      libraries: [AuthServiceLibrary.self, Stores.self])
    let error = try #require(throws: VestaError.self) { try app.container.require((any AuthBackend).self) }
    #expect(error.code == .notProvided)
    #expect(error.description.contains("AuthBackend"))
  }

  @Test func `a missing store is named while configuring`() throws {
    let error = try #require(throws: VestaError.self) {
      try VestaApp.configure(
        name: "identity-\(UUID().uuidString)", options: options(), libraries: [AuthServiceLibrary.self])
    }
    #expect(error.code == .missingDependency)
    #expect(error.message.contains("VestaSQLite") || error.message.contains("VestaCrypto"))
  }
}
