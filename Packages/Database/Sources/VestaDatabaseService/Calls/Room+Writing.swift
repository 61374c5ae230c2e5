import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEventsInterop
import VestaStoreInterop

/// Writes: a group of them in one commit, then what listens hear of it, then the replies.
extension Room {
  /// What became of a write in the transaction.
  private enum Outcome: Sendable {
    case reply(DatabaseReply)
    case written([DatabasePathValue])
  }

  func commit(_ writes: inout [Write]) async {
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

  private func fail(_ write: Write, _ error: any Error) {
    let reply = DatabaseReply(.unavailable, message: "The write was not stored: \(error)")
    write.connection.post([.reply(write.id, reply)])
  }

  private func run(_ group: [Write]) async throws {
    let (context, access, now) = (context, access, now)
    let numbers = group.map { write in
      (0..<write.request.endOperationCount).map { _ in write.connection.nextOperation() }
    }
    let commit = try await openStore().write { transaction -> [Outcome] in
      var outcomes: [Outcome] = []
      for (write, numbers) in zip(group, numbers) {
        let call = WriteCall(
          connection: write.connection, context: context, access: access, now: now, numbers: numbers)
        outcomes.append(try await call.run(write.request, in: transaction))
      }
      let written = outcomes.compactMap { if case .written(let values) = $0 { values } else { nil } }
      try await CommitLog.append(written, in: transaction, context)
      return outcomes
    }
    let written = commit.value.compactMap { if case .written(let values) = $0 { values } else { nil } }
    if !written.isEmpty { await publish(written, commit.version) }
    for (write, outcome) in zip(group, commit.value) {
      switch outcome {
      case .reply(let reply): write.connection.post([.reply(write.id, reply)])
      case .written: write.connection.post([.reply(write.id, .ok)])
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
      case .onDisconnectCancel(let path): return try await forget(path, in: transaction)
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
        let key = context.keys.operation(context.owner, connection.session, number)
        try await transaction.put(EndOperations.encode(place), for: key)
      }
      return .reply(.ok)
    }

    private func forget(_ path: DatabasePath, in transaction: any StoreTransaction) async throws -> Outcome {
      let range = KeyRange(prefix: context.keys.session(context.owner, connection.session))
      for row in try await transaction.entries(in: range) where path.contains(try EndOperations.decode(row.value).path)
      {
        try await transaction.delete(row.key)
      }
      return .reply(.ok)
    }
  }

  // MARK: What listens hear

  /// Tells the listens of a commit of this engine; in company, with those of the others before it.
  func publish(_ writes: [[DatabasePathValue]], _ version: StoreVersion) async {
    if let events = context.events, events.interest != nil { events.wake() }
    if context.isShared { await catchUp() } else { await tell(writes, version) }
  }

  /// Tells the listens of a commit.
  func tell(_ writes: [[DatabasePathValue]], _ version: StoreVersion) async {
    var queries: Set<Int> = []
    for values in writes {
      let published = hub.publish(values, version)
      for connection in published.connections { connection.deliver() }
      queries.formUnion(published.queries)
    }
    if !queries.isEmpty { await refresh(queries.sorted(), after: writes.flatMap { $0 }, version) }
  }

  /// Brings the results of queries up to date, and sends what has changed.
  ///
  /// - Parameters:
  ///   - values: What a commit has written; `nil` to read the results anew in any case.
  ///   - version: The version of the commit.
  func refresh(_ watches: [Int], after values: [DatabasePathValue]? = nil, _ version: StoreVersion = .zero) async {
    var reading = hub.reading(watches, after: values)
    do {
      let children = reading.children
      if !children.isEmpty {
        let (nodes, seen) = try await read(children)
        // Somebody has written since: what was read is not what this commit has left.
        if seen > version {
          reading.whole.formUnion(reading.touched.keys)
        } else {
          deliver(hub.update(reading, children: nodes, version), &reading)
        }
      } else {
        deliver(hub.update(reading, children: [:], version), &reading)
      }
      if !reading.whole.isEmpty {
        let (results, seen) = try await read(reading.queries.filter { reading.whole.contains($0.key) })
        for connection in hub.replace(results, seen) { connection.deliver() }
      }
    } catch {
      // A query that cannot be read leaves its listeners with old data: they are told, and can listen again.
      for connection in hub.revoke(watches) { connection.deliver() }
    }
  }

  private func deliver(_ published: ListenHub.Published, _ reading: inout ListenHub.Reading) {
    for connection in published.connections { connection.deliver() }
    reading.whole.formUnion(published.queries)
  }

  private func read(
    _ paths: Set<DatabasePath>
  ) async throws -> (nodes: [DatabasePath: DatabaseNode], version: StoreVersion) {
    let keys = context.keys
    return try await openStore().read { reader in
      let tree = TreeReader(reader: reader, keys: keys)
      var nodes: [DatabasePath: DatabaseNode] = [:]
      for path in paths { nodes[path] = try await tree.node(path) }
      return (nodes, reader.version)
    }
  }

  /// Reads the results of queries, each query once.
  private func read(
    _ queries: [Int: ListenHub.Query]
  ) async throws -> (results: [Int: DatabaseNode], version: StoreVersion) {
    let context = context
    return try await openStore().read { reader in
      let queryReader = try await QueryReader(reader, context)
      var windows: [ListenHub.Query: DatabaseNode] = [:]
      for query in Set(queries.values) { windows[query] = try await queryReader.window(query.path, query.spec).node }
      return (queries.compactMapValues { windows[$0] }, reader.version)
    }
  }
}

extension DatabaseRequest {
  /// How many operations for the end of the session it brings.
  fileprivate var endOperationCount: Int {
    switch self {
    case .onDisconnectPut: 1
    case .onDisconnectMerge(_, let values): values.count
    default: 0
    }
  }
}
