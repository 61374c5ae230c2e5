import FirestoreInterop
import FirestoreModel
import StoreInterop

extension DatabaseEngine {
  /// Commits writes, all or nothing.
  ///
  /// - Parameters:
  ///   - writes: Checked by `WriteRules`.
  ///   - validation: What a transaction has read; the commit fails with `ABORTED` when it is no longer so.
  func commit(_ writes: [Write], validating validation: ReadSet = ReadSet()) async throws -> CommitResponse {
    let plan = try CommitPlan(writes)
    let commit = try await store.write { transaction in try await self.run(plan, validation, in: transaction) }
    hub.wake()
    return commit.value
  }

  private func run(
    _ plan: CommitPlan, _ validation: ReadSet, in transaction: any StoreTransaction
  ) async throws -> CommitResponse {
    let read = validation.documents.keys.filter { plan.indexes[$0] == nil }
    let wanted = [keys.head] + plan.targets.map { keys.document($0.place) } + read.map(keys.document)
    let rows = try await transaction.get(wanted)
    guard let bytes = rows[0] else { throw FirestoreError.damaged }
    var head = try Head(bytes)
    try validation.check(plan.targets.map(\.place) + read, rows: rows.dropFirst())
    let snapshot = Snapshot(
      reader: transaction, keys: keys, name: name, head: head, version: head.version, past: [:])
    try await validation.checkQueries(in: snapshot)

    let version = max(options.now(), head.version + 1)
    var draft = try CommitDraft(
      targets: plan.targets.map { ($0.place, $0.path) }, rows: rows[1..<plan.targets.count + 1], database: name,
      version: version)
    for (write, place) in plan.writes { try draft.apply(write, at: place) }
    let response = CommitResponse(writeResults: draft.results, commitTime: Timestamp(microseconds: version))
    guard plan.isChange else {
      return CommitResponse(writeResults: draft.results, commitTime: snapshot.readTime)
    }
    head.version = version
    try await keep(draft.effective, head, in: transaction)
    try await prune(&head, in: transaction)
    try await transaction.put(head.bytes, for: keys.head)
    return response
  }

  private func keep(
    _ changes: [CommitDraft.Change], _ head: Head, in transaction: any StoreTransaction
  ) async throws {
    let catalogue = try await indexes.catalogue(head, transaction)
    for change in changes {
      let key = keys.document(change.place)
      if let after = change.after {
        try await transaction.put(after, for: key)
      } else {
        try await transaction.delete(key)
      }
      try await indexes.maintain(change, catalogue, in: transaction)
    }
    let logged = changes.map { LoggedChange(place: $0.place, before: $0.before) }
    for (part, row) in LogRow.rows(of: logged).enumerated() {
      try await transaction.put(row.bytes, for: keys.log(version: head.version, part: Int64(part)))
    }
  }

  /// Forgets what is older than the retention, once in a while.
  private func prune(_ head: inout Head, in transaction: any StoreTransaction) async throws {
    let retention = options.retention * 1_000_000
    guard head.version - head.horizon > retention + retention / 16 else { return }
    head.horizon = head.version - retention
    try await transaction.deleteRange(KeyRange(from: keys.log, to: keys.log(version: head.horizon + 1, part: 0)))
  }
}

/// Writes with the places of their documents, worked out once for all runs of a store's transaction.
struct CommitPlan: Sendable {
  let writes: [(write: Write, place: Place)]
  /// The documents, each once.
  let targets: [(place: Place, path: ResourcePath)]
  let indexes: [Place: Int]
  /// Whether anything but verifications is asked for.
  let isChange: Bool

  init(_ writes: [Write]) throws {
    var targets: [(place: Place, path: ResourcePath)] = []
    var indexes: [Place: Int] = [:]
    self.writes = try writes.map { write in
      let path = try ResourceName(document: write.name).path
      let place = Place(path)
      if indexes[place] == nil {
        indexes[place] = targets.count
        targets.append((place, path))
      }
      return (write, place)
    }
    self.targets = targets
    self.indexes = indexes
    isChange = writes.contains { write in
      if case .verify = write.operation { return false }
      return true
    }
  }
}
