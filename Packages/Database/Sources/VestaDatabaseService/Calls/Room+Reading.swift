import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Reads and listens, which run concurrently with the groups of writes.
extension Room {
  /// Answers a request that is not a write; reads and listens are answered by tasks.
  func answer(_ connection: EngineConnection, _ request: DatabaseRequest, _ id: Int) {
    switch request {
    case .listen(let listen): startListen(listen, connection, id)
    case .unlisten(let path, let spec, let tag):
      hub.remove(connection, path, spec, tag)
      connection.post([.reply(id, .ok)])
    case .get(let path, let spec): get(path, spec, connection, id)
    default: connection.post([.reply(id, .ok)])
    }
  }

  /// Refuses a read, and not on the stack of the one who asks.
  private func refuse(_ connection: EngineConnection, _ id: Int, _ refusal: DatabaseReply) {
    submit(.perform { connection.post([.reply(id, refusal)]) })
  }

  /// Reads a query.
  ///
  /// - Parameter listen: The listen whose first data is wanted, too.
  private func window(
    _ path: DatabasePath, _ spec: DatabaseQuerySpec, of connection: EngineConnection, for listen: DatabaseListen? = nil
  ) async throws -> Found? {
    let context = context, first = QueryReader.first(path, spec, context)
    let caller = connection.caller
    return try await LargeReads.read(try await openStore(), rows: options.tuning.rowsInPlace, expecting: first) {
      reader in
      guard try await options.guardAllows(caller, path, spec, reader, context) else { return nil }
      let (node, lacksIndex) = try await QueryReader(reader, context, for: [spec]).window(path, spec)
      let data = listen?.firstData(of: node) ?? []
      return Found(node: node, lacksIndex: lacksIndex, version: reader.version, data: data)
    }
  }

  private struct Found: Sendable {
    let node: DatabaseNode
    let lacksIndex: Bool
    let version: StoreVersion
    /// The first messages of a listen.
    let data: [DatabaseServerMessage]
  }

  private func startListen(_ listen: DatabaseListen, _ connection: EngineConnection, _ id: Int) {
    if let refusal = access.refusal(connection.user, listen.path, listen.spec, ofListen: true) {
      return refuse(connection, id, refusal)
    }
    let watch = hub.add(connection, listen)
    reads.begin()
    Task {
      do {
        guard let found = try await window(listen.path, listen.spec, of: connection, for: listen) else {
          throw ReadDenied()
        }
        let reply = DatabaseServerMessage.reply(
          id, DatabaseReply(.ok, warnings: found.lacksIndex ? ["no_index"] : []))
        if hub.activate(watch, of: connection, found.node, found.version, data: found.data, reply: reply) {
          readAnew([watch])
        }
      } catch {
        hub.discard(watch)
        connection.enqueue([.reply(id, DatabaseReply(readFailed: error))])
      }
      connection.deliver()
      submit(
        .perform { [hub] in
          hub.removeEnding(of: connection)
          connection.deliver()
        })
      reads.end()
    }
  }

  private func get(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ connection: EngineConnection, _ id: Int) {
    if let refusal = access.refusal(connection.user, path, spec) { return refuse(connection, id, refusal) }
    reads.begin()
    Task {
      do {
        guard let found = try await window(path, spec, of: connection) else { throw ReadDenied() }
        let warnings = found.lacksIndex ? ["no_index"] : []
        connection.post([.reply(id, DatabaseReply(.ok, node: found.node, warnings: warnings))])
      } catch {
        connection.post([.reply(id, DatabaseReply(readFailed: error))])
      }
      reads.end()
    }
  }
}

/// The guard denies a read.
private struct ReadDenied: Error {}

extension DatabaseReply {
  /// The reply to a read that has failed.
  fileprivate init(readFailed error: any Error) {
    self =
      error is ReadDenied
      ? DatabaseReply(.permissionDenied, message: "Permission denied")
      : DatabaseReply(.unavailable, message: "The data cannot be read: \(error)")
  }
}

extension DatabaseAccess {
  /// Why a read is refused; `nil` when it is not.
  ///
  /// A priority is read once and as a whole: listeners get it with its node and not alone.
  func refusal(
    _ user: String?, _ path: DatabasePath, _ spec: DatabaseQuerySpec, ofListen isListen: Bool = false
  ) -> DatabaseReply? {
    let path = isListen || !spec.isDefault ? path : path.withoutPriority
    guard mayRead(path, spec, user: user) else {
      return DatabaseReply(.permissionDenied, message: "Permission denied")
    }
    guard path.keys.allSatisfy({ KeyRules.isValidKey($0.text) }), (spec.limit?.count ?? 1) > 0 else {
      return DatabaseReply(.invalid, message: "The path or the limit of the query is not valid.")
    }
    return nil
  }
}

extension DatabaseListen {
  /// The first messages of the listen: none when its hash is right, the ranges that differ when it has several hashes,
  /// or all of the data.
  func firstData(of node: DatabaseNode) -> [DatabaseServerMessage] {
    if !hash.isEmpty, NodeHash.matches(hash, node) { return [] }
    if let compound, !hash.isEmpty {
      let merges = CompoundHash.differences(of: node, from: compound)
      return merges.isEmpty ? [] : [.rangeMerge(path, merges, tag: tag)]
    }
    return [.data(path, node, tag: tag)]
  }
}
