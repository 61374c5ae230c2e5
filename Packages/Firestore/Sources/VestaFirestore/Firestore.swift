internal import Dispatch
internal import VestaConcurrency
public import VestaCore
internal import VestaFirestoreModel

/// A database of documents: reads, writes, queries and listens, also while there is no network.
///
/// ```swift
/// let db = Firestore.firestore()
/// try await db.collection("cities").document("berlin").setData(["name": "Berlin"])
/// for try await snapshot in db.collection("cities").order(by: "name").snapshots {
///   print(snapshot.documents.map(\.documentID))
/// }
/// ```
///
/// - All members may be called from any thread, in any callback.
/// - Completion handlers and listeners are called on the queue of ``settings``, the main queue unless it was set.
/// - Writes are shown to listeners at once, and sent to the backend in order. They survive a restart with a cache on
///   disk.
///
/// To read on: `Query.swift`, `DocumentReference+Writes.swift`, then `VestaFirestoreSync`'s `ClientMachine.swift`.
public final class Firestore: Sendable {
  let database: DatabaseName
  private let appName: String
  private let source: any FirestoreClientSource
  private let state: Locked<State>
  private let clients = InstanceTable<Int, any FirestoreClient>()
  /// The app; `nil` once it is gone.
  private let owner: AppReference

  /// The state that changes in the life of an instance.
  private struct State {
    var settings: FirestoreSettings.Values
    var phase = Phase.idle
  }

  private enum Phase {
    /// Nothing has been used; settings can still be changed.
    case idle
    /// The client is being made.
    case starting
    case running(any FirestoreClient)
    case terminated
  }

  init(app: VestaApp, database: DatabaseName, source: any FirestoreClientSource) {
    self.database = database
    self.source = source
    appName = app.name
    owner = AppReference(app)
    var settings = FirestoreSettings.Values()
    if let queue = app.options.callbackQueue { settings.dispatchQueue = queue }
    state = Locked(State(settings: settings))
  }

  // MARK: Settings

  /// The settings.
  ///
  /// The getter returns a copy; assign it to change them, before the first read, write or listener. Changing them later
  /// stops the program, as in the Firebase SDK.
  public var settings: FirestoreSettings {
    get { FirestoreSettings(state.withLock { $0.settings }) }
    set {
      let values = newValue.values
      let isIdle = state.withLock { state in
        guard case .idle = state.phase else { return false }
        state.settings = values
        return true
      }
      precondition(
        isIdle,
        "Firestore instance has already been started and its settings can no longer be changed. You can only set settings "
          + "before calling any other methods on a Firestore instance.")
    }
  }

  /// The app.
  ///
  /// Stops the program if the app has been deleted.
  public var app: VestaApp {
    guard let app = owner.app else { preconditionFailure("The app \"\(appName)\" of this Firestore has been deleted.") }
    return app
  }

  /// The queue of listeners and completion handlers.
  var callbackQueue: DispatchQueue { state.withLock { $0.settings.dispatchQueue } }

  // MARK: References

  /// A collection.
  ///
  /// - Parameter collectionPath: A path with an odd number of segments, such as `cities`; anything else stops the
  ///   program.
  public func collection(_ collectionPath: String) -> CollectionReference {
    CollectionReference(path: UserPath.parse(collectionPath, kind: .collection), firestore: self)
  }

  /// A document.
  ///
  /// - Parameter documentPath: A path with an even number of segments, such as `cities/berlin`; anything else stops the
  ///   program.
  public func document(_ documentPath: String) -> DocumentReference {
    DocumentReference(path: UserPath.parse(documentPath, kind: .document), firestore: self)
  }

  /// A query for the documents of all collections with an id, wherever they are.
  ///
  /// - Parameter collectionID: An id without slashes; anything else stops the program.
  public func collectionGroup(_ collectionID: String) -> Query {
    Query(
      QueryDescription(
        database: database, path: ResourcePath([]), collectionGroup: UserPath.groupID(collectionID)),
      firestore: self)
  }

  /// The reference for a name of the backend, which may be of another database by mistake.
  @Sendable func reference(named name: String) -> DocumentReference? {
    guard let resource = try? ResourceName(document: name, likely: database) else { return nil }
    return DocumentReference(path: resource.path, firestore: self)
  }

  // MARK: The client beneath

  /// The client, started at the first use.
  ///
  /// - Throws: `failedPrecondition` after `terminate()`, or why it cannot be made.
  func client() throws -> any FirestoreClient {
    if let running = try running() { return running }
    // Made once however many threads ask, with no lock held: making it asks other products.
    let client = try clients.instance(for: 0) { try make() }
    let isKept = state.withLock { state in
      if case .terminated = state.phase { return false }
      state.phase = .running(client)
      return true
    }
    if isKept { return client }
    Task.detached { await client.shutdown() }
    throw Self.terminatedError
  }

  private func running() throws -> (any FirestoreClient)? {
    switch state.withLock({ $0.phase }) {
    case .idle, .starting: nil
    case .running(let client): client
    case .terminated: throw Self.terminatedError
    }
  }

  /// Makes the client, and keeps the settings from changing from here on, unless that fails.
  private func make() throws -> any FirestoreClient {
    let settings = state.withLock { state in
      if case .idle = state.phase { state.phase = .starting }
      return state.settings
    }
    do {
      return try source.makeClient(database: database, settings: settings)
    } catch {
      state.withLock { if case .starting = $0.phase { $0.phase = .idle } }
      throw error
    }
  }

  private static let terminatedError = FirestoreErrorCode(
    .failedPrecondition, "The client has already been terminated.")

  /// Ends the client; it was running before if one is returned.
  func end() -> (any FirestoreClient)? {
    state.withLock { state in
      defer { state.phase = .terminated }
      if case .running(let client) = state.phase { return client }
      return nil
    }
  }

  /// Removes the cache of a client that is not running.
  func clearCache() async throws {
    let settings = try state.withLock { state in
      switch state.phase {
      case .idle, .terminated: break
      case .starting, .running:
        throw FirestoreErrorCode(
          .failedPrecondition, "Persistence cannot be cleared while the client is running.")
      }
      return state.settings
    }
    try await source.clearCache(database: database, settings: settings)
  }
}

/// Makes the client of a database: the library does, and tests do.
protocol FirestoreClientSource: Sendable {
  /// Makes the client; does no I/O.
  func makeClient(database: DatabaseName, settings: FirestoreSettings.Values) throws -> any FirestoreClient
  /// Removes what clients of the database keep on disk.
  func clearCache(database: DatabaseName, settings: FirestoreSettings.Values) async throws
  /// Releases what all clients share.
  func close() async
}

/// Does not keep the app alive.
private final class AppReference: Sendable {
  weak let app: VestaApp?

  init(_ app: VestaApp) { self.app = app }
}
