import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop

/// The completions of the program's calls, by the numbers that the machines know.
struct PendingCalls: Sendable {
  var writes: [Int: WriteCompletion] = [:]
  var disconnectOperations: [Int: WriteCompletion] = [:]
  var reads: [Int: GetCompletion] = [:]
  /// The timers of reads that wait for a connection.
  var readTimers: [Int: ListenerRegistration] = [:]
  var transactions: [Int: TransactionCall] = [:]
}

/// The completion of a write.
typealias WriteCompletion = @Sendable (DatabaseError?) -> Void

/// The completion of a read.
typealias GetCompletion = @Sendable (Result<IndexedNode, any Error>) -> Void

/// Performs what ``RequestBook`` decides.
extension Repo {
  func perform(_ actions: [RequestBook.Action]) { for action in actions { perform(action) } }

  private func perform(_ action: RequestBook.Action) {
    switch action {
    case .send(let request, let purpose):
      // Listens that began before the write must reach the service before it too.
      if case .put = purpose { performListenActions() }
      send(request, for: purpose)
    case .limitRead(let id):
      calls.readTimers[id] = environment.clock.schedule(after: environment.readTime) { [weak self] in
        self?.enqueue { $0.perform($0.requestBook.readTimedOut(id, $0.link.machine.offlineReason)) }
      }
    case .unlimitRead(let id): calls.readTimers.removeValue(forKey: id)?.cancel()
    case .endRead(let read, let outcome): end(read, outcome)
    case .showListen(let query, let reply, let isCurrent):
      if isCurrent { listenReplied(query, reply) }
      perform(requestBook.shown())
    case .showAnswer(.write(let id, let path, _), let reply): acknowledge(id, path, reply)
    case .showAnswer(.transactions(let ids, let path), let reply):
      perform(transactionMachine.replied(ids, at: path, reply))
    case .forgetStored(let id, let isAccepted):
      // As with an answer that is shown: first what the write has left.
      if isAccepted { data.tree.keepAccepted(writeID: id) }
      storeChanges()
      persistence?.forget(id)
    case .endPut(.write(let id, _, _), let error):
      // Stored writes stay on the device, and are sent at the next start.
      if let completion = calls.writes.removeValue(forKey: id) { complete { completion(error) } }
    case .endPut(.transactions(let ids, _), let error): perform(transactionMachine.fail(error, of: ids))
    case .endDisconnectOperation(let id, let error):
      if let completion = calls.disconnectOperations.removeValue(forKey: id) { complete { completion(error) } }
    case .authenticated(let reply, let isFirst):
      perform(link.machine.authenticated(reply, isFirst: isFirst, at: now))
    case .showDisconnected(let writes): showDisconnected(writes)
    }
  }

  /// Sends a request; its reply is lost with the connection.
  func send(_ request: DatabaseRequest, for purpose: RequestBook.Purpose) {
    link.send(request, number: requestBook.number(of: purpose))
  }

  /// Sends a write as soon as there is a connection, and again after a connection that was lost.
  ///
  /// - Parameter stored: The write as the device has to keep it before it is sent; `nil` for one that is not kept.
  func put(_ request: DatabaseRequest, _ content: RequestBook.Content, keeping stored: StoredWrite? = nil) {
    if link.machine.isShutDown {
      if let stored { persistence?.save(stored) {} }
      return perform(.endPut(content, .appDeleted))
    }
    let id = requestBook.add(request, content, isKept: stored == nil || persistence == nil)
    perform(link.machine.wanted())
    if let stored {
      persistence?.save(stored) { [weak self] in
        self?.enqueue { repo in repo.perform(repo.requestBook.kept(id)) }
      }
    }
    perform(requestBook.sendWrites())
  }

  // MARK: Reading once

  /// Reads a query: from what is known, from the service, or from what the device keeps.
  ///
  /// - Parameter id: The number of the call, by which it can be given up.
  func get(_ id: Int, _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ completion: @escaping GetCompletion) {
    if let node = data.infoNode(at: path) {
      return complete { completion(.success(IndexedNode(node, index: spec.index))) }
    }
    if let known = data.tree.completeEventNode(path, spec) { return complete { completion(.success(known)) } }
    calls.reads[id] = completion
    perform(requestBook.read(id, path, spec))
    if link.machine.isShutDown { return perform(requestBook.endReads(DatabaseError.appDeleted.message)) }
    perform(link.machine.wanted())
  }

  /// Forgets a read whose caller has left.
  func giveUpGet(_ id: Int) {
    calls.reads[id] = nil
    perform(requestBook.giveUp(read: id))
  }

  private func end(_ read: RequestBook.Read, _ outcome: RequestBook.ReadOutcome) {
    guard let completion = calls.reads.removeValue(forKey: read.id) else { return }
    let result: Result<IndexedNode, any Error> =
      switch outcome {
      case .node(let node): .success(data.result(of: read, node))
      case .failure(let reason):
        data.keptResult(of: read).map { .success($0) }
          ?? .failure(UnknownValueError(path: read.path, reason: reason))
      }
    complete { completion(result) }
  }

  /// Shows the end of the connection, and what the service writes at it.
  private func showDisconnected(_ writes: [DatabasePathValue]) {
    raise(data.setConnected(false))
    for write in writes {
      let node = data.resolved(write.node, at: write.path, serverTime)
      raise(data.tree.serverOverwrite(write.path, node))
      perform(transactionMachine.overridden(at: write.path, .set))
    }
  }
}
