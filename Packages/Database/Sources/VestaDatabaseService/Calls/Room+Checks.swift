import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEngineInterop
import VestaServiceInterop
import VestaStoreInterop

/// Writes with a hash at paths of very many rows.
///
/// Example: a transaction at `/scores`, which has a million children. Reading and hashing them takes seconds,
/// in which no other client's write would get its turn. So they are read from one snapshot, concurrently with other
/// writes. If the hash is equal and no commit has touched `/scores` since, the write has its turn, and writes
/// the rows in which the new value differs from that snapshot. If a commit has happened in between, all of this is done
/// again; at the third time it is done in the turn itself, so that a busy path does not keep a client waiting for
/// ever. Requests of the same client in the meantime wait.
extension Room {
  /// Begins to check the hash of a write; its connection waits.
  func check(_ write: RequestedWrite) {
    guard let operation = write.hashed, let hash = operation.hash else { return }
    write.connection.suspend()
    let number = state.withLock { $0.checks.begin(at: operation.path) }
    reads.begin()
    Task {
      let check = HashCheck(room: self, write: write, operation: operation, number: number)
      let found: Result<HashCheck.Found, any Error>
      do { found = .success(try await check.find(hash)) } catch { found = .failure(error) }
      submit(.perform { await check.finish(found) })
      reads.end()
    }
  }
}

/// One check of the hash of a write, concurrently with other clients' writes.
struct HashCheck: Sendable {
  /// The data of one snapshot.
  fileprivate struct Found: Sendable {
    let node: DatabaseNode
    let isCurrent: Bool
    let version: StoreVersion
  }

  fileprivate let room: Room
  fileprivate let write: RequestedWrite
  fileprivate let operation: WriteOperation
  fileprivate let number: Int

  fileprivate func find(_ hash: String) async throws -> Found {
    let (keys, path) = (room.context.keys, operation.path)
    let first = StoreFirstRead.scan(KeyRange(prefix: keys.data(path)), order: .ascending, limit: nil)
    let rows = room.options.tuning.rowsInPlace
    return try await LargeReads.read(try await room.openStore(), rows: rows, expecting: first) { reader in
      let node = try await TreeReader(reader: reader, keys: keys).node(path)
      return Found(node: node, isCurrent: NodeHash.matches(hash, node), version: reader.version)
    }
  }

  fileprivate func finish(_ found: Result<Found, any Error>) async {
    let isOvertaken = room.state.withLock { $0.checks.end(number) }
    let connection = write.connection
    guard room.isOpen(connection) else { return _ = connection.resume() }
    do {
      let found = try found.get()
      if found.isCurrent {
        let isDone = isOvertaken ? false : try await replace(found)
        if !isDone { return await repeated() }
      } else {
        if room.context.isShared { await room.catchUp() }
        room.sendReply(to: write, write.staleReply(found.node), found.version)
      }
    } catch {
      room.state.withLock { $0.checks.overtakeAll() }
      room.fail(write, error)
    }
    await room.processGroup(connection.resume())
  }

  /// Checks the hash of the write once more.
  private func repeated() async {
    let next = RequestedWrite(
      connection: write.connection, request: write.request, id: write.id, checks: write.checks + 1)
    if next.checks < room.options.tuning.concurrentChecks { return room.check(next) }
    let waiting = write.connection.resume()
    var writes = [next]
    await room.commit(&writes)
    await room.processGroup(waiting)
  }

  /// Carries out the write, whose hash has been checked.
  ///
  /// - Returns: Whether no other engine has changed the path since.
  private func replace(_ found: Found) async throws -> Bool {
    let (context, now, operation, tuning) = (room.context, room.now, operation, room.options.tuning)
    // For so long the rows of the log are there, with a good margin.
    let sure = tuning.logTime.microseconds / 2
    let question = WriteQuestion(room.options.gatekeeper, write.connection.caller, now: now, in: context.namespace)
    let commit = try await room.change { transaction -> Replaced in
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
          !commits.contains(where: { operation.path.meets($0.writes) })
        else { return .overtaken }
      }
      let written = try await operation.replace(
        found.node, in: transaction, context, now: now, limit: tuning.replacementPaths)
      try await CommitLog.append([written], in: transaction, context)
      return .written(written)
    }
    switch commit.value {
    case .overtaken: return false
    case .denied: room.sendReply(to: write, .denied, commit.version)
    case .written(let written):
      await room.publish([written], commit.version)
      room.sendReply(to: write, write.writtenReply(operation.path, written), commit.version)
    }
    return true
  }

  /// The outcome of a write whose hash has been checked.
  private enum Replaced: Sendable {
    case written([DatabasePathValue])
    case overtaken
    case denied
  }
}

extension RequestedWrite {
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
