import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop

extension DatabaseServiceOptions {
  /// Whether the guard lets a caller read a query, by the data that is there now.
  func guardAllows(
    _ caller: CallContext, _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ reader: any StoreReader,
    _ context: RoomContext
  ) async throws -> Bool {
    guard let gatekeeper, !caller.isOwner else { return true }
    return try await gatekeeper.mayRead(
      DatabaseGuardedRead(path.withoutPriority, spec, at: clock.milliseconds(), in: context.namespace),
      state: StoredState(reader: TreeReader(reader: reader, keys: context.keys)), context: caller)
  }
}

extension DatabasePath {
  /// The path of a node where the path is that of its priority, which is read and written as the node is.
  var withoutPriority: DatabasePath { back?.isPriority == true ? parent ?? .root : self }
}

extension Room {
  /// Asks again about the listens of a connection, and ends the denied ones; without an answer they end, too.
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
