import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

extension DatabaseEngine {
  /// Checks and commits writes, all or nothing.
  ///
  /// - Parameters:
  ///   - writes: Any.
  ///   - validation: What a transaction has read; the commit fails with `ABORTED` when it is no longer so.
  func commit(_ writes: [Write], validating validation: ReadSet = ReadSet()) async throws -> CommitResponse {
    let plan = CommitPlan(writes, at: try WriteRules.check(writes, database: name))
    let commit = try await store.write { transaction in try await self.run(plan, validation, in: transaction) }
    hub.wake()
    return commit.value
  }

  private func run(
    _ plan: CommitPlan, _ validation: ReadSet, in transaction: any StoreTransaction
  ) async throws -> CommitResponse {
    let read = validation.documents.isEmpty ? [] : plan.others(of: validation.documents.keys)
    let wanted = [keys.head] + plan.targets.map { keys.document($0.place) } + read.map(keys.document)
    let rows = try await transaction.get(wanted)
    guard let bytes = rows[0] else { throw FirestoreError.damaged }
    var head = try Head(bytes)
    try validation.check(plan.targets.map(\.place) + read, rows: rows.dropFirst())
    let snapshot = Snapshot(
      reader: transaction, keys: keys, name: name, head: head, version: head.version, past: [:])
    try await validation.checkQueries(in: snapshot)

    let version = max(options.now(), head.version + 1)
    var draft = CommitDraft(targets: plan.targets, rows: rows[1..<plan.targets.count + 1], version: version)
    for (write, target) in plan.writes { try draft.apply(write, to: target) }
    let response = CommitResponse(writeResults: draft.results, commitTime: Timestamp(microseconds: version))
    guard plan.isChange else {
      return CommitResponse(writeResults: draft.results, commitTime: snapshot.readTime)
    }
    head.version = version
    if try await keep(draft.effective, head, in: transaction) { head.catalogue += 1 }
    try await prune(&head, in: transaction)
    try await transaction.put(head.bytes, for: keys.head)
    return response
  }

  /// - Returns: Whether an index was given up, so that the catalogue is another one.
  private func keep(
    _ changes: [CommitDraft.Change], _ head: Head, in transaction: any StoreTransaction
  ) async throws -> Bool {
    let catalogue = try await indexes.catalogue(head, transaction)
    for change in changes {
      let key = keys.document(change.place)
      if let after = change.after {
        try await transaction.put(after, for: key)
      } else {
        try await transaction.delete(key)
      }
    }
    let unfit = try await indexes.maintain(changes, catalogue, in: transaction)
    let logged = changes.map { LoggedChange(place: $0.place, before: $0.before) }
    for (part, row) in LogRow.rows(of: logged).enumerated() {
      try await transaction.put(row.bytes, for: keys.log(version: head.version, part: Int64(part)))
    }
    return !unfit.isEmpty
  }

  /// Forgets what is older than the retention, once in a while.
  private func prune(_ head: inout Head, in transaction: any StoreTransaction) async throws {
    let retention = options.retention * 1_000_000
    guard head.version - head.horizon > retention + retention / 16 else { return }
    head.horizon = head.version - retention
    try await transaction.deleteRange(KeyRange(from: keys.log, to: keys.log(version: head.horizon + 1, part: 0)))
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
