import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop
import VestaCore
import VestaConcurrency

/// Makes the indexes that queries ask for, lets writes maintain them, and drops those that nobody uses.
///
/// An index is registered first: from that commit on every write maintains it. Then documents are added, many at a
/// time, and it is noted how far that came; so a build goes on after a restart. Then it is ready, and queries use it.
final class IndexKeeper: Sendable {
  private struct State: Sendable {
    var catalogue: IndexCatalogue?
    var building: [IndexShape: Task<Void, Never>] = [:]
    /// How often queries have asked for indexes that are not there.
    var asked: [IndexShape: Int] = [:]
    /// When a build failed; it is not tried again at once.
    var failed: [IndexShape: Int64] = [:]
    /// When indexes were used, as far as that has not been written yet.
    var used: [Int64: Int64] = [:]
    var lastCheck: Int64 = 0
    var aging: Task<Void, Never>?
    var sweeping: Task<Void, Never>?
    var isClosed = false
  }

  static let hour: Int64 = 3_600_000_000
  private static let minute: Int64 = 60_000_000

  private let state = Locked(State())
  private let name: DatabaseName
  private let store: any OrderedStore
  private let keys: DatabaseKeys
  private let options: FirestoreServiceOptions
  private let rows: IndexRegister
  let declared: DeclaredIndexes

  init(_ name: DatabaseName, store: any OrderedStore, keys: DatabaseKeys, options: FirestoreServiceOptions) {
    self.name = name
    self.store = store
    self.keys = keys
    self.options = options
    declared = DeclaredIndexes(options.indexes)
    rows = IndexRegister(keys: keys, declared: Set(declared.shapes), most: options.automaticIndexesPerCollection)
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// The indexes that a reader sees.
  func catalogue(in reader: any StoreReader) async throws -> IndexCatalogue {
    try await catalogue(try NumberRow.number(try await reader.get(keys.catalogue)), reader)
  }

  /// The indexes at a version of the catalogue, which the reader sees.
  func catalogue(_ version: Int64, _ reader: any StoreReader) async throws -> IndexCatalogue {
    if let known = state.withLock({ $0.catalogue }), known.version == version { return known }
    let indexes = try await rows.all(in: reader)
    let catalogue = IndexCatalogue(version: version, indexes)
    state.withLock { state in
      if state.catalogue.map({ $0.version < catalogue.version }) ?? true { state.catalogue = catalogue }
    }
    for index in indexes {
      if case .building = index.row.progress { build([index.row.shape]) }
    }
    if indexes.contains(where: { !$0.row.isMaintained }) { sweep() }
    return catalogue
  }

  // MARK: Use

  /// Notes that a query has used an index; the use is written within an hour or two.
  func use(_ index: IndexCatalogue.Index) {
    let now = options.now()
    guard now - index.row.lastUsed > IndexKeeper.hour else { return }
    state.withLock { state in
      state.used[index.id] = now
      guard now - state.lastCheck > IndexKeeper.hour, !state.isClosed else { return }
      state.lastCheck = now
      state.aging = Task.detached { await self.age(now) }
    }
  }

  /// Notes that a query lacks indexes, and makes those that have been asked for often enough.
  func want(_ shapes: [IndexShape], _ catalogue: IndexCatalogue) {
    if shapes.isEmpty { return }
    let now = options.now()
    let due = state.withLock { state in
      shapes.filter { shape in
        if let known = catalogue.byShape[shape] { return known.row.isMaintained }
        if let failure = state.failed[shape], now - failure < IndexKeeper.minute { return false }
        if state.asked.count > 4096 { state.asked = [:] }
        state.asked[shape, default: 0] += 1
        return state.asked[shape, default: 0] >= options.automaticIndexUses
      }
    }
    build(due)
  }

  /// Writes when indexes were used, and drops those that have not been for too long.
  private func age(_ now: Int64) async {
    let used = state.withLock { state in
      defer { state.used = [:] }
      return state.used
    }
    let (rows, lifetime) = (rows, options.indexLifetime * 1_000_000)
    do {
      try await store.write { try await rows.age(used, now: now, lifetime: lifetime, in: $0) }
      sweep()
    } catch {
      log.warning("I-FSS000002", "The use of indexes could not be noted: \(error)")
      state.withLock { $0.used.merge(used) { max($0, $1) } }
    }
  }

  // MARK: Making

  /// Registers the declared indexes and makes those that are not ready, in the background and one after the other.
  func declare() async throws {
    if declared.shapes.isEmpty { return }
    let known = try await store.read { try await self.catalogue(in: $0).byShape }
    let missing = declared.shapes.filter { known[$0] == nil }
    if !missing.isEmpty {
      let (rows, now) = (rows, options.now())
      try await store.write { try await rows.register(missing, used: [:], now: now, in: $0) }
    }
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
          await self.make(shape)
          self.state.withLock { $0.building[shape] = nil }
        }
      }
      for shape in shapes { state.building[shape] = task }
    }
  }

  /// Makes one index.
  ///
  /// A failure leaves it unfinished; a later query that wants it goes on.
  private func make(_ shape: IndexShape) async {
    do {
      try await run(shape)
      state.withLock { $0.asked[shape] = nil }
    } catch let failure as UnfitIndex {
      log.warning("I-FSS000003", "The index \(shape.properties) of \(shape.collectionID) is given up: \(failure)")
      let rows = rows
      _ = try? await store.write { try await rows.giveUp([failure.id], in: $0) }
      sweep()
    } catch {
      log.warning("I-FSS000004", "The index \(shape.properties) of \(shape.collectionID) is not ready: \(error)")
      state.withLock { $0.failed[shape] = options.now() }
    }
  }

  private func run(_ shape: IndexShape) async throws {
    let (rows, now, used) = (rows, options.now(), state.withLock { $0.used })
    let numbers = try await store.write { try await rows.register([shape], used: used, now: now, in: $0) }.value
    sweep()
    // Without a number there are enough indexes that queries use.
    guard let number = numbers[0] else { return state.withLock { $0.asked[shape] = 0 } }
    let build = IndexBuild(of: number, keys: keys, name: name, retention: options.retention * 1_000_000)
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

  /// Deletes the entries of indexes that have gone, in small steps beside the commits.
  private func sweep() {
    state.withLock { state in
      guard state.sweeping == nil, !state.isClosed else { return }
      state.sweeping = Task.detached {
        let rows = self.rows
        do {
          while !self.state.withLock({ $0.isClosed }),
            let step = try await self.store.read({ try await rows.step(in: $0) })
          {
            try await self.store.write { try await rows.take(step, in: $0) }
          }
        } catch {
          log.warning("I-FSS000005", "The entries of an index that has gone could not be deleted: \(error)")
        }
        self.state.withLock { $0.sweeping = nil }
      }
    }
  }

  /// Waits until no index is being made or dropped.
  func settle() async {
    await state.withLock { $0.aging }?.value
    while let task = state.withLock({ $0.building.values.first ?? $0.sweeping }) { await task.value }
  }

  // MARK: Queries and commits

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
    let known = try await catalogue(in: snapshot.reader).byShape
    for index in used {
      guard let shape = index.shape else { continue }
      // An index serves both directions.
      if [shape, shape.turned].contains(where: { known[$0]?.row.isReady == true }) { continue }
      throw index.missing(in: database, isBuilding: true)
    }
  }

  /// Brings the entries of changed documents along, in their commit.
  ///
  /// An automatic index that a document has too long an entry for is given up.
  ///
  /// - Throws: `INVALID_ARGUMENT` when that is a declared index.
  func maintain(
    _ changes: [CommitDraft.Change], _ catalogue: IndexCatalogue, in transaction: any StoreTransaction
  ) async throws {
    var unfit: Set<Int64> = []
    for change in changes {
      let indexes = catalogue.indexes(of: change.path.parent.lastSegment).filter { !unfit.contains($0.id) }
      guard !indexes.isEmpty else { continue }
      let (before, after) = (try change.original?.fields, try change.document?.fields)
      for index in indexes {
        do {
          try await maintain(index, change, before, after, in: transaction)
        } catch let failure as UnfitIndex {
          guard !declared.shapes.contains(index.row.shape) else {
            throw failure.refusal(of: change.name, index.row.shape)
          }
          unfit.insert(failure.id)
        }
      }
    }
    if !unfit.isEmpty { try await rows.giveUp(unfit, in: transaction) }
  }

  private func maintain(
    _ index: IndexCatalogue.Index, _ change: CommitDraft.Change, _ before: MapValue?, _ after: MapValue?,
    in transaction: any StoreTransaction
  ) async throws {
    let shape = index.row.shape
    if let before, let after, shape.parts.allSatisfy({ before[$0.path] == after[$0.path] }) { return }
    let old = before.map { shape.entries(change.path, $0, at: change.place) } ?? [:]
    let new = after.map { shape.entries(change.path, $0, at: change.place) } ?? [:]
    try UnfitIndex.check(new.keys, of: index.id)
    let prefix = keys.entries(ofIndex: index.id)
    for entry in old.keys where new[entry] == nil { try await transaction.delete(prefix + entry) }
    for (entry, value) in new where old[entry] != value { try await transaction.put(value, for: prefix + entry) }
  }
}

/// An index for which a document has too long an entry.
struct UnfitIndex: Error, CustomStringConvertible {
  let id: Int64
  let length: Int

  var description: String {
    "a document has an entry of \(length) bytes, and at most \(FirestoreLimits.indexEntryLength) are allowed"
  }

  static func check(_ entries: some Sequence<[UInt8]>, of id: Int64) throws(UnfitIndex) {
    for entry in entries where entry.count > FirestoreLimits.indexEntryLength {
      throw UnfitIndex(id: id, length: entry.count)
    }
  }

  func refusal(of name: String, _ shape: IndexShape) -> FirestoreServiceError {
    .refused(
      "The entry of \(name) in the index \(shape.properties) has \(length) bytes; at most "
        + "\(FirestoreLimits.indexEntryLength) are allowed.")
  }
}
