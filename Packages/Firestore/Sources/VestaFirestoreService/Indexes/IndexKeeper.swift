import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop
import VestaConcurrency

/// Makes the indexes that queries ask for, lets writes maintain them, and drops those that nobody uses.
///
/// An index is registered first: from that commit on every write maintains it. Then documents are added, many at a time,
/// and it is noted how far that came; so a build goes on after a restart. Then it is ready, and queries use it.
final class IndexKeeper: Sendable {
  private struct State: Sendable {
    var catalogue: IndexCatalogue?
    var building: [IndexShape: Task<Void, Never>] = [:]
    var lastCheck: Int64 = 0
    var aging: Task<Void, Never>?
    var isClosed = false
  }

  private static let hour: Int64 = 3_600_000_000

  private let state = Locked(State())
  private let store: any OrderedStore
  private let keys: DatabaseKeys
  private let options: FirestoreServiceOptions
  let declared: DeclaredIndexes

  init(store: any OrderedStore, keys: DatabaseKeys, options: FirestoreServiceOptions) {
    self.store = store
    self.keys = keys
    self.options = options
    declared = DeclaredIndexes(options.indexes)
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// The indexes as a reader's head has them.
  func catalogue(_ head: Head, _ reader: any StoreReader) async throws -> IndexCatalogue {
    if let known = state.withLock({ $0.catalogue }), known.version == head.catalogue { return known }
    let indexes = try await reader.entries(in: KeyRange(prefix: keys.indexes)).map { entry in
      var decoder = KeyDecoder(entry.key, from: keys.indexes.count)
      return IndexCatalogue.Index(id: try decoder.int(), row: try IndexRow(entry.value))
    }
    let catalogue = IndexCatalogue(version: head.catalogue, indexes)
    state.withLock { state in
      if state.catalogue.map({ $0.version < catalogue.version }) ?? true { state.catalogue = catalogue }
    }
    for index in indexes where !index.row.isReady { build([index.row.shape]) }
    return catalogue
  }

  /// Notes that queries have use for an index, once in an hour.
  func use(_ index: IndexCatalogue.Index) {
    let now = options.now()
    guard now - index.row.lastUsed > IndexKeeper.hour else { return }
    state.withLock { state in
      guard now - state.lastCheck > IndexKeeper.hour, !state.isClosed else { return }
      state.lastCheck = now
      state.aging = Task.detached { try? await self.age(using: index.id, now: now) }
    }
  }

  /// Registers the declared indexes and makes those that are not ready, in the background and one after the other.
  func declare() async throws {
    if declared.shapes.isEmpty { return }
    let known = try await store.read { reader in
      guard let head = try await reader.get(self.keys.head) else { throw FirestoreError.damaged }
      return try await self.catalogue(try Head(head), reader).byShape
    }
    let missing = declared.shapes.filter { known[$0] == nil }
    if !missing.isEmpty { _ = try await register(missing) }
    build(declared.shapes.filter { known[$0]?.row.isReady != true })
  }

  /// Makes indexes in the background; nothing happens to one that is being made.
  func build(_ shapes: [IndexShape]) {
    state.withLock { state in
      let shapes = shapes.filter { state.building[$0] == nil }
      guard !state.isClosed, !shapes.isEmpty else { return }
      // Detached: a build may be asked for from within a transaction, and is no part of it.
      let task = Task.detached {
        for shape in shapes {
          // A failure leaves the index unfinished; the next query that wants it goes on.
          try? await self.run(shape)
          self.state.withLock { $0.building[shape] = nil }
        }
      }
      for shape in shapes { state.building[shape] = task }
    }
  }

  /// Refuses a query that production would refuse for want of an index, if the options say so.
  ///
  /// - Throws: `FAILED_PRECONDITION` that tells which index is missing or not ready.
  func check(_ query: NormalQuery, figures: [FieldPath] = [], _ snapshot: Snapshot) async throws {
    guard options.requiresDeclaredIndexes else { return }
    let (used, findings) = IndexRules(declared: declared).verdict(on: query, figures: figures)
    let database = query.parent.database
    switch findings.first {
    case .missing(let index)?: throw index.missing(in: database, isBuilding: false)
    case .missingVector(let index)?: throw index.missingVector(in: database)
    case .missingField(let index)?: throw index.missingField(in: database, isBuilding: false)
    case nil: break
    }
    if used.isEmpty { return }
    let known = try await catalogue(snapshot.head, snapshot.reader).byShape
    for index in used {
      guard let shape = index.shape else { continue }
      // An index serves both directions.
      if [shape, shape.turned].contains(where: { known[$0]?.row.isReady == true }) { continue }
      throw index.missing(in: database, isBuilding: true)
    }
  }

  /// Waits until no index is being made or dropped.
  func settle() async {
    await state.withLock { $0.aging }?.value
    while let task = state.withLock({ $0.building.values.first }) { await task.value }
  }

  private func run(_ shape: IndexShape) async throws {
    let build = IndexBuild(of: try await register([shape])[0], keys: keys)
    while var run = try await store.read({ try await build.next(in: $0) }) {
      while run.isOpen {
        if state.withLock({ $0.isClosed }) { return }
        // The body may run again, and begins with the same run then.
        let before = run
        run = try await store.write { try await build.write(before, in: $0) }.value
      }
      if run.isLast { return }
    }
  }

  /// The numbers of indexes; those that are not there are added, and writes maintain them from then on.
  private func register(_ shapes: [IndexShape]) async throws -> [Int64] {
    let (keys, now) = (keys, options.now())
    return try await store.write { transaction in
      guard let bytes = try await transaction.get(keys.head) else { throw FirestoreError.damaged }
      var head = try Head(bytes)
      var known: [IndexShape: Int64] = [:]
      for entry in try await transaction.entries(in: KeyRange(prefix: keys.indexes)) {
        var decoder = KeyDecoder(entry.key, from: keys.indexes.count)
        known[try IndexRow(entry.value).shape] = try decoder.int()
      }
      var numbers: [Int64] = []
      for shape in shapes {
        if let number = known[shape] {
          numbers.append(number)
          continue
        }
        // The catalogue's versions are never used twice, and so neither are the numbers of indexes.
        head.catalogue += 1
        let row = IndexRow(shape: shape, progress: .building(after: nil), lastUsed: now)
        try await transaction.put(row.bytes, for: keys.index(head.catalogue))
        try await transaction.put(head.bytes, for: keys.head)
        numbers.append(head.catalogue)
        known[shape] = head.catalogue
      }
      return numbers
    }.value
  }

  /// Notes that an index was used, and drops those that have not been for too long.
  private func age(using id: Int64, now: Int64) async throws {
    let (keys, lifetime, declared) = (keys, options.indexLifetime * 1_000_000, Set(declared.shapes))
    try await store.write { transaction in
      guard let bytes = try await transaction.get(keys.head) else { return }
      var head = try Head(bytes)
      head.catalogue += 1
      for entry in try await transaction.entries(in: KeyRange(prefix: keys.indexes)) {
        var decoder = KeyDecoder(entry.key, from: keys.indexes.count)
        let number = try decoder.int()
        var row = try IndexRow(entry.value)
        if number == id {
          row.lastUsed = now
          try await transaction.put(row.bytes, for: entry.key)
        } else if now - row.lastUsed > lifetime, !declared.contains(row.shape) {
          try await transaction.delete(entry.key)
          try await transaction.deleteRange(KeyRange(prefix: keys.entries(ofIndex: number)))
        }
      }
      try await transaction.put(head.bytes, for: keys.head)
    }
  }

  /// Brings the entries of a changed document along, in its commit.
  func maintain(_ change: CommitDraft.Change, _ catalogue: IndexCatalogue, in transaction: any StoreTransaction)
    async throws
  {
    let indexes = catalogue.indexes(of: change.path.parent.lastSegment)
    guard !indexes.isEmpty else { return }
    let (before, after) = (try change.original?.fields, try change.document?.fields)
    for index in indexes {
      let shape = index.row.shape
      if let before, let after, shape.parts.allSatisfy({ before[$0.path] == after[$0.path] }) { continue }
      let old = before.map { shape.entries(change.path, $0, at: change.place) } ?? [:]
      let new = after.map { shape.entries(change.path, $0, at: change.place) } ?? [:]
      let prefix = keys.entries(ofIndex: index.id)
      for entry in old.keys where new[entry] == nil { try await transaction.delete(prefix + entry) }
      for (entry, value) in new where old[entry] != value { try await transaction.put(value, for: prefix + entry) }
    }
  }
}
