import VestaEngineInterop
import VestaEventsInterop
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

extension FirestoreCall {
  /// Commits the writes of a request, in its transaction if it has one.
  func commit(_ request: CommitRequest) async throws -> CommitResponse {
    guard let id = request.transaction else { return try await commit(request.writes) }
    return try await commit(request.writes, ending: id)
  }

  /// Applies writes, each by itself; a refused one stops no other.
  func batchWrite(_ request: BatchWriteRequest) async throws -> BatchWriteResponse {
    try check(batch: request.writes)
    var results: [Result<WriteResult, FirestoreServiceError>] = []
    for write in request.writes {
      do {
        results.append(.success(try await commit([write]).writeResults[0]))
      } catch {
        results.append(.failure(boundary.failure(FirestoreServiceError.endOfCancelled(error), context)))
      }
    }
    return BatchWriteResponse(results: results)
  }

  /// Commits the writes of a transaction, which ends whatever happens.
  func commit(_ writes: [Write], ending id: TransactionPool.ID) async throws -> CommitResponse {
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
    return try await commit(writes, validating: open.reads, lockedBy: id)
  }

  /// Checks and commits writes, all or nothing.
  ///
  /// - Parameters:
  ///   - writes: Any.
  ///   - answers: Where the answer is kept. An answer that is there already is returned, and nothing is written.
  ///   - validation: The reads of a transaction; the commit fails with `ABORTED` when it is no longer so.
  ///   - restored: The times that the documents of an import have had.
  ///   - holder: The transaction that has locked what it has read; it waits for others that have read what it writes.
  func commit(
    _ writes: [Write], as answers: WriteAnswers? = nil, validating validation: ReadSet = ReadSet(),
    restoring restored: RestoredTimes? = nil, lockedBy holder: TransactionPool.ID? = nil
  ) async throws -> CommitResponse {
    let tuning = options.tuning.commits
    let plan = CommitPlan(
      writes, at: try WriteRules.check(writes, database: name), manyElements: tuning.manyElements)
    let pathKeys = plan.targets.map(\.pathKey)
    var held: TransactionPool.ID?
    if let holder {
      try await transactions.lock(pathKeys, for: holder, .exclusive)
    } else {
      held = try await transactions.hold(pathKeys)
    }
    defer { transactions.end(hold: held) }
    let (announcement, guarded) = (CommitAnnouncement(to: engine.recent), guarded)
    var draft = plan.isPreparable ? try await prepare(plan) : nil
    var attempts = 0
    while true {
      let limit = attempts < tuning.attemptsBefore ? tuning.bytesTakenApart : .max
      let call = CommitCall(
        engine, plan, draft, validation, announcement, guarded, EventCause(context), restored,
        takingApart: limit)
      attempts += 1
      do {
        let commit = try await store.write { transaction in
          if let answer = try await answers?.answer(to: plan, in: transaction) { return CommitOutcome(answer: answer) }
          // With an answer to keep there is a commit, and its time is the answer's.
          let outcome = try await call.run(in: transaction, isKept: answers != nil)
          if plan.isChange { try await answers?.keep(outcome.answer, in: transaction) }
          return outcome
        }
        let outcome = commit.value
        guard let seen = outcome.unchangedSince else {
          engine.committed(at: commit.version.microseconds, logging: outcome.logged)
          return outcome.answer
        }
        var answer = outcome.answer
        if let time = try await engine.restingVersion(after: seen) {
          answer.commitTime = Timestamp(microseconds: time)
        } else if attempts < tuning.attemptsBefore, validation.count == 0 {
          // Others have committed in between. Where they continue to do so, or a transaction would be checked once
          // more, the time is that of what it has seen.
          continue
        }
        return answer
      } catch is TakesLong {
        draft = try await prepare(plan)
        if draft == nil { attempts = tuning.attemptsBefore }
      } catch {
        announcement.retract()
        throw error
      }
    }
  }

  /// Applies the writes of a plan before the transaction, in which large documents and long transforms would hold
  /// up all other writes.
  ///
  /// The commit uses the draft if the documents have not changed by then.
  ///
  /// - Returns: `nil` when a write is refused: the documents of the commit decide about that.
  private func prepare(_ plan: CommitPlan) async throws -> CommitDraft? {
    let rows = try await engine.reading { try await $0.rows(at: plan.targets.map(\.pathKey)) }
    return try? CommitDraft(before: plan, rows: rows)
  }
}

/// The outcome of a commit's transaction.
private struct CommitOutcome: Sendable {
  var answer: CommitResponse
  /// The length of what was logged.
  var logged = 0
  /// Where nothing was changed, and nothing was stored: the version that the transaction has seen.
  var unchangedSince: Int64?
}

/// The documents of a commit are too large to be taken apart in its transaction.
private struct TakesLong: Error {}

/// A commit within its store transaction, which may run again: checks what was read, applies the writes, and stores
/// what has changed.
private struct CommitCall {
  private let engine: DocumentDatabase
  private let plan: CommitPlan
  /// The outcome of the writes, if the documents are what they were when it was made.
  private let prepared: CommitDraft?
  private let validation: ReadSet
  private let announcement: CommitAnnouncement
  /// The caller to ask the guard about.
  private let guarded: GuardedCaller?
  private let cause: EventCause
  private let restored: RestoredTimes?
  /// The bytes of stored documents that may be taken apart.
  private let limit: Int

  init(
    _ engine: DocumentDatabase, _ plan: CommitPlan, _ prepared: CommitDraft?, _ validation: ReadSet,
    _ announcement: CommitAnnouncement, _ guarded: GuardedCaller?, _ cause: EventCause,
    _ restored: RestoredTimes?, takingApart limit: Int
  ) {
    self.engine = engine
    self.plan = plan
    self.prepared = prepared
    self.validation = validation
    self.announcement = announcement
    self.guarded = guarded
    self.cause = cause
    self.restored = restored
    self.limit = limit
  }

  private var keys: DocumentDatabaseKeys { engine.keys }

  /// Runs the commit.
  ///
  /// - Parameter isKept: Whether the transaction stores something also when the writes change nothing.
  /// - Throws: `TakesLong` before anything was changed.
  func run(in transaction: any StoreTransaction, isKept: Bool) async throws -> CommitOutcome {
    let read = validation.documents.isEmpty ? [] : plan.others(of: validation.documents.keys)
    let wanted = [keys.catalogue] + plan.targets.map { keys.document($0.pathKey) } + read.map(keys.document)
    let rows = try await transaction.get(wanted)
    let catalogue = try NumberRow.number(rows[0])
    try validation.check(plan.targets.map(\.pathKey) + read, rows: rows.dropFirst())
    let snapshot = engine.snapshot(within: transaction)
    try await validation.checkQueries(in: snapshot)

    let stored = rows[1..<plan.targets.count + 1]
    let isUsable = prepared?.isMade(of: stored) ?? false
    guard isUsable || plan.takenApart.reduce(0, { $0 + (rows[1 + $1]?.count ?? 0) }) <= limit else {
      throw TakesLong()
    }
    let version = plan.isChange ? try await transaction.commitVersion().microseconds : snapshot.version
    // Before preconditions count: a denied caller learns nothing of the documents.
    if let guarded { try await guarded.commit(plan, stored, at: plan.isChange ? version : nil, in: snapshot) }
    var draft = try draft(of: stored, at: version, isUsable ? prepared : nil)
    if let restored { draft.restore(restored) }
    let changes = draft.effective
    guard !changes.isEmpty else {
      // Others may have committed between what it has seen and a version that it does not take.
      let time = isKept && plan.isChange ? Timestamp(microseconds: version) : snapshot.readTime
      return CommitOutcome(
        answer: CommitResponse(writeResults: draft.results, commitTime: time),
        unchangedSince: plan.isChange && !isKept ? snapshot.version : nil)
    }
    // The rows of the log are no longer than what is deleted, and are pruned.
    if changes.allSatisfy({ $0.after == nil }) { transaction.freesRoom() }
    announcement.announce(version) { changes.map { engine.fullName(of: $0.path) } }
    let logged = try await keep(changes, version, catalogue, in: transaction)
    let answer = CommitResponse(writeResults: draft.results, commitTime: Timestamp(microseconds: version))
    return CommitOutcome(answer: answer, logged: logged)
  }

  private func draft(
    of rows: ArraySlice<[UInt8]?>, at version: Int64, _ prepared: CommitDraft?
  ) throws -> CommitDraft {
    if let prepared { return try prepared.stamped(at: version) }
    var draft = CommitDraft(targets: plan.targets, rows: rows, version: version)
    try draft.apply(plan)
    return draft
  }

  private func keep(
    _ changes: [CommitDraft.Change], _ version: Int64, _ catalogue: Int64, in transaction: any StoreTransaction
  ) async throws -> Int {
    for change in changes {
      let key = keys.document(change.pathKey)
      if let after = change.after {
        try await transaction.put(after, for: key)
      } else {
        try await transaction.delete(key)
      }
    }
    let indexes = engine.indexes
    try await indexes.maintain(changes, try await indexes.catalogue(catalogue, transaction), in: transaction)
    let events = engine.frame.events
    if let interest = events.interest(in: cause) {
      let drafts = try DocumentEvents.drafts(of: changes, in: engine.name, for: interest, by: cause.actor)
      try await events.append(drafts, in: transaction, isOnly: true)
    }
    return try await log(changes, version, in: transaction)
  }

  /// Writes the rows of the log, and where no task does so later, the rows that say for each collection which parts of
  /// the log concern it.
  ///
  /// - Returns: The length of the rows of the log.
  private func log(
    _ changes: [CommitDraft.Change], _ version: Int64, in transaction: any StoreTransaction
  ) async throws -> Int {
    let tuning = engine.options.tuning.log
    let logged = changes.map { LoggedChange(pathKey: $0.pathKey, before: $0.before) }
    var size = 0
    for (part, row) in LogRow.rows(of: logged, limit: tuning.rowLimit).enumerated() {
      let position = LogPosition(version: version, part: Int64(part))
      let bytes = row.bytes
      size += bytes.count
      try await transaction.put(bytes, for: keys.log(position))
      guard engine.sorter == nil else { continue }
      for (collection, rows) in ChangeRow.rows(of: [(position, row)], limit: tuning.changeRowLimit) {
        let prefix = keys.changes(ofGroup: try PathKey.collectionID(ofPrefix: collection)) + collection
        for row in rows { try await transaction.put(row.bytes, for: position.appended(to: prefix)) }
      }
    }
    return size
  }
}
