import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEngineInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// Writes: a group of them in one commit, then the listeners' messages, then the replies.
extension Room {
  /// The outcome of a write in the transaction.
  private enum Outcome: Sendable {
    case reply(DatabaseReply)
    case written([DatabasePathValue])
    /// Its hash is one of very many rows.
    case large
    /// It follows a write of its connection whose hash is still to be checked.
    case later
  }

  func commit(_ writes: inout [RequestedWrite]) async {
    guard !writes.isEmpty else { return }
    let group = writes
    writes = []
    do {
      try await commitTogether(group)
    } catch  where group.count > 1 && !(StoreError.Code.unknownOutcome ~= error) {
      // One of them may be what the store refuses: each has its own transaction then. Writes that may be stored
      // already are not repeated.
      for write in group where !write.connection.keep(write.job) {
        do {
          try await commitTogether([write])
        } catch {
          state.withLock { $0.checks.overtakeAll() }
          fail(write, error)
        }
      }
    } catch {
      state.withLock { $0.checks.overtakeAll() }
      for write in group { fail(write, error) }
    }
  }

  func fail(_ write: RequestedWrite, _ error: any Error) {
    let isUnknown = StoreError.Code.unknownOutcome ~= error
    let sentence = isUnknown ? "It is unknown whether the write was stored" : "The write was not stored"
    sendReply(to: write, DatabaseReply(.unavailable, message: "\(sentence): \(error)"), .zero)
  }

  func sendReply(to write: RequestedWrite, _ reply: DatabaseReply, _ version: StoreVersion) {
    write.connection.jobEnds()
    hub.reply(.reply(write.id, reply), to: write.connection, version)
    write.connection.deliver()
  }

  /// Commits a group of writes in one transaction, sends it to the listens, and answers each write.
  private func commitTogether(_ group: [RequestedWrite]) async throws {
    let (context, access, now, rows) = (context, access, now, options.tuning.hashCheckRows)
    let (concurrentChecks, gatekeeper) = (options.tuning.concurrentChecks, options.gatekeeper)
    // Ends of sessions that could not be carried out precede later requests.
    if state.withLock({ $0.sessions.hasUnfinishedEnds }) { try? await SessionEnds(self).finish() }
    let numbers = group.map { write in
      (0..<write.request.endOperationCount).map { _ in write.connection.nextOperation() }
    }
    let commit = try await change { transaction -> [Outcome] in
      // A removal puts only entries of indexes, and its row in the log.
      if group.allSatisfy(\.request.isRemoval) { transaction.freesRoom() }
      if context.isShared { try await group.fetch(in: transaction, context) }
      var outcomes: [Outcome] = []
      var waiting: Set<String> = []
      for (write, numbers) in zip(group, numbers) {
        if waiting.contains(write.connection.session) {
          outcomes.append(.later)
          continue
        }
        let call = RoomWrite(
          connection: write.connection, context: context, access: access, gatekeeper: gatekeeper, now: now,
          numbers: numbers,
          rows: write.checks < concurrentChecks ? rows : nil)
        let outcome = try await call.apply(write.request, in: transaction)
        if case .large = outcome { waiting.insert(write.connection.session) }
        outcomes.append(outcome)
      }
      let written = outcomes.compactMap { if case .written(let values) = $0 { values } else { nil } }
      try await CommitLog.append(written, in: transaction, context)
      return outcomes
    }
    let written = commit.value.compactMap { if case .written(let values) = $0 { values } else { nil } }
    let isStale = commit.value.contains { if case .reply(let reply) = $0 { reply.status == .dataStale } else { false } }
    if !written.isEmpty {
      await publish(written, commit.version)
    } else if isStale, context.isShared {
      // Another engine's writes are sent before the reply that contains them.
      await catchUp()
    }
    for (write, outcome) in zip(group, commit.value) {
      switch outcome {
      case .reply(let reply): sendReply(to: write, reply, commit.version)
      case .written(let values): sendReply(to: write, write.writtenReply(write.request.place, values), commit.version)
      case .large: check(write)
      case .later: _ = write.connection.keep(write.job)
      }
    }
  }

  /// A write in a transaction of the store.
  private struct RoomWrite {
    let connection: EngineConnection
    let context: RoomContext
    let access: any DatabaseAccess
    let gatekeeper: (any DatabaseGuard)?
    let now: Int64
    let numbers: [Int]
    /// How many rows may be read for a hash.
    let rows: Int?

    func apply(_ request: DatabaseRequest, in transaction: any StoreTransaction) async throws -> Outcome {
      switch request {
      case .put(let path, let node, let hash):
        return try await write(WriteOperation(put: path, node, hash: hash), in: transaction)
      case .merge(let path, let values, let hash):
        return try await write(WriteOperation(merge: path, values, hash: hash), in: transaction)
      case .onDisconnectPut(let path, let node):
        return try await keep(WriteOperation(put: path, node), in: transaction)
      case .onDisconnectMerge(let path, let values):
        return try await keep(WriteOperation(merge: path, values), in: transaction)
      case .onDisconnectCancel(let path): return try await forget(path, in: transaction)
      default: return .reply(DatabaseReply(.invalid, message: "The request is not a write."))
      }
    }

    /// Why the write is refused; `nil` when it is not.
    private func refusal(_ operation: WriteOperation, _ user: String?) -> DatabaseReply? {
      if let problem = operation.problem { return problem }
      let isAllowed = operation.places.allSatisfy { access.mayWrite($0.path, $0.node, user: user) }
      return isAllowed ? nil : .denied
    }

    private func question(of caller: CallContext) -> WriteQuestion? {
      WriteQuestion(gatekeeper, caller, now: now, in: context.namespace)
    }

    private func write(_ operation: WriteOperation, in transaction: any StoreTransaction) async throws -> Outcome {
      let caller = connection.caller
      if let refusal = refusal(operation, caller.user?.uid) { return .reply(refusal) }
      var operation = operation
      operation.cause = EventCause(caller)
      let question = question(of: caller)
      switch try await operation.carryOut(in: transaction, context, now: now, rows: rows, for: question) {
      case .written(let values): return .written(values)
      case .stale:
        guard connection.wantsNodes else { return .reply(.stale) }
        let reader = TreeReader(reader: transaction, keys: context.keys)
        var reply = DatabaseReply.stale
        reply.node = try await reader.node(operation.path)
        return .reply(reply)
      case .large: return .large
      case .denied: return .reply(.denied)
      }
    }

    private func keep(_ operation: WriteOperation, in transaction: any StoreTransaction) async throws -> Outcome {
      let caller = connection.caller
      if let refusal = refusal(operation, caller.user?.uid) { return .reply(refusal) }
      if let question = question(of: caller) {
        let reader = TreeReader(reader: transaction, keys: context.keys)
        let values = try await operation.resolved(reader, now: now)
        guard try await question.mayWrite(values, reader) else { return .reply(.denied) }
      }
      for (place, number) in zip(operation.places, numbers) {
        let key = context.keys.operation(context.owner, connection.session, number)
        try await transaction.put(EndOperations.encode(place), for: key)
      }
      return .reply(.ok)
    }

    private func forget(_ path: DatabasePath, in transaction: any StoreTransaction) async throws -> Outcome {
      let range = KeyRange(prefix: context.keys.session(context.owner, connection.session))
      for row in try await transaction.entries(in: range) {
        // A damaged row says nothing of its path, and would be dropped at the end of the session.
        guard let operation = try? EndOperations.decode(row.value), path.contains(operation.path) else { continue }
        try await transaction.delete(row.key)
      }
      return .reply(.ok)
    }
  }

  // MARK: Messages to listeners

  /// Notifies the listens of a commit of this engine; on a shared store, after other engines' earlier commits.
  func publish(_ writes: [[DatabasePathValue]], _ version: StoreVersion) async {
    state.withLock { $0.checks.overtake(writes) }
    if let events = context.events, events.interest != nil { events.wake() }
    let isNext = state.withLock { state in
      context.sharing.lease.map { state.order.isNext(version, within: $0) } ?? true
    }
    guard isNext else { return await catchUp() }
    await sendToListens(writes, version)
    state.withLock { $0.order.publish(version) }
  }

  /// Sends the listens what a commit has written.
  func sendToListens(_ writes: [[DatabasePathValue]], _ version: StoreVersion) async {
    let published = hub.publish(writes, version)
    for connection in published.connections { connection.deliver() }
    if !published.places.isEmpty { await refresh(published.places, version) }
    for connection in hub.restore(Set(published.disturbed)) { connection.deliver() }
  }
}

extension DatabaseRequest {
  /// The paths whose own rows a write into the tree looks at: the named ones, and all above them; none for a
  /// write that breaks a rule of the tree.
  fileprivate var writtenPlaces: [DatabasePath] {
    let operation: WriteOperation
    switch self {
    case .put(let path, let node, _): operation = WriteOperation(put: path, node)
    case .merge(let path, let values, _): operation = WriteOperation(merge: path, values)
    default: return []
    }
    guard operation.problem == nil else { return [] }
    return operation.places.flatMap { place in
      sequence(first: place.path, next: \.parent).filter { $0.back?.isPriority != true }
    }
  }

  /// Whether a write into the tree only takes something away.
  fileprivate var isRemoval: Bool {
    switch self {
    case .put(_, let node, _): node.isEmpty
    case .merge(_, let values, _): values.allSatisfy(\.node.isEmpty)
    case .onDisconnectCancel: true
    default: false
    }
  }

  /// The path of a write into the tree.
  fileprivate var place: DatabasePath {
    switch self {
    case .put(let path, _, _), .merge(let path, _, _): path
    default: .root
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

extension [RequestedWrite] {
  /// Reads the rows that the writes look at, in one round trip: the transaction does not ask for them again.
  fileprivate func fetch(in transaction: any StoreTransaction, _ context: RoomContext) async throws {
    let places = Set(flatMap { $0.request.writtenPlaces })
    if !places.isEmpty { _ = try await transaction.get([context.keys.catalog()] + places.map(context.keys.data)) }
  }
}

extension RequestedWrite {
  /// The reply when the write has been carried out.
  ///
  /// - Parameters:
  ///   - path: The path of the write.
  ///   - values: The written values, by path.
  func writtenReply(_ path: DatabasePath, _ values: [DatabasePathValue]) -> DatabaseReply {
    guard connection.wantsNodes else { return .ok }
    let node = values.reduce(DatabaseNode.empty) { node, value in
      path.relative(value.path).map { node.setting($0, to: value.node) } ?? node
    }
    return DatabaseReply(.ok, node: node)
  }

  /// The reply when the hash of the write is not that of the data.
  func staleReply(_ node: DatabaseNode) -> DatabaseReply {
    var reply = DatabaseReply.stale
    if connection.wantsNodes { reply.node = node }
    return reply
  }
}

extension DatabaseReply {
  /// The policy or the guard does not allow it.
  static let denied = DatabaseReply(.permissionDenied, message: "Permission denied")

  /// The data does not have the hash of the write.
  static let stale = DatabaseReply(.dataStale, message: "The data has changed.")
}
