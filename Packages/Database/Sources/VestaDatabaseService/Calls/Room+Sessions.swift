import VestaBytes
import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

/// The start of a database, the ends of sessions, and the company of other engines on the same store.
extension Room {
  /// How many rows one step of an index reads.
  private static let rowsOfAStep = 500

  /// Readies the database: ends the sessions that a crash has left behind, and enters the indexes that are declared.
  func prepare() async throws {
    guard !state.withLock({ $0.isPrepared }) else { return }
    let store = try await openStore()
    if let lease = options.sharing.lease { try await join(store, lease) }
    try await finishForeignSessions()
    let (context, indexes) = (context, options.indexes)
    let catalog = try await store.write { transaction -> IndexCatalog in
      var catalog = try await context.catalogs.read(transaction, context.keys)
      let removed = catalog.declare(indexes, keepsOthers: context.isShared)
      for number in removed {
        try await transaction.deleteRange(KeyRange(prefix: context.keys.index(.declared(number), below: .root)))
      }
      try await context.catalogs.write(catalog, transaction, context.keys)
      return catalog
    }.value
    state.withLock { $0.isPrepared = true }
    if catalog.isBuilding { submit(.perform { [self] in await buildIndexes() }) }
  }

  /// One step of the indexes that are being built, then what others have asked meanwhile, then the next step.
  private func buildIndexes() async {
    do {
      let context = context
      let isBuilding = try await openStore().write { transaction in
        try await IndexBuilder(transaction: transaction, context: context).step(rows: Self.rowsOfAStep)
      }.value
      if isBuilding, !state.withLock({ $0.isOver }) { submit(.perform { [self] in await buildIndexes() }) }
    } catch {
      log.warning("I-RDS000001", "The indexes are not ready, and queries do without; tried again in a minute. \(error)")
      retryIndexes()
    }
  }

  /// Goes on building in a minute; the cursor is in the store.
  private func retryIndexes() {
    let timer = options.clock.schedule(after: .seconds(60)) { [weak self] in
      self?.submit(.perform { [weak self] in await self?.buildIndexes() })
    }
    state.withLock { state in
      if state.isOver { timer.cancel() } else { state.retry = timer }
    }
  }

  // MARK: The ends of sessions

  /// Carries out what the sessions that have ended asked for, where that has not been done yet.
  func finishSessions() async throws {
    for session in state.withLock({ $0.unfinished.sorted() }) {
      try await runEndOperations(below: context.keys.session(context.owner, session))
      state.withLock { _ = $0.unfinished.remove(session) }
    }
  }

  /// Ends the sessions of engines that are gone: all other engines, or those whose lease is over.
  private func finishForeignSessions() async throws {
    guard options.sharing.lease != nil else { return try await runEndOperations(below: context.keys.sessions()) }
    let (context, now) = (context, now)
    let owners = try await openStore().read { reader in
      var owners: Set<String> = []
      for row in try await reader.entries(in: KeyRange(prefix: context.keys.owners())) {
        var value = ByteReader(row.value)
        let (owner, expiry) = (try value.string(), try value.zigzag())
        if owner != context.owner, expiry <= now { owners.insert(owner) }
      }
      return owners
    }
    for owner in owners.sorted() {
      try await runEndOperations(below: context.keys.sessions(of: owner), owner: owner, expiredAt: now)
    }
  }

  /// Carries out what sessions have asked for their end, and forgets it, in one transaction.
  ///
  /// - Parameters:
  ///   - owner: The engine whose sessions they are, which loses its lease with them; `nil` for no such engine.
  ///   - time: The time at which its lease must be over.
  private func runEndOperations(below prefix: [UInt8], owner: String? = nil, expiredAt time: Int64 = 0) async throws {
    let (context, now) = (context, now)
    var isKnown = false
    defer { if !isKnown { overtakeChecks() } }
    let commit = try await openStore().write { transaction -> [[DatabasePathValue]] in
      if let owner {
        let row = try await transaction.get(context.keys.owner(owner))
        guard let row, try Lease(row).expiry <= time else { return [] }
        try await transaction.delete(context.keys.owner(owner))
      }
      let rows = try await transaction.entries(in: KeyRange(prefix: prefix))
      if rows.isEmpty { return [] }
      try await transaction.deleteRange(KeyRange(prefix: prefix))
      var written: [[DatabasePathValue]] = []
      for row in rows {
        let value = try EndOperations.decode(row.value)
        let operation = WriteOperation(put: value.path, value.node)
        let end = try await operation.run(in: transaction, context, now: now)
        if case .written(let values) = end { written.append(values) }
      }
      try await CommitLog.append(written, in: transaction, context)
      return written
    }
    isKnown = true
    if !commit.value.isEmpty { await publish(commit.value, commit.version) }
  }

  // MARK: Several engines

  /// Takes a lease, and hears of the commits of others from here on.
  private func join(_ store: any OrderedStore, _ lease: Duration) async throws {
    let version = try await store.read { $0.version }
    state.withLock { $0.lastPublished = version }
    try await renew(lease)
    guard state.withLock({ $0.timer == nil }) else { return }
    if let store = store as? any CommitObservable {
      let registration = store.observeCommits { [weak self] _ in
        self?.submit(.perform { [weak self] in await self?.catchUp() })
      }
      state.withLock { $0.observation = registration }
    }
    schedule(after: lease / 3)
  }

  private func schedule(after delay: Duration) {
    let timer = options.clock.schedule(after: delay) { [weak self] in
      self?.submit(.perform { [weak self] in await self?.tick() })
    }
    state.withLock { state in
      if state.isOver { timer.cancel() } else { state.timer = timer }
    }
  }

  /// Renews the lease, ends the sessions of engines that are gone, and drops old rows of the log.
  ///
  /// An engine whose lease another has found to be over has no sessions any more: its connections end, and the clients
  /// come back with what they ask for the end.
  private func tick() async {
    guard let lease = options.sharing.lease, !state.withLock({ $0.isOver }) else { return }
    do {
      if try await !renew(lease) { dropConnections() }
      try await finishSessions()
      try await finishForeignSessions()
      await catchUp()
      let (keys, oldest) = (context.keys, state.withLock { $0.lastPublished })
      let kept = StoreVersion(microseconds: oldest.microseconds - CommitLog.microsecondsKept)
      _ = try await openStore().write { try await $0.deleteRange(keys.log(upTo: kept)) }
    } catch {
      log.warning("I-RDS000002", "Sessions of other engines cannot be looked at; the next tick tries again. \(error)")
    }
    schedule(after: lease / 3)
  }

  /// - Returns: Whether the lease was still there.
  @discardableResult
  private func renew(_ lease: Duration) async throws -> Bool {
    let (context, expiry) = (context, now + lease.microseconds / 1000)
    return try await openStore().write { transaction in
      let key = context.keys.owner(context.owner)
      let isThere = try await transaction.get(key) != nil
      try await transaction.put(Lease(owner: context.owner, expiry: expiry).bytes, for: key)
      return isThere
    }.value
  }

  private func dropConnections() {
    let connections = state.withLock { state in
      defer { state.connections = [:] }
      state.unfinished.formUnion(state.connections.keys)
      return Array(state.connections.values)
    }
    for connection in connections {
      hub.removeAll(of: connection)
      connection.post([.closed(reason: "The service has ended the session.")])
    }
  }

  /// Gives the lease back.
  func leave() async {
    guard options.sharing.lease != nil, state.withLock({ $0.isPrepared && $0.unfinished.isEmpty }) else { return }
    let keys = context.keys, owner = context.owner
    // A lease that cannot be given back ends by itself.
    _ = try? await openStore().write { try await $0.delete(keys.owner(owner)) }
  }

  /// Sends the listens the commits that they have not seen yet, in the order of versions.
  func catchUp() async {
    do {
      let (context, last) = (context, state.withLock { $0.lastPublished })
      let (commits, version) = try await openStore().read { reader in
        (try await CommitLog.commits(after: last, reader, context.keys), reader.version)
      }
      for commit in commits { await tell(commit.writes, commit.version) }
      state.withLock { $0.lastPublished = max($0.lastPublished, version) }
    } catch {
      log.warning("I-RDS000003", "Listens have not received all commits; the next one tries again. \(error)")
    }
  }
}

/// The right of an engine to have sessions, until a time in milliseconds since 1970.
struct Lease {
  let owner: String
  let expiry: Int64

  init(owner: String, expiry: Int64) {
    self.owner = owner
    self.expiry = expiry
  }

  init(_ bytes: [UInt8]) throws {
    var reader = ByteReader(bytes)
    (owner, expiry) = (try reader.string(), try reader.zigzag())
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.write(string: owner)
    writer.write(zigzag: expiry)
    return writer.bytes
  }
}

private let log = Logger(service: "VestaDatabaseService")
