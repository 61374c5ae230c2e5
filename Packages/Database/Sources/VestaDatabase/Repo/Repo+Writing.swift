import VestaDatabaseBackend
import VestaDatabaseModel

extension Repo {
  /// Replaces a node, or several nodes below a path, all or none: observers see it at once, the service is asked, and
  /// on a refusal it is taken back.
  func write(_ path: DatabasePath, _ change: StoredWrite.Change, _ completion: @escaping WriteCompletion) {
    if case .merge(let values) = change, values.isEmpty { return complete { completion(nil) } }
    let write = StoredWrite(id: data.makeWriteID(), path: path, change: change)
    raise(data.show(write, serverTime: serverTime))
    calls.writes[write.id] = completion
    put(write.request, .write(write.id, at: path, isStored: persistence != nil), keeping: write)
    for place in write.places { perform(transactionMachine.overridden(at: place, .set)) }
    perform(transactionMachine.rerun(at: path))
  }

  /// Sends a write that was stored before the program ended.
  func replay(_ write: StoredWrite) {
    _ = data.show(write, serverTime: serverTime)
    put(write.request, .write(write.id, at: write.path, isStored: true))
  }

  /// Takes over the answer to a write.
  func acknowledge(_ writeID: Int, _ path: DatabasePath, _ reply: DatabaseReply) {
    let completion = calls.writes.removeValue(forKey: writeID) ?? { _ in }
    let isRefused = reply.status != .ok
    raiseAndRerun(data.tree.acknowledge(writeID: writeID, isRevert: isRefused), at: path)
    let error = isRefused ? DatabaseError(status: reply.status, message: reply.message) : nil
    guard let persistence else { return complete { completion(error) } }
    // First what the write has left, then the write is removed. After the answer no older write is
    // sent again after a crash: all of them were removed from the device.
    storeChanges()
    persistence.forget(writeID) { [events] closed in events.post([{ completion(error ?? closed) }]) }
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

  /// Asks the service to write when the connection ends.
  func onDisconnect(_ request: DatabaseRequest, _ completion: @escaping WriteCompletion) {
    if link.machine.isShutDown { return complete { completion(.appDeleted) } }
    let id = HandleSource.next()
    calls.disconnectOperations[id] = completion
    perform(requestBook.addDisconnectOperation(id, request))
    perform(link.machine.wanted())
  }
}
