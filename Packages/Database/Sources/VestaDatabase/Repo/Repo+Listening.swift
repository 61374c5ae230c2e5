import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop

extension Repo {
  static let infoRoot = DatabaseKey(".info")

  /// Adds an observer, which first receives the data that is known already.
  func add(_ observer: Observer) {
    if isShutDown {
      table.forget(observer)
      return complete { observer.end() }
    }
    // One that was removed before its turn starts no listen.
    if observer.isSilent { return }
    observers[observer.id] = observer
    perform(link.machine.wanted())
    let registration = SyncRegistration(id: observer.id, kinds: observer.kinds)
    if observer.path.front == Self.infoRoot {
      raise(info.add(registration, at: observer.path, observer.spec))
      raiseInfo(below: observer.path)
      _ = info.takeListenActions()
    } else {
      raise(tree.add(registration, at: observer.path, observer.spec))
    }
  }

  /// Removes an observer, whose calls have ended already.
  func remove(_ observer: Observer) {
    guard observers.removeValue(forKey: observer.id) != nil else { return }
    if observer.path.front == Self.infoRoot {
      _ = info.remove(observer.id, at: observer.path, observer.spec)
      _ = info.takeListenActions()
    } else {
      _ = tree.remove(observer.id, at: observer.path, observer.spec)
    }
  }

  /// Removes an observer of the library's own.
  func remove(_ id: Int) {
    guard let observer = observers[id] else { return }
    observer.silence()
    remove(observer)
  }

  /// Sets a value below `.info`.
  func setInfo(_ key: DatabaseKey, _ node: DatabaseNode) {
    infoValues[key] = node
    raise(info.serverOverwrite(DatabasePath([Self.infoRoot, key]), node))
  }

  private func raiseInfo(below path: DatabasePath) {
    for (key, node) in infoValues.sorted(by: { $0.key < $1.key }) {
      let place = DatabasePath([Self.infoRoot, key])
      if place.contains(path) { raise(info.serverOverwrite(path, node[place.relative(path) ?? .root])) }
    }
  }

  /// Keeps a query listened to without an observer, or no longer.
  func keepSynced(_ query: SyncQuery, _ isSynced: Bool, id: Int) {
    if isSynced, keptSynced[query] == nil {
      keptSynced[query] = id
      add(silentObserver(id, query.path, query.spec))
    } else if !isSynced, let id = keptSynced.removeValue(forKey: query) {
      remove(id)
    }
  }

  /// An observer that listens and receives no events.
  func silentObserver(_ id: Int, _ path: DatabasePath, _ spec: DatabaseQuerySpec) -> Observer {
    Observer(id: id, path: path, spec: spec, kinds: [], isOnce: false, event: { _ in }, cancel: { _ in })
  }

  // MARK: The service

  /// Starts and stops what the tree wants listened to.
  func performListenActions() {
    for action in tree.takeListenActions() {
      guard link.machine.phase == .connected else { continue }
      switch action {
      case .start(let path, let spec, let tag): sendListen(path, spec, tag)
      case .stop(let path, let spec, let tag):
        requestBook.unlisten(SyncQuery(path: path, spec: spec))
        send(.unlisten(path, spec, tag: tag), for: .notice)
      }
    }
  }

  func sendListen(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ tag: Int?) {
    let known = tree.knownServerNode(path, spec) ?? .empty
    let hash = NodeHash.hash(known)
    let tuning = environment.tuning
    let compound = CompoundHash.hash(of: known, from: tuning.rangesFrom, shortest: tuning.shortestRange)
    let purpose = requestBook.listen(SyncQuery(path: path, spec: spec))
    send(.listen(DatabaseListen(path: path, spec: spec, tag: tag, hash: hash, compound: compound)), for: purpose)
  }

  func listenReplied(_ query: SyncQuery, _ reply: DatabaseReply) {
    if reply.status == .ok {
      if reply.warnings.contains("no_index") { warnOfMissingIndex(query.path, query.spec) }
      raiseAndRerun(tree.listenComplete(query.path, query.spec), at: query.path)
    } else {
      let text = reply.status == .permissionDenied ? "Permission Denied" : reply.message
      cancelListen(query.path, query.spec, status: reply.status, message: text)
    }
  }

  func cancelListen(_ path: DatabasePath, _ spec: DatabaseQuerySpec, status: DatabaseStatus, message: String) {
    requestBook.unlisten(SyncQuery(path: path, spec: spec))
    raise(tree.remove(nil, at: path, spec, cancellation: (status.rawValue, message)))
    for (query, id) in keptSynced where observers[id] == nil { keptSynced[query] = nil }
  }

  private func warnOfMissingIndex(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
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

  /// Raises events of data from the service, and runs transactions again whose data has changed.
  func raiseAndRerun(_ events: [SyncEvent], at path: DatabasePath) {
    raise(events)
    if !events.isEmpty { perform(transactionMachine.rerun(at: path)) }
  }
}

private let log = Logger(service: "VestaDatabase")
