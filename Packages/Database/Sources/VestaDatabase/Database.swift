public import Dispatch
import VestaConcurrency
public import VestaCore
public import VestaDataCoding
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

/// A Realtime Database: a tree of values that all clients see change.
///
/// ```swift
/// let rooms = Database.database().reference(withPath: "rooms")
/// try await rooms.child("hall").setValue(["name": "Hall", "size": 40])
/// for try await snapshot in rooms.value { print(snapshot.childrenCount) }
/// ```
///
/// - All members may be called from any thread, in any callback.
/// - Writes show in this client's observers at once, and are taken back if the service refuses them.
/// - Observers and completions are called on ``callbackQueue``, in the order in which things happened.
///
/// To read on: `DatabaseQuery.swift`, `DatabaseReference.swift`, then `Repo/Repo.swift`.
public final class Database: Sendable {
  /// Encodes values for ``DatabaseReference/setValue(from:encoder:completion:)``.
  public typealias Encoder = FirebaseDataEncoder
  /// Decodes the values of snapshots.
  public typealias Decoder = FirebaseDataDecoder

  /// The app; `nil` after its deletion.
  public weak let app: VestaApp?

  private struct State {
    var url: DatabaseURL
    var isPersistenceEnabled = false
    var cacheSize: UInt = 10 << 20
    var callbackQueue: DispatchQueue
    /// The way to the emulator that the program names; `nil` for the backend of the app.
    var emulator: (any DatabaseBackend)?
    var storeName: String
    var repo: Repo?
    var persistence: Persistence?
  }

  private let state: Locked<State>
  private let environment: Repo.Environment
  private let events: EventQueue
  private let pushIDs = Locked(PushID())
  private let stores: (any StoreProvider)?
  private let emulators: EmulatorConnection<any DatabaseBackend>?
  private let directory: @Sendable () async throws -> String

  init(
    app: VestaApp?, url: DatabaseURL, environment: Repo.Environment, callbackQueue: DispatchQueue,
    stores: (any StoreProvider)?, storeName: String, emulators: EmulatorConnection<any DatabaseBackend>? = nil,
    directory: @escaping @Sendable () async throws -> String
  ) {
    self.app = app
    self.environment = environment
    self.stores = stores
    self.emulators = emulators
    self.directory = directory
    events = EventQueue(callbackQueue, limit: environment.tuning.callsOfABatch)
    state = Locked(State(url: url, callbackQueue: callbackQueue, storeName: storeName))
  }

  // MARK: Reaching it

  /// The database of the default app.
  ///
  /// Stops the process when no default app is configured, or when it was configured without `DatabaseLibrary`. Use
  /// ``instance(for:url:)`` where that can happen.
  public class func database() -> Database { require(nil, nil) }

  /// A database of the default app, by its address.
  public class func database(url: String) -> Database { require(nil, url) }

  /// The database of an app.
  public class func database(app: VestaApp) -> Database { require(app, nil) }

  /// A database of an app, by its address.
  public class func database(app: VestaApp, url: String) -> Database { require(app, url) }

  /// A database, or why there is none.
  ///
  /// - Parameters:
  ///   - app: The app; `nil` for the default app.
  ///   - url: The address; `nil` for that of the app's options.
  /// - Returns: Always the same object for the same app and address.
  /// - Throws: `VestaError` or ``DatabaseError`` with a sentence that says what to do.
  public class func instance(for app: VestaApp? = nil, url: String? = nil) throws -> Database {
    let app = try VestaApp.appOrDefault(app)
    return try app.container.require(
      DatabaseProvider.self, providedBy: "DatabaseLibrary of VestaDatabase (Packages/Database)"
    ).database(url: url)
  }

  private class func require(_ app: VestaApp?, _ url: String?) -> Database {
    do {
      return try instance(for: app, url: url)
    } catch {
      VestaApp.stop("Database.database(): \(error)")
    }
  }

  // MARK: References

  /// The root.
  public func reference() -> DatabaseReference { DatabaseReference(self, .root) }

  /// The reference of a path.
  ///
  /// A path that is not valid results in a reference whose every use fails with a sentence that says why.
  public func reference(withPath path: String) -> DatabaseReference {
    let problem = path.isEmpty || path == "/" || KeyRules.isValidRootPath(path) ? nil : Texts.path("referenceWithPath:")
    return DatabaseReference(self, DatabasePath(path), problem: problem)
  }

  /// The reference of a URL, which has to be one of this database.
  public func reference(fromURL databaseUrl: String) -> DatabaseReference {
    do throws(DatabaseError) {
      let url = try DatabaseURL(databaseUrl)
      let own = address
      guard url.host == own.host else {
        let text = """
          Invalid URL (\(databaseUrl)) passed to getReference(). \
          URL was expected to match configured Database URL: \(own.host)
          """
        return DatabaseReference(self, url.path, problem: text)
      }
      let isValid = url.path.isRoot || KeyRules.isValidRootPath(url.path.text)
      return DatabaseReference(self, url.path, problem: isValid ? nil : Texts.path("referenceFromURL:"))
    } catch {
      return DatabaseReference(self, .root, problem: error.message)
    }
  }

  /// The address without a path.
  var address: DatabaseURL { state.withLock { $0.url } }

  /// The machinery, which the first use makes.
  var repo: Repo {
    state.withLock { state in
      if let repo = state.repo { return repo }
      let limit = Int(state.cacheSize)
      if state.isPersistenceEnabled, let stores, state.persistence == nil {
        let (name, directory) = (state.storeName, directory)
        state.persistence = Persistence(limit: limit, tuning: environment.tuning, clock: environment.clock) {
          try await stores.openStore(named: name, in: directory(), options: StoreOptions())
        }
      }
      var environment = environment
      if let emulator = state.emulator { environment.backend = emulator }
      let repo = Repo(
        url: state.url, environment: environment, events: events,
        persistence: state.isPersistenceEnabled ? state.persistence : nil)
      state.repo = repo
      return repo
    }
  }

  /// How far the service's clock is ahead, in milliseconds, as far as that is known.
  var serverTimeOffset: Int64 { state.withLock { $0.repo }?.knownOffset.withLock { $0 } ?? 0 }

  /// A key that sorts after all keys that this database has made before.
  func nextPushID() -> String {
    let now = environment.clock.milliseconds() + serverTimeOffset
    return pushIDs.withLock { $0.next(at: now) }
  }

  // MARK: Going online and offline

  /// Takes back all writes that the service has not acknowledged yet; their completions get an error.
  public func purgeOutstandingWrites() { repo.perform { $0.purgeOutstandingWrites() } }

  /// Closes the connection, and opens none until ``goOnline()``.
  public func goOffline() { repo.perform { $0.interrupt(.offline) } }

  /// Connects again after ``goOffline()``.
  public func goOnline() { repo.perform { $0.resume(.offline) } }

  // MARK: Settings

  /// Whether data and writes are kept on this device, for the time without a connection and the next start.
  ///
  /// It needs a store in the app. To be set before anything else is done with the database: later, it changes nothing
  /// and the log says so.
  public var isPersistenceEnabled: Bool {
    get { state.withLock { $0.isPersistenceEnabled } }
    set { configure("setPersistenceEnabled") { $0.isPersistenceEnabled = newValue } }
  }

  /// How much data is kept on this device, in bytes: between 1 MiB and 100 MiB, 10 MiB unless it is set.
  ///
  /// Other sizes change nothing and the log says so.
  public var persistenceCacheSizeBytes: UInt {
    get { state.withLock { $0.cacheSize } }
    set {
      if newValue < 1 << 20 { return log.error("I-RDB000009", "The minimum cache size must be at least 1MB") }
      if newValue > 100 << 20 {
        let text = "Firebase Database currently doesn't support a cache size larger than 100MB"
        return log.error("I-RDB000010", text)
      }
      configure("setPersistenceCacheSizeBytes") { $0.cacheSize = newValue }
    }
  }

  /// The queue on which observers and completions are called; the main queue unless it is set.
  public var callbackQueue: DispatchQueue {
    get { state.withLock { $0.callbackQueue } }
    set {
      state.withLock { $0.callbackQueue = newValue }
      events.setTarget(newValue)
    }
  }

  /// Connects to the database of an emulator; before anything else is done with it.
  ///
  /// The app's list has to have a library that reaches emulators, `DatabaseRemoteLibrary`. An app with the embedded
  /// backend has no such library: its database is the engine's all the same, and the log says so. The device keeps
  /// the emulator's data apart from the rest.
  public func useEmulator(withHost host: String, port: Int) {
    let origin = EmulatorOrigin(host: host, port: port)
    let emulator: (any DatabaseBackend)?
    do {
      emulator = try emulators?.backend(at: origin)
    } catch {
      return log.error("I-RDB000022", "The emulator at \(host):\(port) cannot be used. \(error)")
    }
    let isLate = state.withLock { state in
      if state.repo != nil { return true }
      let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
      state.url = DatabaseURL(host: "\(name):\(port)", isSecure: false, namespace: state.url.namespace)
      state.emulator = emulator
      if emulator != nil { state.storeName = DatabaseProvider.storeName(state.url) }
      return false
    }
    if emulator == nil, let backend = app?.options.backend { warn(of: backend, insteadOf: origin) }
    if isLate {
      log.error(
        "I-RDB000011",
        """
        Cannot connect to emulator after database initialization. Call useEmulator(host:port:) before creating a \
        database reference or trying to load data.
        """)
    }
  }

  private func warn(of backend: VestaOptions.Backend, insteadOf origin: EmulatorOrigin) {
    log.warning(
      "I-RDB000023",
      """
      useEmulator names \(origin), but the backend of the app is "\(backend)", and the database is there. Configure the \
      app with VestaOptions.backend = .emulator(host:port:) and DatabaseRemoteLibrary (with FirebaseCompat: link \
      FirebaseRemote and set VESTA_BACKEND=emulator:HOST:PORT), or leave useEmulator out.
      """)
  }

  private func configure(_ name: String, _ body: (inout State) -> Void) {
    let isLate = state.withLock { state in
      if state.repo == nil { body(&state) }
      return state.repo != nil
    }
    if isLate {
      log.error("I-RDB000012", "Calls to \(name) must be made before any other usage of FIRDatabase instance.")
    }
  }

  /// Whether the log has everything that the database does.
  public class func setLoggingEnabled(_ enabled: Bool) {
    VestaConfiguration.shared.setLoggerLevel(enabled ? .debug : .notice)
  }

  /// The version of this library.
  public class func sdkVersion() -> String { VestaVersion() }

  /// Ends the database with its app.
  func shutDown() async {
    let (repo, persistence) = state.withLock { ($0.repo, $0.persistence) }
    if let repo {
      await withCheckedContinuation { continuation in
        // After the start, so that what was asked during it is not lost.
        repo.perform { repo in
          repo.shutDown()
          continuation.resume()
        }
      }
    }
    await persistence?.close()
  }
}

private let log = Logger(service: "VestaDatabase")
