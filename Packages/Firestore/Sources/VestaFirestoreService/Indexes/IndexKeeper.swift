import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

/// Makes the indexes that queries ask for, lets writes maintain them, and drops unused ones.
///
/// An index is registered first: from that commit on every write maintains it. Then documents are added, many at a
/// time, and the progress is noted; so a build continues after a restart. Then it is ready, and queries use it.
///
/// Several engines on one store share the work: the one that holds the lease of an index makes it, and another one
/// continues where it stopped when the lease has ended. An engine's own counts, how often queries asked and when
/// they used what, is a hint; it is merged with what the rows say.
final class IndexKeeper: QueryIndexes {
  struct State: Sendable {
    var declared: DeclaredIndexes
    /// The shapes that are declared, as the rows of the indexes are changed by them.
    var declaredShapes: Set<IndexShape>
    var catalogue: IndexCatalogue?
    var building: [IndexShape: Task<Void, Never>] = [:]
    /// The number of queries that have lacked each index.
    var asked: [IndexShape: Int] = [:]
    /// The time at which a build failed; it is not tried again at once.
    var failed: [IndexShape: Int64] = [:]
    /// The times at which indexes were used, as far as they are not stored yet.
    var used: [Int64: Int64] = [:]
    var lastCheck: Int64 = 0
    var aging: Task<Void, Never>?
    var sweeping: Task<Void, Never>?
    /// The jobs of other engines, with the timers that look again when a lease may have ended.
    var elsewhere: [Job: Elsewhere] = [:]
    var isClosed = false
  }

  enum Job: Hashable, Sendable {
    case build(IndexShape)
    case sweep
  }

  struct Elsewhere: Sendable {
    /// The time of the note, and the microseconds for which it holds.
    var since: Int64
    var remaining: Int64
    var again: ListenerRegistration
  }

  static let hour: Int64 = 3_600_000_000
  private static let minute: Int64 = 60_000_000

  let state: Locked<State>
  let name: DatabaseName
  let store: any OrderedStore
  let keys: DocumentDatabaseKeys
  let options: FirestoreServiceOptions
  let owner: UInt64
  /// The looks at all documents that continue while an index is made.
  let scans = FairQueue(limit: scansAtOnce)

  /// The indexes that are declared now: by the options, or at run time.
  var declared: DeclaredIndexes { state.withLock { $0.declared } }

  var rows: IndexRegister {
    IndexRegister(
      keys: keys, declared: state.withLock { $0.declaredShapes }, most: options.automaticIndexesPerCollection,
      sweepStep: options.tuning.indexes.sweepStep)
  }

  /// - Parameter owner: The number of the engine.
  init(
    _ name: DatabaseName, store: any OrderedStore, keys: DocumentDatabaseKeys, options: FirestoreServiceOptions,
    owner: UInt64
  ) {
    self.owner = owner
    self.name = name
    self.store = store
    self.keys = keys
    self.options = options
    let declared = DeclaredIndexes(options.indexes)
    state = Locked(State(declared: declared, declaredShapes: Set(declared.shapes)))
  }

  func close() {
    let waiting = state.withLock { state in
      state.isClosed = true
      defer { state.elsewhere = [:] }
      return state.elsewhere.values
    }
    for job in waiting { job.again.cancel() }
  }

  /// The indexes that a reader sees.
  func catalogue(in reader: any StoreReader) async throws -> IndexCatalogue {
    try await catalogue(try NumberRow.number(try await reader.get(keys.catalogue)), reader)
  }

  /// The indexes at a version of the catalogue, which the reader sees.
  func catalogue(_ version: Int64, _ reader: any StoreReader) async throws -> IndexCatalogue {
    if let known = state.withLock({ $0.catalogue }), known.version == version { return known }
    // Another engine may have declared others.
    if let text = try await reader.get(keys.declared) { try use(declared: text) }
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
    // Either way: a clock that was ahead when it was noted has left a time in the future.
    guard abs(now - index.row.lastUsed) > IndexKeeper.hour else { return }
    state.withLock { state in
      state.used[index.id] = now
      guard abs(now - state.lastCheck) > IndexKeeper.hour, !state.isClosed else { return }
      state.lastCheck = now
      state.aging = Task.detached { await self.age() }
    }
  }

  /// Notes that a query lacks indexes, and makes the ones that were needed often enough.
  func want(_ shapes: [IndexShape], _ catalogue: IndexCatalogue) {
    if shapes.isEmpty { return }
    let now = options.now()
    let due = state.withLock { state in
      shapes.filter { shape in
        if let known = catalogue.byShape[shape] { return known.row.isMaintained }
        if let failure = state.failed[shape], now - failure < IndexKeeper.minute { return false }
        if state.asked.count > options.tuning.indexes.wishes { state.asked = [:] }
        state.asked[shape, default: 0] += 1
        return state.asked[shape, default: 0] >= options.automaticIndexUses
      }
    }
    build(due)
  }

  /// Writes when indexes were used, and drops ones that were unused for too long.
  private func age() async {
    let used = state.withLock { state in
      defer { state.used = [:] }
      return state.used
    }
    let (rows, lifetime) = (rows, options.indexLifetime.microseconds)
    let lease = StoreLease(key: keys.lease(.aging), owner: owner)
    do {
      try await store.write { transaction in
        // Every engine notes the indexes that it used; one of them drops.
        let isMine = try await lease.take(in: transaction) == nil
        try await rows.age(used, lifetime: isMine ? lifetime : .max, in: transaction)
      }
      sweep()
    } catch {
      log.warning("I-FSS000009", "The use of indexes could not be noted: \(error)")
      state.withLock { $0.used.merge(used) { max($0, $1) } }
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
  /// - Throws: `FAILED_PRECONDITION` with the index that is missing or not ready.
  func check(_ query: NormalQuery, figures: [FieldPath], in reader: any StoreReader) async throws {
    guard options.requiresDeclaredIndexes else { return }
    // First, as another engine may have declared others.
    let known = try await catalogue(in: reader).byShape
    let (used, findings) = IndexRules(declared: declared).verdict(on: query, figures: figures)
    let database = query.parent.database
    switch findings.first {
    case .missing(let index)?: throw index.missing(in: database, isBuilding: false)
    case .missingVector(let index)?: throw index.missingVector(in: database)
    case .missingField(let index)?: throw index.missingField(in: database, isBuilding: false)
    case nil: break
    }
    for index in used {
      guard let shape = index.shape else { continue }
      // An index serves both directions.
      if [shape, shape.turned].contains(where: { known[$0]?.row.isReady == true }) { continue }
      throw index.missing(in: database, isBuilding: true)
    }
  }

  /// Brings the entries of changed documents along, in their commit.
  ///
  /// An automatic index that a document has too long an entry for is given up. The old entries of a document whose row
  /// cannot be read are not known: its indexes are dropped with their entries, so that the document can be replaced or
  /// deleted. A declared index is built again, an automatic one when a query needs it.
  ///
  /// - Throws: `INVALID_ARGUMENT` when that is a declared index.
  func maintain(
    _ changes: [CommitDraft.Change], _ catalogue: IndexCatalogue, in transaction: any StoreTransaction
  ) async throws {
    var (unfit, doubtful): (Set<Int64>, Set<Int64>) = ([], [])
    for change in changes {
      let indexes = catalogue.indexes(of: change.path.parent.collectionID).filter {
        !unfit.contains($0.id) && !doubtful.contains($0.id)
      }
      guard !indexes.isEmpty else { continue }
      let after = try change.document?.fields
      let before: MapValue?
      do {
        before = try change.original?.fields
      } catch {
        log.error("I-FSS000010", "\(change.name) is replaced, and the indexes of its collection are dropped: \(error)")
        doubtful.formUnion(indexes.map(\.id))
        continue
      }
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
    if !doubtful.isEmpty { try await rows.drop(doubtful, in: transaction) }
  }

  private func maintain(
    _ index: IndexCatalogue.Index, _ change: CommitDraft.Change, _ before: MapValue?, _ after: MapValue?,
    in transaction: any StoreTransaction
  ) async throws {
    let shape = index.row.shape
    if let before, let after, shape.parts.allSatisfy({ before[$0.path] == after[$0.path] }) { return }
    let old = before.map { shape.entries(change.path, $0, at: change.pathKey) } ?? [:]
    let new = after.map { shape.entries(change.path, $0, at: change.pathKey) } ?? [:]
    try UnfitIndex.check(new.keys, of: index.id)
    let prefix = keys.entries(ofIndex: index.id)
    for entry in old.keys where new[entry] == nil { try await transaction.delete(prefix + entry) }
    for (entry, value) in new where old[entry] != value { try await transaction.put(value, for: prefix + entry) }
  }
}
