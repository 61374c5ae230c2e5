import Dispatch
import VestaAppCheckInterop
import VestaAuthInterop
import VestaBytes
public import VestaCore
import VestaDatabaseBackend
import VestaServiceInterop
import VestaStoreInterop

/// Registers the client of the Realtime Database.
///
/// It needs a `DatabaseBackend`, uses Auth and App Check where they are there, and a store for what is kept on the
/// device.
///
/// ```swift
/// try VestaApp.configure(libraries: [DatabaseLibrary.self, DatabaseServiceLibrary.self, SQLiteLibrary.self])
/// let reference = Database.database().reference()
/// ```
public enum DatabaseLibrary: Library {
  /// The name of the library.
  public static let name = "vesta-database"

  /// The version of the library.
  public static let version = VestaVersion()

  private static let backendLibraries = """
    DatabaseServiceLibrary of VestaDatabaseService (the embedded engine; Packages/Database), which needs \
    a store too, such as SQLiteLibrary of VestaSQLite (Packages/SQLite), or DatabaseRemoteLibrary of \
    VestaDatabaseRemote (a server, emulators or Firebase; Packages/Database) with TransportLibrary of \
    VestaTransport (Packages/Transport)
    """

  /// The databases of an app.
  public static func components() -> [Component] {
    [
      Component(
        DatabaseProvider.self,
        dependencies: [
          .required((any DatabaseBackend).self, providedBy: backendLibraries),
          .optional((any AuthInterop).self),
          .optional((any AppCheckInterop).self),
          .optional((any StoreProvider).self),
          .optional(EmulatorConnection<any DatabaseBackend>.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try DatabaseProvider(container)
      }
    ]
  }
}

/// The databases of an app, one for each address.
final class DatabaseProvider: Sendable, ComponentLifecycleMaintainer {
  private let databases = InstanceTable<DatabaseURL, Database>()
  private let make: @Sendable (DatabaseURL) -> Database
  private let defaultURL: String

  init(_ container: ComponentContainer) throws {
    guard let app = container.app else {
      throw VestaError(.appDeleted, "The app was deleted while its databases were being made.")
    }
    var environment = Repo.Environment(backend: try container.require((any DatabaseBackend).self))
    environment.auth = try container.find((any AuthInterop).self)
    environment.appCheck = try container.find((any AppCheckInterop).self)
    environment.userAgent = app.userAgent
    let stores = try container.find((any StoreProvider).self)
    let emulators = try container.find(EmulatorConnection<any DatabaseBackend>.self)
    let queue = app.options.callbackQueue ?? .main
    let directory: @Sendable () async throws -> String = { [weak app] in
      guard let app else { throw VestaError(.appDeleted, "The app of this database has been deleted.") }
      return await app.dataPathWhenFree()
    }
    let project = app.options.resourceProjectID
    defaultURL = app.options.databaseURL ?? "https://\(project)-default-rtdb.firebaseio.com"
    make = { [weak app, environment] url in
      Database(
        app: app, url: url, environment: environment, callbackQueue: queue, stores: stores,
        storeName: Self.storeName(url), emulators: emulators, directory: directory)
    }
  }

  /// A name that a store can have, and that no other address has.
  static func storeName(_ url: DatabaseURL) -> String {
    let address = "\(url.host)_\(url.namespace)"
    let text = address.map { character in
      character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character)) ? character : "_"
    }
    // A host that begins with the namespace says which database it is, as all in production do.
    let isWhole = text.count <= 80 || url.host.count <= 80 && url.host.hasPrefix(url.namespace + ".")
    let name = isWhole ? String(text.prefix(80)) : String(text.prefix(63)) + "-\(FNV1a.hash(address))"
    return "database-cache-" + name
  }

  func database(url text: String?) throws -> Database {
    let url = try DatabaseURL(text ?? defaultURL)
    guard url.path.isRoot else {
      throw DatabaseError(
        .other, "Configured Database URL '\(text ?? defaultURL)' is invalid. It should point to the root of a database."
      )
    }
    return try databases.instance(for: url) { make(url) }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    for database in await databases.removeAll() { await database.shutDown() }
  }
}
