import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEventsInterop
import VestaStoreInterop

/// Writes: a group of them in one commit, then what listens hear of it, then the replies.
extension Room {
  /// The outcome of a write in the transaction.
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
    } catch  where group.count > 1 && !(StoreError.Code.unknownOutcome ~= error) {
      // One of them may be what the store refuses: each has its own transaction then. Writes that may be stored
      // already are not repeated.
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
    let isUnknown = StoreError.Code.unknownOutcome ~= error
    let sentence = isUnknown ? "It is unknown whether the write was stored" : "The write was not stored"
    answer(write, DatabaseReply(.unavailable, message: "\(sentence): \(error)"), .zero)
  }

  private func answer(_ write: Write, _ reply: DatabaseReply, _ version: StoreVersion) {
    write.connection.jobEnds()
    hub.reply(.reply(write.id, reply), to: write.connection, version)
    write.connection.deliver()
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
      case .reply(let reply): answer(write, reply, commit.version)
      case .written: answer(write, .ok, commit.version)
      }
    }
  }

  /// A write in a transaction of the store.
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
    var queries: [Int: [DatabasePathValue]] = [:], disturbed: Set<Int> = []
    for values in writes {
      let published = hub.publish(values, version)
      for connection in published.connections { connection.deliver() }
      queries.merge(published.queries) { $0 + $1 }
      disturbed.formUnion(published.disturbed)
    }
    if !queries.isEmpty { await refresh(queries, version) }
    for connection in hub.restoreWindows(disturbed) { connection.deliver() }
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
