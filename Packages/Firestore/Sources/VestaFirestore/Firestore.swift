internal import Dispatch
internal import VestaConcurrency
public import VestaCore
internal import VestaFirestoreModel
internal import VestaFirestoreSync

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
  let source: any FirestoreClientSource
  let state: Locked<State>
  let clients = InstanceTable<Int, SyncClient>()
  /// The reads with completion handlers that have begun.
  let reads = ReadGate()
  /// Opened when the instance has ended.
  let ended = Latch()
  private let appName: String
  /// The app; `nil` after its deletion.
  private let owner: AppReference
  /// Where the instance is found; `nil` for one that is found nowhere.
  weak let provider: FirestoreProvider?
  /// Opened when the instance before this one has ended.
  let predecessor: Latch?

  /// The state that changes in the life of an instance.
  struct State {
    var settings: FirestoreSettings.Values
    var phase = Phase.idle
    var indexManager: PersistentCacheIndexManager?
  }

  enum Phase {
    /// Nothing has been used; settings can still be changed.
    case idle
    /// The client is being made.
    case starting
    case running(SyncClient)
    /// Reads that have begun are still answered.
    case ending(SyncClient)
    case terminated
  }

  init(
    app: VestaApp, database: DatabaseName, source: any FirestoreClientSource, provider: FirestoreProvider? = nil,
    after predecessor: Latch? = nil
  ) {
    self.database = database
    self.source = source
    self.provider = provider
    self.predecessor = predecessor
    appName = app.name
    owner = AppReference(app)
    var settings = FirestoreSettings.Values()
    if let queue = app.options.callbackQueue { settings.dispatchQueue = queue }
    state = Locked(State(settings: settings))
  }

  // MARK: Settings

  /// The settings.
  ///
  /// The getter returns a copy; assign it to change them, before the first read, write or listener. Changing them
  /// later stops the program, as in the Firebase SDK.
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
}

/// Makes the client of a database: the library does, and tests do.
protocol FirestoreClientSource: Sendable {
  /// Makes the client; does no I/O.
  ///
  /// - Parameter predecessor: Opened when the client before this one has written its last rows.
  func makeClient(
    database: DatabaseName, settings: FirestoreSettings.Values, after predecessor: Latch?
  ) throws -> SyncClient
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
