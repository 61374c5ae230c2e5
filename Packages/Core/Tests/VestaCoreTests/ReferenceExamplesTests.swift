import Testing
import VestaConcurrency
import VestaCore

/// The examples of the component system's description, each as a running program.
@Suite struct ReferenceExamplesTests {
  // MARK: A leaf: Functions provides nothing to others and is registered for instance management alone.

  private final class Functions: Sendable {
    let appName: String
    let auth: (any UserInterop)?
    init(appName: String, auth: (any UserInterop)? = nil) { (self.appName, self.auth) = (appName, auth) }

    static func functions(app: VestaApp) -> Functions? { app.container.resolve(Functions.self) }
  }

  private enum LeafLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        Component(Functions.self) { container, isCacheable in
          isCacheable = true
          return Functions(appName: container.appName)
        }
      ]
    }
  }

  @Test func `a leaf is one instance for each app`() throws {
    let (one, two) = (uniqueName(), uniqueName())
    let first = try VestaApp.configure(name: one, options: VestaOptions(), libraries: [LeafLibrary.self])
    let second = try VestaApp.configure(name: two, options: VestaOptions(), libraries: [LeafLibrary.self])
    let functions = try #require(Functions.functions(app: first))
    #expect(functions.appName == one)
    #expect(functions === Functions.functions(app: first))
    #expect(functions !== Functions.functions(app: second))
  }

  // MARK: A provider: Auth offers its functionality through an interop protocol.

  private protocol UserInterop: Sendable { func userID() -> String? }
  private protocol SignInInterop: Sendable { func signIn(_ userID: String) }
  private protocol CombinedInterop: UserInterop, SignInInterop {}

  private final class Auth: CombinedInterop {
    private let user = Locked<String?>(nil)
    func userID() -> String? { user.withLock { $0 } }
    func signIn(_ userID: String) { user.withLock { $0 = userID } }
  }

  private enum AuthLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        Component((any UserInterop).self) { _, isCacheable in
          isCacheable = true
          return Auth()
        }
      ]
    }
  }

  @Test func `a provider is found by its protocol alone`() throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [AuthLibrary.self])
    let auth = try app.container.require((any UserInterop).self)
    #expect(auth.userID() == nil)
    #expect(auth as? Auth === app.container.resolve((any UserInterop).self) as? Auth)
  }

  // MARK: Several instances for each app: Firestore's provider owns its databases.

  private final class Firestore: Sendable {
    let database: String
    init(database: String) { self.database = database }

    static func firestore(app: VestaApp, database: String) throws -> Firestore {
      try app.container.require((any MultiDatabaseProvider).self).firestore(database: database)
    }
  }

  private protocol MultiDatabaseProvider: Sendable { func firestore(database: String) throws -> Firestore }

  private final class FirestoreProvider: MultiDatabaseProvider {
    private let databases = InstanceTable<String, Firestore>()
    func firestore(database: String) throws -> Firestore {
      try databases.instance(for: database) { Firestore(database: database) }
    }
  }

  private enum FirestoreLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        Component((any MultiDatabaseProvider).self) { _, isCacheable in
          isCacheable = true
          return FirestoreProvider()
        }
      ]
    }
  }

  @Test func `a multi-instance provider keeps one instance for each key`() throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [FirestoreLibrary.self])
    let cities = try Firestore.firestore(app: app, database: "cities")
    let users = try Firestore.firestore(app: app, database: "users")
    #expect(cities.database == "cities")
    #expect(cities !== users)
    #expect(cities === (try Firestore.firestore(app: app, database: "cities")))
  }

  // MARK: An optional dependency: Functions uses Auth where there is one.

  private enum FunctionsWithAuthLibrary: TestLibrary {
    static func components() -> [Component] {
      [
        Component(Functions.self, dependencies: [.optional((any UserInterop).self)]) { container, isCacheable in
          isCacheable = true
          return Functions(appName: container.appName, auth: container.resolve((any UserInterop).self))
        }
      ]
    }
  }

  @Test func `an optional dependency is injected where it is there`() throws {
    let libraries: [any Library.Type] = [FunctionsWithAuthLibrary.self, AuthLibrary.self]
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: libraries)
    let functions = try #require(Functions.functions(app: app))
    #expect(functions.auth as? Auth === app.container.resolve((any UserInterop).self) as? Auth)
  }

  @Test func `an optional dependency that is absent is nil`() throws {
    let app = try VestaApp.configure(
      name: uniqueName(), options: VestaOptions(), libraries: [FunctionsWithAuthLibrary.self])
    let functions = try #require(Functions.functions(app: app))
    #expect(functions.auth == nil)
  }

  // MARK: Two protocols, one instance: three components share it through a combined protocol.

  private enum SharedAuthLibrary: TestLibrary {
    static func components() -> [Component] {
      let combined = Dependency.required((any CombinedInterop).self)
      return [
        Component((any CombinedInterop).self) { _, isCacheable in
          isCacheable = true
          return Auth()
        },
        // Neither of these caches: the combined component does.
        Component((any UserInterop).self, dependencies: [combined]) { container, _ in
          try container.require((any CombinedInterop).self)
        },
        Component((any SignInInterop).self, dependencies: [combined]) { container, _ in
          try container.require((any CombinedInterop).self)
        },
      ]
    }
  }

  @Test func `two protocols share one instance through a combined one`() throws {
    let app = try VestaApp.configure(name: uniqueName(), options: VestaOptions(), libraries: [SharedAuthLibrary.self])
    try app.container.require((any SignInInterop).self).signIn("ada")
    #expect(try app.container.require((any UserInterop).self).userID() == "ada")
  }
}
