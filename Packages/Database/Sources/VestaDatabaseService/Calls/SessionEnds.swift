import VestaBytes
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

/// The ends of sessions: carries out what clients have asked to be written when their connection is over, as
/// ``SessionLedger`` decides.
struct SessionEnds: Sendable {
  private struct Session: Hashable {
    let owner: String
    let name: String
  }

  private let room: Room
  private var context: RoomContext { room.context }

  init(_ room: Room) { self.room = room }

  /// Carries out what the sessions that have ended asked for, where that has not been done yet.
  func finish() async throws {
    for session in room.state.withLock({ $0.sessions.owed }) {
      try await carryOutAll(below: context.keys.session(context.owner, session))
      room.state.withLock { $0.sessions.carriedOut(session) }
    }
    guard room.state.withLock({ $0.sessions.hasForeignEnds }) else { return }
    try await finishAllForeign()
  }

  /// Ends the sessions that were left behind in a store that this engine has for itself.
  ///
  /// A write that cannot be carried out now, on a full disk for instance, is no reason not to open the database: it is
  /// tried again before the next write.
  func finishAllForeign() async throws {
    room.state.withLock { $0.sessions.foreignEndsBegan() }
    for session in try await sessions() where session.owner != context.owner {
      try await carryOutAll(below: context.keys.session(session.owner, session.name))
    }
    room.state.withLock { $0.sessions.foreignEndsCarriedOut() }
  }

  /// Ends the sessions of engines that have stopped.
  ///
  /// - Parameter now: The time of the store.
  func finishForeign(at now: StoreVersion) async throws {
    let context = context
    // The sessions first: an engine that joins in between has its lease before it has sessions.
    let owners = Set(try await sessions().map(\.owner))
    let rows = try await room.openStore().read { try await $0.entries(in: KeyRange(prefix: context.keys.owners())) }
    var leases: [String: [UInt8]] = [:]
    for row in rows { if let owner = try? context.keys.owner(in: row.key) { leases[owner] = row.value } }
    let found = leases
    let verdict = room.state.withLock {
      $0.sessions.judge(owners: owners, leases: found, own: context.owner, now: now)
    }
    var stopped = verdict.stopped
    for (owner, row) in verdict.expired {
      let hasStopped = try await room.openStore().write { transaction in
        let key = context.keys.owner(owner)
        guard try await transaction.get(key) == row else { return false }
        try await transaction.delete(key)
        return true
      }.value
      if hasStopped { stopped.insert(owner) }
    }
    for session in try await sessions() where stopped.contains(session.owner) {
      try await carryOutAll(below: context.keys.session(session.owner, session.name))
    }
  }

  /// The sessions that have operations in the store, in order.
  private func sessions() async throws -> [Session] {
    let keys = context.keys
    let rows = try await room.openStore().read { try await $0.entries(in: KeyRange(prefix: keys.sessions())) }
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
  /// Where one of its rows, or a row in the tree that it needs, is damaged, each operation has a separate transaction,
  /// and writes that cannot be carried out are dropped: they would keep the database closed for ever.
  private func carryOutAll(below prefix: [UInt8]) async throws {
    let (context, now) = (context, room.now)
    do {
      try await commit { try await EndOperations.runAll(below: prefix, in: $0, context, now: now) }
    } catch  where Self.isDamage(error) {
      let rows = try await room.openStore().read { try await $0.entries(in: KeyRange(prefix: prefix)) }
      for row in rows { try await runAlone(row.key) }
    }
  }

  private static func isDamage(_ error: any Error) -> Bool { error is BytesError || StoreError.Code.corrupt ~= error }

  private func runAlone(_ key: [UInt8]) async throws {
    let (context, now) = (context, room.now)
    do {
      try await commit { try await EndOperations.run(at: key, in: $0, context, now: now) }
    } catch  where Self.isDamage(error) {
      log.error(
        "I-RDS000004", "An operation for the end of a connection cannot be carried out, and is dropped: \(error)")
      _ = try await room.openStore().write { try await $0.delete(key) }
    }
  }

  /// Runs a transaction of the ends of sessions, and notifies the listens of what it has written.
  private func commit(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> [[DatabasePathValue]]
  ) async throws {
    let context = context
    var isKnown = false
    defer { if !isKnown { room.state.withLock { $0.checks.overtakeAll() } } }
    let commit = try await room.change { transaction -> [[DatabasePathValue]] in
      let written = try await body(transaction)
      try await CommitLog.append(written, in: transaction, context)
      return written
    }
    isKnown = true
    if !commit.value.isEmpty { await room.publish(commit.value, commit.version) }
  }
}

extension EndOperations {
  /// Carries out all operations of a session, and removes their rows.
  ///
  /// - Returns: The written data.
  static func runAll(
    below prefix: [UInt8], in transaction: any StoreTransaction, _ context: RoomContext, now: Int64
  ) async throws -> [[DatabasePathValue]] {
    let rows = try await transaction.entries(in: KeyRange(prefix: prefix))
    if rows.isEmpty { return [] }
    // The written rows are no larger than the removed ones.
    transaction.freesRoom()
    try await transaction.deleteRange(KeyRange(prefix: prefix))
    var written: [[DatabasePathValue]] = []
    for row in rows { written += try await run(row.value, in: transaction, context, now: now) }
    return written
  }

  /// Carries out one operation, and removes its row.
  static func run(
    at key: [UInt8], in transaction: any StoreTransaction, _ context: RoomContext, now: Int64
  ) async throws -> [[DatabasePathValue]] {
    guard let row = try await transaction.get(key) else { return [] }
    transaction.freesRoom()
    try await transaction.delete(key)
    return try await run(row, in: transaction, context, now: now)
  }

  private static func run(
    _ row: [UInt8], in transaction: any StoreTransaction, _ context: RoomContext, now: Int64
  ) async throws -> [[DatabasePathValue]] {
    let value = try decode(row)
    let end = try await WriteOperation(put: value.path, value.node).carryOut(in: transaction, context, now: now)
    if case .written(let values) = end { return [values] }
    return []
  }
}

private let log = Logger(service: "VestaDatabaseService")
