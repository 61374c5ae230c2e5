import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel

extension Repo {
  /// Adds an observer, which first receives the data that is known already.
  func add(_ observer: Observer) {
    if link.machine.isShutDown {
      table.forget(observer)
      return complete { observer.end() }
    }
    // One that was removed before its turn starts no listen.
    if observer.isSilent { return }
    perform(link.machine.wanted())
    raise(data.add(observer))
  }

  /// Keeps a query listened to without an observer, or no longer.
  func keepSynced(_ query: SyncQuery, _ isSynced: Bool, id: Int) {
    if let observer = data.keepSynced(query, isSynced, id: id) { add(observer) }
  }

  /// Starts and stops what the tree wants listened to.
  func performListenActions() {
    for action in data.tree.takeListenActions() {
      guard link.machine.phase == .connected else { continue }
      switch action {
      case .start(let path, let spec, let tag): listen(SyncQuery(path: path, spec: spec), tag)
      case .stop(let path, let spec, let tag):
        requestBook.unlisten(SyncQuery(path: path, spec: spec))
        send(.unlisten(path, spec, tag: tag), for: .notice)
      }
    }
  }

  func listen(_ query: SyncQuery, _ tag: Int?) {
    let request = data.listen(query, tag: tag, environment.tuning)
    send(request, for: requestBook.listen(query))
  }

  func listenReplied(_ query: SyncQuery, _ reply: DatabaseReply) {
    if reply.status == .ok {
      if reply.warnings.contains("no_index") { query.warnOfMissingIndex() }
      raiseAndRerun(data.tree.listenComplete(query.path, query.spec), at: query.path)
    } else {
      cancelListen(query, reply.status, reply.status == .permissionDenied ? "Permission Denied" : reply.message)
    }
  }

  func cancelListen(_ query: SyncQuery, _ status: DatabaseStatus, _ message: String) {
    requestBook.unlisten(query)
    raise(data.cancel(query, status, message))
  }

  // MARK: Raising events

  /// Calls observers, later, on the event queue.
  func raise(_ events: [SyncEvent]) {
    if events.isEmpty { return }
    let calls = data.calls(for: events)
    for observer in calls.ended { table.forget(observer) }
    self.events.post(calls.bodies)
  }

  /// Raises events of data from the service, and runs transactions again whose data has changed.
  func raiseAndRerun(_ events: [SyncEvent], at path: DatabasePath) {
    raise(events)
    if !events.isEmpty { perform(transactionMachine.rerun(at: path)) }
  }
}

extension SyncQuery {
  fileprivate func warnOfMissingIndex() {
    let index =
      switch spec.index {
      case .child(let path): path.text
      case .value: ".value"
      case .key, .priority: ""
      }
    log.warning(
      "I-RDB034015",
      """
      Using an unspecified index. Your data will be downloaded and filtered on the client. \
      Consider adding ".indexOn": "\(index)" at \(path) to your security rules for better performance
      """)
  }
}

private let log = Logger(service: "VestaDatabase")
