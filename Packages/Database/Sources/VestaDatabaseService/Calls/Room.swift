import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// One database: its jobs, its listens, its sessions.
final class Room: Sendable {
  enum Job: Sendable {
    case open(EngineConnection)
    case request(EngineConnection, DatabaseRequest, Int)
    case close(EngineConnection)
    case refresh(Int)
    /// Something of the engine's own, between two groups.
    case perform(@Sendable () async -> Void)
  }

  let context: RoomContext
  let access: any DatabaseAccess
  let hub = ListenHub()
  private let options: DatabaseServiceOptions
  private let openStore: @Sendable () async throws -> any OrderedStore
  private let isPrepared = Locked(false)
  private let connections = Locked([String: EngineConnection]())
  private let reads = PendingCount()

  init(
    namespace: String, options: DatabaseServiceOptions,
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    context = RoomContext(namespace: namespace, keys: Keys(namespace: namespace), indexes: options.indexes)
    access = options.access
    self.options = options
    self.openStore = openStore
    lane = CommitLane(limit: 256)
  }

  /// The jobs.
  let lane: CommitLane<Job>

  /// Adds a job; returns at once.
  func submit(_ job: Job) { lane.submit(job) { [self] jobs in await process(jobs) } }

  /// Returns when nothing runs and nothing waits.
  func settle() async {
    while true {
      await lane.idle()
      if await reads.waitUntilZero(), lane.isIdle { return }
    }
  }

  /// Ends all connections.
  func close() async {
    for connection in connections.withLock({ Array($0.values) }) { connection.close() }
    await settle()
  }

  // MARK: Jobs

  private func process(_ jobs: [Job]) async {
    var writes: [(EngineConnection, DatabaseRequest, Int)] = []
    for job in jobs {
      if case .request(let connection, let request, let id) = job, request.isWrite {
        writes.append((connection, request, id))
        continue
      }
      await commit(&writes)
      await process(job)
    }
    await commit(&writes)
  }

  private func process(_ job: Job) async {
    switch job {
    case .open(let connection): await open(connection)
    case .request(let connection, let request, let id): answer(connection, request, id)
    case .close(let connection): await close(connection)
    case .refresh(let watch): await refresh([watch])
    case .perform(let body): await body()
    }
  }

  private func open(_ connection: EngineConnection) async {
    do {
      try await prepare()
      connections.withLock { $0[connection.session] = connection }
      connection.post([.hello(DatabaseHello(timestamp: options.now(), session: connection.session))])
    } catch {
      connection.post([.closed(reason: "\(error)")])
    }
  }

  private func close(_ connection: EngineConnection) async {
    hub.removeAll(of: connection)
    guard connections.withLock({ $0.removeValue(forKey: connection.session) }) != nil else { return }
    do {
      try await runEndOperations(below: context.keys.session(connection.session))
      connection.post([.closed(reason: "The client has closed the connection.")])
    } catch {
      // The rows are still there: the operations run when the database is opened next.
      connection.post([.closed(reason: "The operations for the end of the session wait: \(error)")])
    }
  }

  /// Readies the database: ends the sessions that a crash has left behind, and builds the indexes that are declared
  /// now.
  private func prepare() async throws {
    guard !isPrepared.withLock({ $0 }) else { return }
    let store = try await openStore()
    try await runEndOperations(below: context.keys.sessions())
    let context = context
    _ = try await store.write { transaction in
      let built = try await transaction.get(context.keys.definitions())
      guard (built ?? []) != context.indexes.fingerprint else { return }
      try await TreeWriter(transaction: transaction, keys: context.keys, indexes: context.indexes).rebuildIndexes()
    }
    isPrepared.withLock { $0 = true }
  }

  /// Carries out what sessions have asked for their end, and forgets it, in one transaction.
  private func runEndOperations(below prefix: [UInt8]) async throws {
    let store = try await openStore()
    let context = context
    let now = options.now()
    let commit = try await store.write { transaction -> [[DatabasePathValue]] in
      let rows = try await transaction.entries(in: KeyRange(prefix: prefix))
      if rows.isEmpty { return [] }
      try await transaction.deleteRange(KeyRange(prefix: prefix))
      var written: [[DatabasePathValue]] = []
      for row in rows {
        let value = try EndOperations.decode(row.value)
        let operation = WriteOperation(put: value.path, value.node)
        written.append(try await operation.run(in: transaction, context, now: now) ?? [])
      }
      return written
    }
    for values in commit.value { await publish(values, commit.version) }
  }

  // MARK: Writes

  private enum Outcome: Sendable {
    case reply(DatabaseReply)
    case written([DatabasePathValue])
  }

  private func commit(_ writes: inout [(EngineConnection, DatabaseRequest, Int)]) async {
    guard !writes.isEmpty else { return }
    let group = writes
    writes = []
    do {
      try await run(group)
    } catch  where group.count > 1 {
      // One of them may be what the store refuses: each has its own transaction then.
      for write in group {
        do {
          try await run([write])
        } catch {
          fail(write, error)
        }
      }
    } catch {
      for write in group { fail(write, error) }
    }
  }

  private func fail(_ write: (EngineConnection, DatabaseRequest, Int), _ error: any Error) {
    write.0.post([.reply(write.2, DatabaseReply(.unavailable, message: "The write was not stored: \(error)"))])
  }

  private func run(_ group: [(EngineConnection, DatabaseRequest, Int)]) async throws {
    let store = try await openStore()
    let context = context
    let access = access
    let now = options.now()
    let numbers = group.map { connection, request, _ in
      (0..<request.endOperationCount).map { _ in connection.nextOperation() }
    }
    let commit = try await store.write { transaction -> [Outcome] in
      var outcomes: [Outcome] = []
      for ((connection, request, _), numbers) in zip(group, numbers) {
        let call = WriteCall(connection: connection, context: context, access: access, now: now, numbers: numbers)
        outcomes.append(try await call.run(request, in: transaction))
      }
      return outcomes
    }
    for ((connection, _, id), outcome) in zip(group, commit.value) {
      switch outcome {
      case .reply(let reply): connection.post([.reply(id, reply)])
      case .written(let values):
        await publish(values, commit.version)
        connection.post([.reply(id, .ok)])
      }
    }
  }

  /// What a write does in a transaction.
  private struct WriteCall {
    let connection: EngineConnection
    let context: RoomContext
    let access: any DatabaseAccess
    let now: Int64
    let numbers: [Int]

    func run(_ request: DatabaseRequest, in transaction: any StoreTransaction) async throws -> Outcome {
      switch request {
      case .put(let path, let node, let hash):
        return try await write(WriteOperation(put: path, node, hash: hash), in: transaction)
      case .merge(let path, let values):
        return try await write(WriteOperation(merge: path, values), in: transaction)
      case .onDisconnectPut(let path, let node):
        return try await keep(WriteOperation(put: path, node), in: transaction)
      case .onDisconnectMerge(let path, let values):
        return try await keep(WriteOperation(merge: path, values), in: transaction)
      case .onDisconnectCancel(let path):
        let rows = try await transaction.entries(in: KeyRange(prefix: context.keys.session(connection.session)))
        for row in rows where path.contains(try EndOperations.decode(row.value).path) {
          try await transaction.delete(row.key)
        }
        return .reply(.ok)
      default: return .reply(DatabaseReply(.invalid, message: "The request is not a write."))
      }
    }

    /// Why the write is refused; `nil` when it is not.
    private func refusal(_ operation: WriteOperation) -> DatabaseReply? {
      if let problem = operation.problem { return problem }
      let user = connection.user
      let isAllowed = operation.places.allSatisfy { access.mayWrite($0.path, $0.node, user: user) }
      return isAllowed ? nil : DatabaseReply(.permissionDenied, message: "Permission denied")
    }

    private func write(_ operation: WriteOperation, in transaction: any StoreTransaction) async throws -> Outcome {
      if let refusal = refusal(operation) { return .reply(refusal) }
      guard let written = try await operation.run(in: transaction, context, now: now) else {
        return .reply(DatabaseReply(.dataStale, message: "The data has changed."))
      }
      return .written(written)
    }

    private func keep(_ operation: WriteOperation, in transaction: any StoreTransaction) async throws -> Outcome {
      if let refusal = refusal(operation) { return .reply(refusal) }
      for (place, number) in zip(operation.places, numbers) {
        let key = context.keys.operation(connection.session, number)
        try await transaction.put(EndOperations.encode(place), for: key)
      }
      return .reply(.ok)
    }
  }

  /// Tells the listens of a commit.
  private func publish(_ values: [DatabasePathValue], _ version: StoreVersion) async {
    let (posts, queries) = hub.publish(values, version)
    for connection in posts { connection.deliver() }
    if !queries.isEmpty { await refresh(queries) }
  }

  /// Reads the results of queries anew, each query once, and sends what has changed.
  private func refresh(_ watches: [Int]) async {
    let queries = hub.queries(watches)
    if queries.isEmpty { return }
    do {
      let store = try await openStore()
      let context = context
      let results = try await store.read { reader in
        let queryReader = QueryReader(tree: TreeReader(reader: reader, keys: context.keys), indexes: context.indexes)
        var results: [ListenHub.Query: DatabaseNode] = [:]
        for query in Set(queries.values) { results[query] = try await queryReader.window(query.path, query.spec).node }
        return results
      }
      for connection in hub.update(queries, results) { connection.deliver() }
    } catch {
      // A query that cannot be read leaves its listeners with old data: they are told, and can listen again.
      for connection in hub.revoke(watches) { connection.deliver() }
    }
  }

  // MARK: Reads

  private func answer(_ connection: EngineConnection, _ request: DatabaseRequest, _ id: Int) {
    switch request {
    case .listen(let listen): start(listen, connection, id)
    case .unlisten(let path, let spec, let tag):
      hub.remove(connection, path, spec, tag)
      connection.post([.reply(id, .ok)])
    case .get(let path, let spec): get(path, spec, connection, id)
    case .unauthenticate:
      connection.signOut()
      connection.post([.reply(id, .ok)])
    default: connection.post([.reply(id, .ok)])
    }
  }

  /// Why a read is refused; `nil` when it is not.
  private func refusal(
    _ connection: EngineConnection, _ path: DatabasePath, _ spec: DatabaseQuerySpec
  ) -> DatabaseReply? {
    guard access.mayRead(path, spec, user: connection.user) else {
      return DatabaseReply(.permissionDenied, message: "Permission denied")
    }
    guard path.keys.allSatisfy({ KeyRules.isValidKey($0.text) }), (spec.limit?.count ?? 1) > 0 else {
      return DatabaseReply(.invalid, message: "The path or the limit of the query is not valid.")
    }
    return nil
  }

  private func window(
    _ path: DatabasePath, _ spec: DatabaseQuerySpec
  ) async throws -> (node: DatabaseNode, lacksIndex: Bool, version: StoreVersion) {
    let context = context
    return try await openStore().read { reader in
      let query = QueryReader(tree: TreeReader(reader: reader, keys: context.keys), indexes: context.indexes)
      let (node, lacksIndex) = try await query.window(path, spec)
      return (node, lacksIndex, reader.version)
    }
  }

  private func start(_ listen: DatabaseListen, _ connection: EngineConnection, _ id: Int) {
    if let refusal = refusal(connection, listen.path, listen.spec) { return connection.post([.reply(id, refusal)]) }
    let watch = hub.add(connection, listen)
    reads.begin()
    Task {
      do {
        let (node, lacksIndex, version) = try await window(listen.path, listen.spec)
        let isKnown = !listen.hash.isEmpty && NodeHash.matches(listen.hash, node)
        let reply = DatabaseReply(.ok, warnings: lacksIndex ? ["no_index"] : [])
        if hub.activate(watch, of: connection, node, version, sendsData: !isKnown, reply: .reply(id, reply)) {
          submit(.refresh(watch))
        }
      } catch {
        hub.discard(watch)
        connection.enqueue([.reply(id, DatabaseReply(.unavailable, message: "The data cannot be read: \(error)"))])
      }
      connection.deliver()
      submit(.perform { [hub] in hub.removeEnding(of: connection) })
      reads.end()
    }
  }

  private func get(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ connection: EngineConnection, _ id: Int) {
    if let refusal = refusal(connection, path, spec) { return connection.post([.reply(id, refusal)]) }
    reads.begin()
    Task {
      do {
        let (node, lacksIndex, _) = try await window(path, spec)
        connection.post([.reply(id, DatabaseReply(.ok, node: node, warnings: lacksIndex ? ["no_index"] : []))])
      } catch {
        connection.post([.reply(id, DatabaseReply(.unavailable, message: "The data cannot be read: \(error)"))])
      }
      reads.end()
    }
  }
}

extension DatabaseRequest {
  /// Whether the request changes the store.
  fileprivate var isWrite: Bool {
    switch self {
    case .put, .merge, .onDisconnectPut, .onDisconnectMerge, .onDisconnectCancel: true
    default: false
    }
  }

  /// How many operations for the end of the session it brings.
  fileprivate var endOperationCount: Int {
    switch self {
    case .onDisconnectPut: 1
    case .onDisconnectMerge(_, let values): values.count
    default: 0
    }
  }
}

/// Counts what is under way, and lets others wait for the end of it.
final class PendingCount: Sendable {
  private let state = Locked((count: 0, waiting: [CheckedContinuation<Void, Never>]()))

  func begin() { state.withLock { $0.count += 1 } }

  func end() {
    let waiting = state.withLock { state in
      state.count -= 1
      defer { if state.count == 0 { state.waiting = [] } }
      return state.count == 0 ? state.waiting : []
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns at once with `true` when nothing is under way; with `false` after what was has ended.
  func waitUntilZero() async -> Bool {
    if state.withLock({ $0.count == 0 }) { return true }
    await withCheckedContinuation { continuation in
      let isZero = state.withLock { state in
        if state.count > 0 { state.waiting.append(continuation) }
        return state.count == 0
      }
      if isZero { continuation.resume() }
    }
    return false
  }
}
