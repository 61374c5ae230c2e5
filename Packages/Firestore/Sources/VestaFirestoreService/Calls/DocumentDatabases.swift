import VestaConcurrency
import VestaCore
import VestaEngineInterop
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// The database of a call, as its request names it.
enum CallTarget: Sendable {
  case database(String)
  /// The root or a document of the database; the path after the root is checked by the call.
  case parent(String)
}

/// The permission that a call needs.
enum CallKind: Sendable {
  case read
  /// Creates the database if it does not exist.
  case write
  /// The owner's alone, whatever the options say.
  case ofOwners
  /// The owner's alone; creates the database if it does not exist.
  case administration

  var isWrite: Bool { self == .write || self == .administration }
  var isOfOwners: Bool { self == .ofOwners || self == .administration }
}

/// The databases of a store: the engine of each is made by the first call.
final class DocumentDatabases: Sendable {
  private let frame: EngineFrame<FirestoreServiceError>
  private let options: FirestoreServiceOptions
  private let engines = Locked([DatabaseName: DocumentDatabase]())
  /// The database that was named last, which most processes name all the time; none after the end.
  private let latest = Locked(Latest())
  /// The databases that were deleted here, each by a number of its deletion: their engines stay for the next creation.
  private let deleted = Locked([DatabaseName: UInt64]())
  private let opening = SingleFlight<DatabaseName, DocumentDatabase>()
  private let recent: RecentDocuments
  private let gatekeeper: (any FirestoreGuard)?

  private struct Latest {
    var known: (name: String, engine: DocumentDatabase)?
    var isOver = false
  }

  /// Identifies the engine to others on the store.
  let owner = UInt64.random(in: .min ... .max)

  init(
    options: FirestoreServiceOptions, frame: EngineFrame<FirestoreServiceError>, gatekeeper: (any FirestoreGuard)?
  ) {
    self.options = options
    self.gatekeeper = gatekeeper
    self.frame = frame
    recent = RecentDocuments(limit: options.recentDocumentBytes, tuning: options.tuning.recent)
  }

  /// Ends the engines; the store stays.
  func close() {
    latest.withLock { $0 = Latest(known: nil, isOver: true) }
    for engine in engines.withLock({ Array($0.values) }) { engine.close() }
    recent.close()
  }

  /// The engine of a call's database.
  ///
  /// - Throws: `PERMISSION_DENIED` for a caller that the options do not admit, `NOT_FOUND` for a database that does not
  ///   exist and is not created by the call.
  func engine(_ target: CallTarget, _ context: CallContext, _ kind: CallKind) async throws -> DocumentDatabase {
    try admit(context, kind)
    func found(_ name: DatabaseName) async throws -> DocumentDatabase {
      let mayMake = context.isOwner || options.databasesOfUsers?.contains(name.database) ?? true
      return try await engine(name, isMade: kind.isWrite && mayMake)
    }
    // Its store is open: the engine has it.
    if let known = latest.withLock({ $0.known }), DocumentDatabases.names(target, known) { return known.engine }
    switch target {
    case .database(let name):
      let engine = try await found(try DatabaseName(parsing: name))
      latest.withLock { latest in
        if deletion(of: engine.name) == nil, !latest.isOver { latest.known = (name, engine) }
      }
      return engine
    case .parent(let name): return try await found(try ResourceName(parent: name).database)
    }
  }

  /// The full names of all databases, in the order of their bytes.
  func names() async throws -> [String] { try await DatabaseRegister.names(in: frame.store()) }

  /// Makes a database.
  ///
  /// - Returns: `false` when it is there.
  func create(_ name: DatabaseName) async throws -> Bool {
    let deletion = deletion(of: name)
    let isNew = try await DatabaseRegister.add(name, in: frame.store())?.isNew ?? false
    exists(name, after: deletion)
    return isNew
  }

  /// Deletes the name of a database: calls do not find it, until one creates it.
  func delete(_ name: DatabaseName) async throws {
    try await DatabaseRegister.delete(name, in: frame.store())
    deleted.withLock { $0[name] = .random(in: .min ... .max) }
    latest.withLock { $0.known = nil }
  }

  private func deletion(of name: DatabaseName) -> UInt64? { deleted.withLock { $0[name] } }

  /// Notes that a database exists again, unless it was deleted again in between.
  private func exists(_ name: DatabaseName, after deletion: UInt64?) {
    guard let deletion else { return }
    deleted.withLock { if $0[name] == deletion { $0[name] = nil } }
  }

  private static func names(_ target: CallTarget, _ known: (name: String, engine: DocumentDatabase)) -> Bool {
    switch target {
    case .database(let name): UTF8Order.equal(known.name, name)
    case .parent(let name): name.utf8.dropping(prefix: known.engine.name.root.utf8) != nil
    }
  }

  private func admit(_ context: CallContext, _ kind: CallKind) throws(FirestoreServiceError) {
    guard !context.isOwner, kind.isOfOwners || options.access == .owner else { return }
    throw FirestoreServiceError(.permissionDenied, "Missing or insufficient permissions: this call is the owner's.")
  }

  private func number(of name: DatabaseName, in store: any OrderedStore, isMade: Bool) async throws -> Int64 {
    if let number = try await DatabaseRegister.number(of: name, in: store) { return number }
    let most = options.tuning.commits.databasesByReading
    let mayCreate = isMade || name.database == "(default)" || options.createsDatabasesByReading
    guard mayCreate, let number = try await DatabaseRegister.create(name, in: store, most: isMade ? nil : most) else {
      let cure =
        options.databasesOfUsers == nil
        ? "Write to it to create it." : "The project's owner creates it by writing to it."
      throw FirestoreServiceError(
        .notFound, "The database \(name.database) does not exist for project \(name.project). \(cure)")
    }
    return number
  }

  private func engine(_ name: DatabaseName, isMade: Bool) async throws -> DocumentDatabase {
    let deletion = deletion(of: name)
    if deletion == nil, let engine = engines.withLock({ $0[name] }) {
      _ = try await frame.store()
      return engine
    }
    let store = try await frame.store()
    let number = try await number(of: name, in: store, isMade: isMade)
    exists(name, after: deletion)
    return try await opening.value(for: name) {
      if let engine = self.engines.withLock({ $0[name] }) { return engine }
      try await self.recent.follow(store)
      let keys = DocumentDatabaseKeys(number)
      let unsorted = try await store.read { try await LogSorter.waiting(keys, in: $0, self.options.tuning.log) }
      let engine = DocumentDatabase(
        name: name, number: number, unsorted: unsorted, store: store, options: self.options, owner: self.owner,
        recent: self.recent, frame: self.frame, gatekeeper: self.gatekeeper)
      try await engine.indexes.declare()
      self.engines.withLock { $0[name] = engine }
      return engine
    }
  }
}
