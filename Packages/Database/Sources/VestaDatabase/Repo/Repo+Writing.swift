import VestaDatabaseBackend
import VestaDatabaseModel

extension Repo {
  /// Replaces a node: observers see it at once, the service is asked, and on a refusal it is taken back.
  func set(_ path: DatabasePath, _ node: DatabaseNode, _ completion: @escaping WriteCompletion) {
    let id = makeWriteID()
    raise(tree.userOverwrite(path, resolved(node, at: path), writeID: id))
    let write = StoredWrite(id: id, path: path, change: .overwrite(node))
    send(.put(path, node, hash: nil), writeID: id, path, keeping: write, completion)
    perform(transactionMachine.overridden(at: path, .set))
    perform(transactionMachine.rerun(at: path))
  }

  /// Replaces several nodes below a path, all or none.
  func update(_ path: DatabasePath, _ values: [DatabasePathValue], _ completion: @escaping WriteCompletion) {
    guard !values.isEmpty else { return complete { completion(nil) } }
    let id = makeWriteID()
    var trie = WriteTrie.empty
    for value in values {
      trie.add(resolved(value.node, at: path.appending(value.path)), at: value.path)
    }
    raise(tree.userMerge(path, trie, writeID: id))
    let write = StoredWrite(id: id, path: path, change: .merge(values))
    send(.merge(path, values), writeID: id, path, keeping: write, completion)
    for value in values { perform(transactionMachine.overridden(at: path.appending(value.path), .set)) }
    perform(transactionMachine.rerun(at: path))
  }

  func makeWriteID() -> Int {
    defer { nextWriteID += 1 }
    return nextWriteID
  }

  /// A node with server values as this client expects them.
  func resolved(_ node: DatabaseNode, at path: DatabasePath) -> DatabaseNode {
    ServerValues.resolve(node, now: serverTime) { tree.node(at: path.appending($0)) ?? .empty }
  }

  private func send(
    _ request: DatabaseRequest, writeID: Int, _ path: DatabasePath, keeping stored: StoredWrite? = nil,
    isStored: Bool = false, _ completion: @escaping WriteCompletion
  ) {
    let write = OutstandingPut(request: request, isTransaction: false, isStored: isStored) { repo, reply in
      repo.acknowledge(writeID, path, reply, completion)
    } onEnd: { repo, error in
      // Stored writes stay on the device, and are sent at the next start.
      repo.complete { completion(error) }
    }
    put(write, keeping: stored)
  }

  private func acknowledge(
    _ writeID: Int, _ path: DatabasePath, _ reply: DatabaseReply, _ completion: @escaping WriteCompletion
  ) {
    let isRefused = reply.status != .ok
    raiseAndRerun(tree.acknowledge(writeID: writeID, isRevert: isRefused), at: path)
    let error = isRefused ? DatabaseError(status: reply.status, message: reply.message) : nil
    guard let persistence else { return complete { completion(error) } }
    // First what the write has left, then the write is removed. After the answer no older write is
    // sent again after a crash: all of them were removed from the device.
    storeChanges()
    persistence.forget(writeID) { [events] closed in events.post([{ completion(error ?? closed) }]) }
  }

  /// Sends a write that was stored before the program ended.
  func replay(_ write: StoredWrite) {
    nextWriteID = max(nextWriteID, write.id + 1)
    switch write.change {
    case .overwrite(let node):
      _ = tree.userOverwrite(write.path, resolved(node, at: write.path), writeID: write.id)
      send(.put(write.path, node, hash: nil), writeID: write.id, write.path, isStored: true) { _ in }
    case .merge(let values):
      var trie = WriteTrie.empty
      for value in values {
        trie.add(resolved(value.node, at: write.path.appending(value.path)), at: value.path)
      }
      _ = tree.userMerge(write.path, trie, writeID: write.id)
      send(.merge(write.path, values), writeID: write.id, write.path, isStored: true) { _ in }
    }
  }

  /// Takes back all writes that are not acknowledged yet.
  func purgeOutstandingWrites() {
    let purged = puts.sorted { $0.key < $1.key }.map(\.value)
    puts = [:]
    perform(transactionMachine.overridden(at: .root, .writeCanceled))
    for put in purged where !put.isTransaction {
      put.onReply(self, DatabaseReply(.writeCanceled, message: "Write cancelled by user"))
    }
    let error = DatabaseError(status: .writeCanceled)
    perform(transactionMachine.fail(error))
    for operation in onDisconnectQueue { complete { operation.completion(error) } }
    onDisconnectQueue = []
  }

  // MARK: At the end of the connection

  /// Asks the service to write when the connection ends.
  func onDisconnect(_ request: DatabaseRequest, _ completion: @escaping WriteCompletion) {
    if isShutDown {
      complete { completion(Self.deleted) }
    } else if phase == .connected {
      sendOnDisconnect(request, completion)
    } else {
      onDisconnectQueue.append((request, completion))
      retrySoon()
    }
  }

  func sendOnDisconnect(_ request: DatabaseRequest, _ completion: @escaping WriteCompletion) {
    let id = nextRequestID
    onDisconnectsInFlight[id] = completion
    self.request(request) { repo, reply in
      repo.onDisconnectsInFlight[id] = nil
      guard reply.status == .ok else {
        let error = DatabaseError(status: reply.status, message: reply.message)
        return repo.complete { completion(error) }
      }
      switch request {
      case .onDisconnectPut(let path, let node): repo.onDisconnect.add(node, at: path)
      case .onDisconnectMerge(let path, let values):
        for value in values { repo.onDisconnect.add(value.node, at: path.appending(value.path)) }
      case .onDisconnectCancel(let path): repo.onDisconnect.remove(path)
      default: break
      }
      repo.complete { completion(nil) }
    }
  }

  /// Nobody knows whether the service has got what it was asked for the end of a connection that has ended.
  func failOnDisconnectsInFlight() {
    let error = DatabaseError(
      status: .disconnect, message: "Client was disconnected while an operation for the disconnect was being queued")
    for (_, completion) in onDisconnectsInFlight.sorted(by: { $0.key < $1.key }) { complete { completion(error) } }
    onDisconnectsInFlight = [:]
  }

  /// Shows what the service writes now that the connection has ended.
  func applyOnDisconnect() {
    let values = onDisconnect.values
    onDisconnect = .empty
    for (path, node) in values {
      raise(tree.serverOverwrite(path, resolved(node, at: path)))
      perform(transactionMachine.overridden(at: path, .set))
    }
  }
}
