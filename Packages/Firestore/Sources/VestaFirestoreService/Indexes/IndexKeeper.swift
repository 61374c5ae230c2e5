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
  private struct State: Sendable {
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

  private enum Job: Hashable, Sendable {
    case build(IndexShape)
    case sweep
  }

  private struct Elsewhere: Sendable {
    /// The time of the note, and the microseconds for which it holds.
    var since: Int64
    var remaining: Int64
    var again: ListenerRegistration
  }

  static let hour: Int64 = 3_600_000_000
  private static let minute: Int64 = 60_000_000

  private let state: Locked<State>
  private let name: DatabaseName
  private let store: any OrderedStore
  private let keys: DocumentDatabaseKeys
  private let options: FirestoreServiceOptions
  private let owner: UInt64

  /// The indexes that are declared now: by the options, or at run time.
  var declared: DeclaredIndexes { state.withLock { $0.declared } }

  private var rows: IndexRegister {
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

  // MARK: Making

  /// Declares indexes in place of those before, keeps them for the next start, and makes them in the background.
  ///
  /// - Throws: `ABORTED` where the condition does not hold for those before.
  func declare(_ indexes: FirestoreIndexes, as text: String, if condition: IndexesCondition) async throws {
    let (shapes, keys, rows) = (DeclaredIndexes(indexes).shapes, keys, rows)
    try await store.write { transaction in
      let current = try await transaction.get(keys.declared).map { try DeclaredRow(fieldBytes: $0).text }
      guard condition.holds(for: current) else { throw IndexesCondition.changed }
      try await transaction.put(DeclaredRow(text: text).fieldBytes(), for: keys.declared)
      try await rows.declaring(Set(shapes)).register(shapes, used: [:], in: transaction)
      try await rows.change(in: transaction)
    }
    use(DeclaredIndexes(indexes))
    try await declare()
  }

  /// The text of what was declared at run time.
  func declaredText() async throws -> String? {
    let keys = keys
    return try await store.read { try await $0.get(keys.declared).map { try DeclaredRow(fieldBytes: $0).text } }
  }

  private func use(declared bytes: [UInt8]) throws {
    let text = try DeclaredRow(fieldBytes: bytes).text
    guard let indexes = try? FirestoreIndexes(json: text), indexes != declared.source else { return }
    use(DeclaredIndexes(indexes))
  }

  private func use(_ declared: DeclaredIndexes) {
    state.withLock { ($0.declared, $0.declaredShapes) = (declared, Set(declared.shapes)) }
  }

  /// Registers the declared indexes and makes the unfinished ones, in the background and one after the other.
  func declare() async throws {
    let keys = keys
    if let text = try await store.read({ try await $0.get(keys.declared) }) { try use(declared: text) }
    let declared = self.declared
    if declared.shapes.isEmpty { return }
    let known = try await store.read { try await self.catalogue(in: $0).byShape }
    let missing = declared.shapes.filter { known[$0] == nil }
    if !missing.isEmpty {
      let rows = rows
      try await store.write { try await rows.register(missing, used: [:], in: $0) }
    }
    build(declared.shapes.filter { known[$0]?.row.isReady != true })
  }

  /// Makes indexes in the background; nothing happens to one that is being made.
  func build(_ shapes: [IndexShape]) {
    let now = options.now()
    state.withLock { state in
      let shapes = shapes.filter { shape in
        if let other = state.elsewhere[.build(shape)], abs(now - other.since) < other.remaining { return false }
        return state.building[shape] == nil
      }
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
  /// A failure leaves it unfinished; a later query that needs it continues.
  private func make(_ shape: IndexShape) async {
    do {
      try await run(shape)
      state.withLock { $0.asked[shape] = nil }
    } catch let failure as UnfitIndex {
      log.warning("I-FSS000003", "The index \(shape.properties) of \(shape.collectionID) is given up: \(failure)")
      let (rows, lease) = (rows, StoreLease(key: keys.lease(.building(failure.id)), owner: owner))
      _ = try? await store.write { transaction in
        try await rows.giveUp([failure.id], in: transaction)
        try await lease.release(in: transaction)
      }
      sweep()
    } catch let lost as StoreLeaseLost {
      leave(.build(shape), to: lost.holder)
    } catch {
      log.warning("I-FSS000004", "The index \(shape.properties) of \(shape.collectionID) is not ready: \(error)")
      state.withLock { state in
        if state.failed.count > options.tuning.indexes.failures { state.failed = [:] }
        state.failed[shape] = options.now()
      }
    }
  }

  private func run(_ shape: IndexShape) async throws {
    let (rows, keys, owner, used) = (rows, keys, owner, state.withLock { $0.used })
    let number = try await store.write { transaction -> Int64? in
      guard let number = try await rows.register([shape], used: used, in: transaction)[0] else { return nil }
      if try await rows.isUnfinished(number, in: transaction) {
        try await StoreLease(key: keys.lease(.building(number)), owner: owner).keep(in: transaction)
      }
      return number
    }.value
    sweep()
    // No number: the collection has its maximum of indexes already, all of them in use.
    guard let number else { return state.withLock { $0.asked[shape] = 0 } }
    let lease = StoreLease(key: keys.lease(.building(number)), owner: owner)
    let build = IndexBuild(
      of: number, keys: keys, name: name, retention: options.retention.microseconds, tuning: options.tuning)
    var pace = WorkPace(options.tuning.indexes)
    let clock = options.clock
    while var run = try await store.read({ try await build.next(in: $0) }) {
      while run.isReading {
        if await isOver(lease) { return }
        let before = run
        run = try await store.read { try await build.read(before, in: $0) }
        // Other tasks of the process are not to wait for more than a page.
        await Task.yield()
      }
      while run.isOpen {
        if await isOver(lease) { return }
        // The body may run again, and begins with the same run then.
        let (before, part) = (run, pace.part)
        let commit = try await store.write { transaction in
          let start = clock.now()
          let run = try await build.write(before, part: part, in: transaction)
          if run.isLast {
            try await lease.release(in: transaction)
          } else {
            try await lease.keep(in: transaction)
          }
          return (run, start)
        }
        run = commit.value.0
        let duration = Duration.microseconds(clock.now() - commit.value.1)
        let pause = pace.note(duration, from: run.version, to: commit.version.microseconds)
        if pause > .zero { try await clock.sleep(for: pause) }
      }
      if run.isLast { return }
    }
  }

  /// Whether the engine has been shut down; then another one can continue at once.
  private func isOver(_ lease: StoreLease) async -> Bool {
    guard state.withLock({ $0.isClosed }) else { return false }
    _ = try? await store.write { try await lease.release(in: $0) }
    return true
  }

  /// Leaves a job to another engine, and looks again when that one's lease has ended if it is not renewed.
  private func leave(_ job: Job, to holder: StoreLease.Holder) {
    let now = options.now()
    let again = options.clock.schedule(after: .microseconds(holder.remaining + 20_000)) { [weak self] in
      self?.lookAgain(at: job)
    }
    let old = state.withLock { state -> ListenerRegistration? in
      if state.isClosed { return again }
      defer { state.elsewhere[job] = Elsewhere(since: now, remaining: holder.remaining, again: again) }
      return state.elsewhere[job]?.again
    }
    old?.cancel()
  }

  private func lookAgain(at job: Job) {
    state.withLock { $0.elsewhere[job] = nil }
    switch job {
    case .build(let shape): build([shape])
    case .sweep: sweep()
    }
  }

  /// Deletes the entries of dropped indexes, in small steps between commits.
  private func sweep() {
    let now = options.now()
    state.withLock { state in
      guard state.sweeping == nil, !state.isClosed else { return }
      if let other = state.elsewhere[.sweep], abs(now - other.since) < other.remaining { return }
      state.sweeping = Task.detached {
        do {
          try await self.sweepAll()
        } catch let lost as StoreLeaseLost {
          self.leave(.sweep, to: lost.holder)
        } catch {
          log.warning("I-FSS000005", "The entries of an index that has gone could not be deleted: \(error)")
        }
        self.state.withLock { $0.sweeping = nil }
      }
    }
  }

  private func sweepAll() async throws {
    let (rows, lease) = (rows, StoreLease(key: keys.lease(.sweeping), owner: owner))
    var isHeld = false
    while !state.withLock({ $0.isClosed }), let step = try await store.read({ try await rows.step(in: $0) }) {
      try await store.write { transaction in
        try await rows.take(step, in: transaction)
        try await lease.keep(in: transaction)
      }
      isHeld = true
    }
    if isHeld { try await store.write { try await lease.release(in: $0) } }
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
    if used.isEmpty { return }
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

/// The indexes that were declared at run time, as they were sent.
private struct DeclaredRow: FieldRecord {
  var text = ""

  init() {}

  init(text: String) { self.text = text }

  mutating func visit(_ visitor: inout some RecordVisitor) throws { try visitor.field(1, &text) }
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
