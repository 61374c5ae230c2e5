import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel

/// Performs what ``ConnectionMachine`` decides about the requests and the data.
extension Repo {
  /// Takes a reason away for not connecting.
  func resume(_ reason: ConnectionMachine.Interruption) { perform(link.machine.resumed(reason, at: now)) }

  /// Adds a reason for not connecting, and disconnects.
  func interrupt(_ reason: ConnectionMachine.Interruption) { perform(link.machine.interrupted(reason, at: now)) }

  func perform(_ actions: [ConnectionMachine.Action]) {
    for action in actions where !link.perform(action, for: self) {
      switch action {
      case .cleanUp:
        perform(requestBook.disconnected())
        perform(link.cleanedUp(at: now))
      case .authenticate(let token?, let isFirst):
        send(.authenticate(token: token), for: .authentication(isFirst: isFirst))
      case .authenticate(nil, _): send(.unauthenticate, for: .notice)
      case .sendAppCheck(let token): send(.appCheck(token: token), for: .notice)
      case .showTimeOffset(let offset):
        knownOffset.withLock { $0 = offset }
        raise(data.setInfo("serverTimeOffset", DatabaseNode(.int(offset))))
      case .restore: restore()
      case .refuse(let reason): refuse(reason)
      case .wait, .cancelTimer, .fetchTokens, .open, .close, .note: break
      }
    }
  }

  func receive(_ message: DatabaseServerMessage) {
    switch message {
    case .hello(let hello): perform(link.machine.opened(hello, at: now))
    case .reply(let number, let reply): perform(requestBook.replied(number, reply))
    case .data(let path, let node, let tag): raiseAndRerun(data.tree.receivedOverwrite(path, node, tag: tag), at: path)
    case .merge(let path, let values, let tag):
      var trie = WriteTrie.empty
      for value in values { trie.add(value.node, at: value.path) }
      raiseAndRerun(data.tree.receivedMerge(path, trie, tag: tag), at: path)
    case .rangeMerge(let path, let merges, let tag):
      raiseAndRerun(data.tree.serverRangeMerge(path, merges, tag: tag), at: path)
    case .listenRevoked(let path, let spec):
      cancelListen(SyncQuery(path: path, spec: spec), .permissionDenied, "Permission Denied")
    case .authRevoked(let status, let reason): perform(link.machine.tokenRefused(status, reason, at: now))
    case .appCheckRevoked: link.machine.appCheckRefused()
    case .debug(let text): log.debug("I-RDB000002", text)
    case .shutdown(let reason):
      log.error("I-RDB000003", "The service does not want this client to come back: \(reason)")
      interrupt(.killed)
    case .failed(let reason): perform(link.machine.refused(reason))
    case .closed(let reason): perform(link.machine.ended(reason, at: now))
    }
  }

  /// Sends what the service has to know of this client, in the order that it must have.
  private func restore() {
    raise(data.setConnected(true))
    _ = data.tree.takeListenActions()
    for listen in data.tree.listens { self.listen(SyncQuery(path: listen.path, spec: listen.spec), listen.tag) }
    perform(requestBook.connected())
  }

  /// Ends what waits for a service that cannot serve the database, and says why; attempts to connect continue.
  ///
  /// Writes that the device keeps stay: they are sent when the service can be used again.
  private func refuse(_ reason: String) {
    let kept = data.keptSynced
    while let listen = data.tree.listens.first {
      cancelListen(SyncQuery(path: listen.path, spec: listen.spec), .unavailable, reason)
    }
    _ = data.tree.takeListenActions()
    perform(requestBook.endReads(reason))
    perform(requestBook.refuseWrites(DatabaseReply(.unavailable, message: reason)))
    let error = DatabaseError(status: .unavailable, message: reason)
    perform(transactionMachine.fail(error))
    requestBook.dropTransactions()
    perform(requestBook.endOperations(error))
    for (query, id) in kept.sorted(by: { $0.value < $1.value }) { keepSynced(query, true, id: id) }
  }
}

private let log = Logger(service: "VestaDatabase")
