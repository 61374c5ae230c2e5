internal import VestaBytes
internal import VestaConcurrency
public import VestaCore
internal import VestaFirestoreModel

extension Firestore {
  /// The default database of the default app.
  ///
  /// Stops the process when no default app is configured, or when it was configured without `FirestoreLibrary`. Use
  /// ``instance(for:database:)`` where that can happen.
  public static func firestore() -> Firestore { firestore(database: FirestoreProvider.defaultDatabase) }

  /// A database of the default app.
  public static func firestore(database: String) -> Firestore { instanceOrStop(of: nil, database) }

  /// The default database of an app.
  public static func firestore(app: VestaApp) -> Firestore {
    firestore(app: app, database: FirestoreProvider.defaultDatabase)
  }

  /// A database of an app.
  ///
  /// - Returns: Always the same object for the same app and database, until it is terminated.
  public static func firestore(app: VestaApp, database: String) -> Firestore { instanceOrStop(of: app, database) }

  /// A database of an app, or why there is none.
  ///
  /// - Parameters:
  ///   - app: The app; `nil` for the default app.
  ///   - database: The database; the default one unless given.
  /// - Returns: Always the same object for the same app and database, until it is terminated.
  /// - Throws: `VestaError` with a sentence that says what to do.
  public static func instance(for app: VestaApp? = nil, database: String = "(default)") throws -> Firestore {
    let app = try VestaApp.appOrDefault(app)
    return try app.container.require(
      FirestoreProvider.self, providedBy: "FirestoreLibrary of VestaFirestore (Packages/Firestore)"
    ).firestore(app: app, database: database)
  }

  private static func instanceOrStop(of app: VestaApp?, _ database: String) -> Firestore {
    do {
      return try instance(for: app, database: database)
    } catch {
      VestaApp.stop("Firestore.firestore(): \(error)")
    }
  }
}

/// The databases of an app.
final class FirestoreProvider: Sendable, ComponentLifecycleMaintainer {
  static let defaultDatabase = "(default)"

  private let databases = InstanceTable<UTF8String, Firestore>()
  /// The last instance of each database that was terminated.
  private let ends = Locked<[UTF8String: Latch]>([:])
  private let source: any FirestoreClientSource

  init(source: any FirestoreClientSource) { self.source = source }

  func firestore(app: VestaApp, database: String) throws -> Firestore {
    guard !database.isEmpty else { throw VestaError(.invalidOption, "A database must have a name.") }
    return try databases.instance(for: UTF8String(database)) {
      let name = DatabaseName(project: app.options.resourceProjectID, database: database)
      let predecessor = ends.withLock { $0[UTF8String(database)] }
      return Firestore(app: app, database: name, source: source, provider: self, after: predecessor)
    }
  }

  /// Gives the next caller a new instance in place of one that ends.
  func forget(_ firestore: Firestore) {
    let name = UTF8String(firestore.database.database)
    ends.withLock { ends in
      // Within the lock: the next instance finds its predecessor.
      if databases.remove(name, where: { $0 === firestore }) != nil { ends[name] = firestore.ended }
    }
  }

  /// Whether another instance of the same database is in use.
  func isRunning(insteadOf firestore: Firestore) -> Bool {
    databases.all.contains { $0 !== firestore && $0.database == firestore.database && $0.isRunning }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    for firestore in await databases.removeAll() { await firestore.beginEnd()() }
    for end in ends.withLock({ Array($0.values) }) { await end.wait() }
    await source.close()
  }
}
