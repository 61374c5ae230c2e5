import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

/// What a guard is asked about the write of a connection.
struct WriteQuestion: Sendable {
  let gatekeeper: any DatabaseGuard
  let caller: CallContext
  let now: Int64
  let namespace: String

  /// The question; `nil` where nobody is to be asked.
  init?(_ gatekeeper: (any DatabaseGuard)?, _ caller: CallContext, now: Int64, in namespace: String) {
    guard let gatekeeper, !caller.isOwner else { return nil }
    (self.gatekeeper, self.caller, self.now, self.namespace) = (gatekeeper, caller, now, namespace)
  }

  /// Whether the guard lets values be written.
  func mayWrite(_ values: [DatabasePathValue], _ reader: TreeReader) async throws -> Bool {
    let before = StoredState(reader: reader)
    return try await gatekeeper.mayWrite(
      DatabaseGuardedWrite(values, at: now, in: namespace), before: before,
      after: DatabaseStateAfter(before, values), context: caller)
  }
}

/// The tree in the store, as a guard looks at it: a few rows for each glance.
struct StoredState: DatabaseGuardState {
  let reader: TreeReader

  nonisolated(nonsending) func glance(at path: DatabasePath) async throws -> DatabaseGlance {
    if path.back?.isPriority == true, let parent = path.parent {
      return try await reader.row(parent)?.priority.map { .leaf($0, priority: nil) } ?? .empty
    }
    let row = try await reader.row(path)
    if let leaf = row?.leaf { return .leaf(leaf, priority: row?.priority) }
    return try await reader.exists(path) ? .parent(priority: row?.priority) : .empty
  }

  nonisolated(nonsending) func childKeys(
    of path: DatabasePath, after key: DatabaseKey?, limit: Int
  ) async throws -> [DatabaseKey] {
    try await reader.childKeys(of: path, after: key, limit: limit)
  }
}

extension DatabaseServiceOptions {
  /// Whether the guard lets a caller read a query, by the data that is there now.
  func guardAllows(
    _ caller: CallContext, _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ reader: any StoreReader,
    _ context: RoomContext
  ) async throws -> Bool {
    guard let gatekeeper, !caller.isOwner else { return true }
    return try await gatekeeper.mayRead(
      DatabaseGuardedRead(path, spec, at: clock.milliseconds(), in: context.namespace),
      state: StoredState(reader: TreeReader(reader: reader, keys: context.keys)), context: caller)
  }
}

extension Room {
  /// Asks again about the listens of a connection, and ends those that are denied; without an answer they end, too.
  func askAgain(_ connection: EngineConnection) async {
    guard options.gatekeeper != nil else { return }
    let queries = hub.queries(of: connection)
    guard !queries.isEmpty else { return }
    var denied: [Int] = []
    do {
      denied = try await openStore().read { reader in
        var denied: [Int] = []
        for (id, query) in queries {
          let isAllowed = try await options.guardAllows(
            connection.caller, query.path, query.spec, reader, context)
          if !isAllowed { denied.append(id) }
        }
        return denied
      }
    } catch {
      denied = queries.map { $0.id }
    }
    hub.revoke(denied)
    connection.deliver()
  }

  /// Asks again about all listens, between two groups of writes, whenever the rules change.
  func observeRules() {
    guard let gatekeeper = options.gatekeeper else { return }
    let observation = gatekeeper.observe { [weak self] in
      self?.submit(
        .perform { [weak self] in
          guard let self else { return }
          await redeclareIndexes()
          for connection in state.withLock({ Array($0.connections.values) }) { await askAgain(connection) }
        })
    }
    state.withLock { $0.rules = observation }
  }
}
