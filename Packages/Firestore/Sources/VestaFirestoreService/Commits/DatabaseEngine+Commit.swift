import VestaEventsInterop
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

extension DatabaseEngine {
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
    let announcement = CommitAnnouncement(to: recent)
    let commit: StoreCommit<CommitResponse>
    do {
      commit = try await store.write { transaction in
        if let answer = try await answers?.answer(to: plan, in: transaction) { return answer }
        let answer = try await self.run(plan, validation, announcement, in: transaction)
        if plan.isChange { try await answers?.keep(answer, in: transaction) }
        return answer
      }
    } catch {
      announcement.retract()
      throw error
    }
    // Stores that tell of their commits wake the listeners themselves.
    if !(store is any CommitObservable) { hub.wake() }
    recent.noteSeen(commit.version.microseconds)
    if let events, events.interest != nil { events.wake() }
    pruner.noteCommit(at: commit.version.microseconds)
    return commit.value
  }

  private func run(
    _ plan: CommitPlan, _ validation: ReadSet, _ announcement: CommitAnnouncement, in transaction: any StoreTransaction
  ) async throws -> CommitResponse {
    let read = validation.documents.isEmpty ? [] : plan.others(of: validation.documents.keys)
    let wanted = [keys.catalogue] + plan.targets.map { keys.document($0.place) } + read.map(keys.document)
    let rows = try await transaction.get(wanted)
    let catalogue = try NumberRow.number(rows[0])
    try validation.check(plan.targets.map(\.place) + read, rows: rows.dropFirst())
    let snapshot = Snapshot(
      reader: transaction, keys: keys, name: name, indexes: nil, retention: options.retention * 1_000_000)
    try await validation.checkQueries(in: snapshot)

    let version = plan.isChange ? try await transaction.commitVersion().microseconds : snapshot.version
    var draft = CommitDraft(targets: plan.targets, rows: rows[1..<plan.targets.count + 1], version: version)
    for (write, target) in plan.writes { try draft.apply(write, to: target) }
    let changes = draft.effective
    if !changes.isEmpty {
      let database = name
      announcement.announce(version) { changes.map { ResourceName(database: database, path: $0.path).description } }
      try await keep(changes, version, catalogue, in: transaction)
    }
    // Nothing has a version that changes nothing: its time is that of what it has seen.
    let time = plan.isChange ? Timestamp(microseconds: version) : snapshot.readTime
    return CommitResponse(writeResults: draft.results, commitTime: time)
  }

  private func keep(
    _ changes: [CommitDraft.Change], _ version: Int64, _ catalogue: Int64, in transaction: any StoreTransaction
  ) async throws {
    for change in changes {
      let key = keys.document(change.place)
      if let after = change.after {
        try await transaction.put(after, for: key)
      } else {
        try await transaction.delete(key)
      }
    }
    try await indexes.maintain(changes, try await indexes.catalogue(catalogue, transaction), in: transaction)
    if let events, let interest = events.interest {
      let drafts = try DocumentEvents.drafts(of: changes, in: name, for: interest)
      try await events.append(drafts, in: transaction, isOnly: true)
    }
    let logged = changes.map { LoggedChange(place: $0.place, before: $0.before) }
    for (part, row) in LogRow.rows(of: logged).enumerated() {
      let position = LogPosition(version: version, part: Int64(part))
      try await transaction.put(row.bytes, for: keys.log(position))
      for (prefix, row) in try changeRows(of: row.changes) {
        try await transaction.put(row.bytes, for: position.appended(to: prefix))
      }
    }
  }

  /// The rows that say which documents of which collections a part of the log has, by what their keys begin with.
  private func changeRows(of changes: [LoggedChange]) throws -> [([UInt8], ChangeRow)] {
    try Dictionary(grouping: changes, by: \.place.collectionPrefix).map { collection, changes in
      let id = try Place.collectionID(ofPrefix: collection)
      let ids = changes.map { Array($0.place.bytes.dropFirst(collection.count)) }
      return (keys.changes(ofGroup: id) + collection, ChangeRow(ids: ids))
    }
  }
}

/// Writes with the documents they are of, worked out once for all runs of a store's transaction.
struct CommitPlan: Sendable {
  struct Target: Sendable {
    let place: Place
    let path: ResourcePath
    let name: String
  }

  /// The documents, each once.
  let targets: [Target]
  /// The writes, and which target each is of.
  let writes: [(write: Write, target: Int)]
  /// Whether anything but verifications is asked for.
  let isChange: Bool

  /// - Parameter paths: The documents that are written, one for each write.
  init(_ writes: [Write], at paths: [ResourcePath]) {
    var targets: [Target] = []
    targets.reserveCapacity(writes.count)
    var indexes: [Place: Int] = [:]
    self.writes = zip(writes, paths).map { write, path in
      let place = Place(path)
      if writes.count > 1, let known = indexes[place] { return (write, known) }
      indexes[place] = targets.count
      targets.append(Target(place: place, path: path, name: write.name))
      return (write, targets.count - 1)
    }
    self.targets = targets
    isChange = writes.contains { write in
      if case .verify = write.operation { return false }
      return true
    }
  }

  /// Those of some documents that are not written.
  func others(of places: some Collection<Place>) -> [Place] {
    let written = Set(targets.map(\.place))
    return places.filter { !written.contains($0) }
  }
}
