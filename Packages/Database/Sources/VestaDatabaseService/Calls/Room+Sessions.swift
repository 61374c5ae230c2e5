import VestaBytes
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

/// The ends of sessions: what clients have asked to be written when their connection is over.
extension Room {
  /// Carries out what the sessions that have ended asked for, where that has not been done yet.
  func finishSessions() async throws {
    for session in state.withLock({ $0.unfinished.sorted() }) {
      try await runEndOperations(below: context.keys.session(context.owner, session))
      state.withLock { _ = $0.unfinished.remove(session) }
    }
    guard state.withLock({ $0.owesForeignEnds }) else { return }
    try await finishAllForeignSessions()
  }

  /// Ends the sessions that were left behind in a store that this engine has for itself.
  ///
  /// What cannot be carried out now, on a full disk for instance, is no reason not to open the database: it is tried
  /// again before the next write.
  func finishAllForeignSessions() async throws {
    state.withLock { $0.owesForeignEnds = true }
    for session in try await sessions() where session.owner != context.owner {
      try await runEndOperations(below: context.keys.session(session.owner, session.name))
    }
    state.withLock { $0.owesForeignEnds = false }
  }

  /// Ends the sessions of engines that have stopped.
  ///
  /// - Parameter now: The time of the store.
  func finishForeignSessions(at now: StoreVersion) async throws {
    let context = context
    // The sessions first: an engine that joins in between has its lease before it has sessions.
    let present = try await sessions()
    let rows = try await openStore().read { try await $0.entries(in: KeyRange(prefix: context.keys.owners())) }
    var leases: [String: [UInt8]] = [:]
    for row in rows { if let owner = try? context.keys.owner(in: row.key) { leases[owner] = row.value } }
    leases[context.owner] = nil
    // Nobody else looks after the sessions of an engine that has no lease.
    var gone = Set(present.map(\.owner)).subtracting(leases.keys).subtracting([context.owner])
    let suspects = state.withLock { state in
      defer { state.suspects = leases.filter { Lease($0.value).until <= now.microseconds } }
      return state.suspects
    }
    for (owner, row) in leases where suspects[owner] == row && Lease(row).until <= now.microseconds {
      let isGone = try await openStore().write { transaction in
        let key = context.keys.owner(owner)
        guard try await transaction.get(key) == row else { return false }
        try await transaction.delete(key)
        return true
      }.value
      if isGone { gone.insert(owner) }
    }
    for session in try await sessions() where gone.contains(session.owner) {
      try await runEndOperations(below: context.keys.session(session.owner, session.name))
    }
  }

  private struct Session: Hashable {
    let owner: String
    let name: String
  }

  /// The sessions that have operations in the store, in order.
  private func sessions() async throws -> [Session] {
    let keys = context.keys
    let rows = try await openStore().read { try await $0.entries(in: KeyRange(prefix: keys.sessions())) }
    var found: [Session] = []
    for row in rows {
      guard let (owner, name) = try? keys.session(in: row.key) else { continue }
      let session = Session(owner: owner, name: name)
      if found.last != session { found.append(session) }
    }
    return found
  }

  /// Carries out what a session has asked for its end, and forgets it, in one transaction.
  ///
  /// Where one of its rows, or a row in the tree that it needs, is damaged, each operation has a transaction of its
  /// own, and writes that cannot be carried out are dropped: they would keep the database closed for ever.
  private func runEndOperations(below prefix: [UInt8]) async throws {
    do {
      try await runTogether(below: prefix)
    } catch  where Self.isDamage(error) {
      let rows = try await openStore().read { try await $0.entries(in: KeyRange(prefix: prefix)) }
      for row in rows { try await runAlone(row.key) }
    }
  }

  private static func isDamage(_ error: any Error) -> Bool { error is BytesError || StoreError.Code.corrupt ~= error }

  private func runTogether(below prefix: [UInt8]) async throws {
    let (context, now) = (context, now)
    try await end { transaction in
      let rows = try await transaction.entries(in: KeyRange(prefix: prefix))
      if rows.isEmpty { return [] }
      // What is written has its size in the rows that go.
      transaction.freesRoom()
      try await transaction.deleteRange(KeyRange(prefix: prefix))
      var written: [[DatabasePathValue]] = []
      for row in rows { written += try await EndOperations.run(row.value, in: transaction, context, now: now) }
      return written
    }
  }

  private func runAlone(_ key: [UInt8]) async throws {
    let (context, now) = (context, now)
    do {
      try await end { transaction in
        guard let row = try await transaction.get(key) else { return [] }
        transaction.freesRoom()
        try await transaction.delete(key)
        return try await EndOperations.run(row, in: transaction, context, now: now)
      }
    } catch  where Self.isDamage(error) {
      log.error(
        "I-RDS000004", "An operation for the end of a connection cannot be carried out, and is dropped: \(error)")
      _ = try await openStore().write { try await $0.delete(key) }
    }
  }

  /// Runs a transaction of the ends of sessions, and tells the listens of what it has written.
  private func end(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> [[DatabasePathValue]]
  ) async throws {
    let context = context
    var isKnown = false
    defer { if !isKnown { overtakeChecks() } }
    let commit = try await change { transaction -> [[DatabasePathValue]] in
      let written = try await body(transaction)
      try await CommitLog.append(written, in: transaction, context)
      return written
    }
    isKnown = true
    if !commit.value.isEmpty { await publish(commit.value, commit.version) }
  }
}

extension EndOperations {
  /// Carries out an operation from its row.
  ///
  /// - Returns: The written data.
  fileprivate static func run(
    _ row: [UInt8], in transaction: any StoreTransaction, _ context: RoomContext, now: Int64
  ) async throws -> [[DatabasePathValue]] {
    let value = try decode(row)
    let end = try await WriteOperation(put: value.path, value.node).run(in: transaction, context, now: now)
    if case .written(let values) = end { return [values] }
    return []
  }
}

private let log = Logger(service: "VestaDatabaseService")
