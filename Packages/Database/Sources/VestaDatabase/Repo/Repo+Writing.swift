import VestaDatabaseBackend
import VestaDatabaseModel

extension Repo {
  /// Replaces a node: observers see it at once, the service is asked, and on a refusal it is taken back.
  func set(_ path: DatabasePath, _ node: DatabaseNode, _ completion: @escaping WriteCompletion) {
    let id = makeWriteID()
    raise(tree.userOverwrite(path, resolved(node, at: path), writeID: id))
    let write = StoredWrite(id: id, path: path, change: .overwrite(node))
    calls.writes[id] = completion
    put(.put(path, node, hash: nil), .write(id, at: path, isStored: persistence != nil), keeping: write)
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
    calls.writes[id] = completion
    put(.merge(path, values), .write(id, at: path, isStored: persistence != nil), keeping: write)
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

  /// Takes over the answer to a write.
  func acknowledge(_ writeID: Int, _ path: DatabasePath, _ reply: DatabaseReply) {
    let completion = calls.writes.removeValue(forKey: writeID) ?? { _ in }
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
      put(.put(write.path, node, hash: nil), .write(write.id, at: write.path, isStored: true))
    case .merge(let values):
      var trie = WriteTrie.empty
      for value in values {
        trie.add(resolved(value.node, at: write.path.appending(value.path)), at: value.path)
      }
      _ = tree.userMerge(write.path, trie, writeID: write.id)
      put(.merge(write.path, values), .write(write.id, at: write.path, isStored: true))
    }
  }

  /// Takes back all writes that are not acknowledged yet.
  func purgeOutstandingWrites() {
    let answers = requestBook.takeBackWrites(DatabaseReply(.writeCanceled, message: "Write cancelled by user"))
    perform(transactionMachine.overridden(at: .root, .writeCanceled))
    perform(answers)
    let error = DatabaseError(status: .writeCanceled)
    perform(transactionMachine.fail(error))
    perform(requestBook.endOperations(error))
  }
}
