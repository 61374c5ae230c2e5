import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEngineInterop
import VestaServiceInterop
import VestaStoreInterop

/// A write whose hash is being checked concurrently with other clients' writes.
struct HashCheck: Sendable {
  let write: Write
  let operation: WriteOperation
  /// Whether another write may have changed the place since.
  var isOvertaken = false
}

/// Writes with a hash at places of very many rows.
///
/// By the example of a transaction at `/scores`, which has a million children: reading and hashing them takes seconds,
/// in which no other client's write would get its turn. So they are read concurrently with the others, as they are in
/// one snapshot. If the hash is theirs and no commit has touched `/scores` since, the write has its turn, and writes
/// the rows in which the new value differs from that snapshot. If a commit has happened in between, all of this is done
/// again; at the third time it is done in the turn itself, so that a busy place does not keep a client waiting for
/// ever. What the same client requests in the meantime waits.
extension Room {
  private struct Found: Sendable {
    let node: DatabaseNode
    let isCurrent: Bool
    let version: StoreVersion
  }

  /// Begins to check the hash of a write; its connection waits.
  func check(_ write: Write) {
    guard let operation = write.hashed, let hash = operation.hash else { return }
    write.connection.suspend()
    let id = state.withLock { state in
      state.lastCheck += 1
      state.checks[state.lastCheck] = HashCheck(write: write, operation: operation)
      return state.lastCheck
    }
    reads.begin()
    Task {
      let found: Result<Found, any Error>
      do { found = .success(try await find(operation.path, hash)) } catch { found = .failure(error) }
      submit(.perform { [self] in await finish(id, found) })
      reads.end()
    }
  }

  private func find(_ path: DatabasePath, _ hash: String) async throws -> Found {
    let keys = context.keys
    let first = StoreFirstRead.scan(KeyRange(prefix: keys.data(path)), order: .ascending, limit: nil)
    return try await LargeReads.read(try await openStore(), rows: options.tuning.rowsInPlace, expecting: first) {
      reader in
      let node = try await TreeReader(reader: reader, keys: keys).node(path)
      return Found(node: node, isCurrent: NodeHash.matches(hash, node), version: reader.version)
    }
  }

  private func finish(_ id: Int, _ found: Result<Found, any Error>) async {
    guard let check = state.withLock({ $0.checks.removeValue(forKey: id) }) else { return }
    let connection = check.write.connection
    guard isOpen(connection) else { return _ = connection.resume() }
    do {
      let found = try found.get()
      if found.isCurrent {
        let isDone = check.isOvertaken ? false : try await replace(check, found)
        if !isDone { return await repeated(check.write) }
      } else {
        if context.isShared { await catchUp() }
        answer(check.write, check.write.stale(found.node), found.version)
      }
    } catch {
      overtakeChecks()
      fail(check.write, error)
    }
    await process(connection.resume())
  }

  /// Checks the hash of a write once more.
  private func repeated(_ write: Write) async {
    let next = Write(connection: write.connection, request: write.request, id: write.id, checks: write.checks + 1)
    if next.checks < options.tuning.checksBeside { return check(next) }
    let waiting = write.connection.resume()
    var writes = [next]
    await commit(&writes)
    await process(waiting)
  }

  /// Carries out a write whose hash has been checked.
  ///
  /// - Returns: Whether no other engine has changed the place since.
  private func replace(_ check: HashCheck, _ found: Found) async throws -> Bool {
    let (context, now, operation, tuning) = (context, now, check.operation, options.tuning)
    // For so long the rows of the log are there, with a good margin.
    let sure = tuning.logTime.microseconds / 2
    let question = WriteQuestion(options.gatekeeper, check.write.connection.caller, now: now, in: context.namespace)
    let commit = try await change { transaction -> Replaced in
      if let question {
        let reader = TreeReader(reader: transaction, keys: context.keys)
        let values = try await operation.resolved(reader, now: now)
        guard try await question.mayWrite(values, reader) else { return .denied }
      }
      if context.isShared {
        let version = try await transaction.commitVersion()
        guard version.microseconds - found.version.microseconds < sure else { return .overtaken }
        // A damaged log says nothing of what others have written: the hash is checked in the turn then.
        guard let commits = try await CommitLog.readable(after: found.version, transaction, context.keys),
          !commits.contains(where: { operation.meets($0.writes) })
        else { return .overtaken }
      }
      let written = try await operation.replace(
        found.node, in: transaction, context, now: now, limit: tuning.placesOfAReplacement)
      try await CommitLog.append([written], in: transaction, context)
      return .written(written)
    }
    switch commit.value {
    case .overtaken: return false
    case .denied: answer(check.write, .denied, commit.version)
    case .written(let written):
      await publish([written], commit.version)
      answer(check.write, check.write.done(check.operation.path, written), commit.version)
    }
    return true
  }

  /// The outcome of a write whose hash has been checked.
  private enum Replaced: Sendable {
    case written([DatabasePathValue])
    case overtaken
    case denied
  }

  /// Notes for the checks that run what a commit has written.
  func overtakeChecks(_ writes: [[DatabasePathValue]]) {
    state.withLock { state in
      for id in Array(state.checks.keys) where state.checks[id]?.operation.meets(writes) == true {
        state.checks[id]?.isOvertaken = true
      }
    }
  }

  /// Notes for all checks that something may have been written.
  func overtakeChecks() {
    state.withLock { state in for id in Array(state.checks.keys) { state.checks[id]?.isOvertaken = true } }
  }
}

extension WriteOperation {
  /// Whether writes have changed something at, above or below the place.
  fileprivate func meets(_ writes: [[DatabasePathValue]]) -> Bool {
    writes.contains { $0.contains { path.contains($0.path) || $0.path.contains(path) } }
  }
}

extension Write {
  /// The write, if it is one with a hash.
  fileprivate var hashed: WriteOperation? {
    var operation: WriteOperation
    switch request {
    case .put(let path, let node, let hash?): operation = WriteOperation(put: path, node, hash: hash)
    case .merge(let path, let values, let hash?): operation = WriteOperation(merge: path, values, hash: hash)
    default: return nil
    }
    operation.cause = EventCause(connection.caller)
    return operation
  }
}
