import VestaEventsInterop
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

extension DatabaseCall {
  /// Commits the writes of a request, in its transaction if it has one.
  func commit(_ request: CommitRequest) async throws -> CommitResponse {
    guard let id = request.transaction else { return try await commit(request.writes) }
    return try await commit(request.writes, in: id)
  }

  /// Applies writes, each by itself; a refused one stops no other.
  func batchWrite(_ request: BatchWriteRequest) async throws -> BatchWriteResponse {
    try WriteRules.checkDistinct(request.writes)
    var results: [Result<WriteResult, FirestoreServiceError>] = []
    for write in request.writes {
      do {
        results.append(.success(try await commit([write]).writeResults[0]))
      } catch {
        results.append(.failure(boundary.failure(FirestoreServiceError.translated(error), context)))
      }
    }
    return BatchWriteResponse(results: results)
  }

  /// Commits in a transaction, which ends whatever happens.
  func commit(_ writes: [Write], in id: TransactionPool.ID) async throws -> CommitResponse {
    let open = try transactions.use(id)
    defer { _ = try? transactions.end(id) }
    if case .readOnly = open.options {
      guard writes.isEmpty else {
        throw FirestoreServiceError.refused("Cannot modify entities in a read-only transaction.")
      }
      return CommitResponse(writeResults: [], commitTime: try await engine.reading { $0.readTime })
    }
    guard case .readWrite(_, let concurrency) = open.options, concurrency != .optimistic else {
      return try await commit(writes, validating: open.reads)
    }
    return try await commit(writes, validating: open.reads, in: id)
  }

  /// Checks and commits writes, all or nothing.
  ///
  /// - Parameters:
  ///   - writes: Any.
  ///   - answers: Where the answer is kept. An answer that is there already is returned, and nothing is written.
  ///   - validation: What a transaction has read; the commit fails with `ABORTED` when it is no longer so.
  ///   - holder: The transaction that has locked what it has read; it waits for others that have read what it writes.
  func commit(
    _ writes: [Write], as answers: WriteAnswers? = nil, validating validation: ReadSet = ReadSet(),
    in holder: TransactionPool.ID? = nil
  ) async throws -> CommitResponse {
    let plan = CommitPlan(writes, at: try WriteRules.check(writes, database: name))
    let places = plan.targets.map(\.place)
    var held: TransactionPool.ID?
    if let holder {
      try await transactions.lock(places, for: holder, .exclusive)
    } else {
      held = try await transactions.hold(places)
    }
    defer { transactions.end(hold: held) }
    let (engine, announcement) = (engine, CommitAnnouncement(to: engine.recent))
    let draft = plan.isPreparable ? try await prepare(plan) : nil
    let commit: StoreCommit<(answer: CommitResponse, logged: Int)>
    do {
      commit = try await store.write { transaction in
        if let answer = try await answers?.answer(to: plan, in: transaction) { return (answer, 0) }
        let outcome = try await CommitCall(engine, plan, draft, validation, announcement, in: transaction).run()
        if plan.isChange { try await answers?.keep(outcome.answer, in: transaction) }
        return outcome
      }
    } catch {
      announcement.retract()
      throw error
    }
    engine.committed(at: commit.version.microseconds, logging: commit.value.logged)
    return commit.value.answer
  }

  /// Applies the writes of a plan before the transaction, in which long array transforms would hold up all other
  /// writes.
  ///
  /// The commit uses the draft if the documents have not changed by then.
  ///
  /// - Returns: `nil` when a write is refused: the documents of the commit decide about that.
  private func prepare(_ plan: CommitPlan) async throws -> CommitDraft? {
    let rows = try await engine.reading { try await $0.rows(at: plan.targets.map(\.place)) }
    return try? CommitDraft(before: plan, rows: rows)
  }
}

/// A commit within its store transaction, which may run again: checks what was read, applies the writes, and stores
/// what has changed.
struct CommitCall {
  private let engine: DatabaseEngine
  private let plan: CommitPlan
  /// The outcome of the writes, if the documents are what they were when it was made.
  private let prepared: CommitDraft?
  private let validation: ReadSet
  private let announcement: CommitAnnouncement
  private let transaction: any StoreTransaction

  init(
    _ engine: DatabaseEngine, _ plan: CommitPlan, _ prepared: CommitDraft?, _ validation: ReadSet,
    _ announcement: CommitAnnouncement, in transaction: any StoreTransaction
  ) {
    self.engine = engine
    self.plan = plan
    self.prepared = prepared
    self.validation = validation
    self.announcement = announcement
    self.transaction = transaction
  }

  private var keys: DatabaseKeys { engine.keys }

  /// Runs the commit.
  ///
  /// - Returns: The answer, and the length of what was logged; a commit that changes nothing has the time of what it
  ///   has seen.
  func run() async throws -> (answer: CommitResponse, logged: Int) {
    let read = validation.documents.isEmpty ? [] : plan.others(of: validation.documents.keys)
    let wanted = [keys.catalogue] + plan.targets.map { keys.document($0.place) } + read.map(keys.document)
    let rows = try await transaction.get(wanted)
    let catalogue = try NumberRow.number(rows[0])
    try validation.check(plan.targets.map(\.place) + read, rows: rows.dropFirst())
    let snapshot = engine.snapshot(within: transaction)
    try await validation.checkQueries(in: snapshot)

    let version = plan.isChange ? try await transaction.commitVersion().microseconds : snapshot.version
    let draft = try draft(of: rows[1..<plan.targets.count + 1], at: version)
    let changes = draft.effective
    var logged = 0
    if !changes.isEmpty {
      announcement.announce(version) { changes.map { engine.fullName(of: $0.path) } }
      logged = try await keep(changes, version, catalogue)
    }
    // Others may have committed between what it has seen and a version that it does not take.
    let time = changes.isEmpty ? snapshot.readTime : Timestamp(microseconds: version)
    return (CommitResponse(writeResults: draft.results, commitTime: time), logged)
  }

  private func draft(of rows: ArraySlice<[UInt8]?>, at version: Int64) throws -> CommitDraft {
    if let draft = prepared?.stamped(at: version, ifStored: rows) { return draft }
    var draft = CommitDraft(targets: plan.targets, rows: rows, version: version)
    for (write, target) in plan.writes { try draft.apply(write, to: target) }
    return draft
  }

  private func keep(_ changes: [CommitDraft.Change], _ version: Int64, _ catalogue: Int64) async throws -> Int {
    for change in changes {
      let key = keys.document(change.place)
      if let after = change.after {
        try await transaction.put(after, for: key)
      } else {
        try await transaction.delete(key)
      }
    }
    let indexes = engine.indexes
    try await indexes.maintain(changes, try await indexes.catalogue(catalogue, transaction), in: transaction)
    if let events = engine.events, let interest = events.interest {
      let drafts = try DocumentEvents.drafts(of: changes, in: engine.name, for: interest)
      try await events.append(drafts, in: transaction, isOnly: true)
    }
    return try await log(changes, version)
  }

  /// Writes the rows of the log, and where nobody does so later, the rows that say for each collection which parts of
  /// the log concern it.
  ///
  /// - Returns: The length of the rows of the log.
  private func log(_ changes: [CommitDraft.Change], _ version: Int64) async throws -> Int {
    let logged = changes.map { LoggedChange(place: $0.place, before: $0.before) }
    var size = 0
    for (part, row) in LogRow.rows(of: logged).enumerated() {
      let position = LogPosition(version: version, part: Int64(part))
      let bytes = row.bytes
      size += bytes.count
      try await transaction.put(bytes, for: keys.log(position))
      guard engine.sorter == nil else { continue }
      for (collection, rows) in ChangeRow.rows(of: [(position, row)]) {
        let prefix = keys.changes(ofGroup: try Place.collectionID(ofPrefix: collection)) + collection
        for row in rows { try await transaction.put(row.bytes, for: position.appended(to: prefix)) }
      }
    }
    return size
  }
}
