import VestaConcurrency
import VestaCore
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop

extension Repo {
  private static let infoRoot = DatabaseKey(".info")

  /// Adds an observer, which first receives the data that is known already.
  func add(_ observer: Observer) {
    if isShutDown {
      table.forget(observer)
      return complete { observer.end() }
    }
    // One that was removed before its turn starts no listen.
    if observer.isSilent { return }
    observers[observer.id] = observer
    retrySoon()
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
      guard phase == .connected else { continue }
      switch action {
      case .start(let path, let spec, let tag): sendListen(path, spec, tag)
      case .stop(let path, let spec, let tag):
        currentListens[SyncQuery(path: path, spec: spec)] = nil
        request(.unlisten(path, spec, tag: tag)) { _, _ in }
      }
    }
  }

  func sendListen(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ tag: Int?) {
    let known = tree.knownServerNode(path, spec) ?? .empty
    let hash = NodeHash.hash(known)
    let query = SyncQuery(path: path, spec: spec)
    listensInFlight += 1
    listenNumber += 1
    let number = listenNumber
    currentListens[query] = number
    let tuning = environment.tuning
    let compound = CompoundHash.hash(of: known, from: tuning.rangesFrom, shortest: tuning.shortestRange)
    request(.listen(DatabaseListen(path: path, spec: spec, tag: tag, hash: hash, compound: compound))) { repo, reply in
      repo.listensInFlight -= 1
      // The reply of a listen that was ended, and perhaps begun again, says nothing about the current one.
      if repo.currentListens[query] == number { repo.listenReplied(path, spec, reply) }
      if repo.listensInFlight == 0 { repo.releaseAcknowledgements() }
    }
  }

  private func listenReplied(_ path: DatabasePath, _ spec: DatabaseQuerySpec, _ reply: DatabaseReply) {
    if reply.status == .ok {
      if reply.warnings.contains("no_index") { warnOfMissingIndex(path, spec) }
      raiseAndRerun(tree.listenComplete(path, spec), at: path)
    } else {
      let text = reply.status == .permissionDenied ? "Permission Denied" : reply.message
      cancelListen(path, spec, status: reply.status, message: text)
    }
  }

  func cancelListen(_ path: DatabasePath, _ spec: DatabaseQuerySpec, status: DatabaseStatus, message: String) {
    currentListens[SyncQuery(path: path, spec: spec)] = nil
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

  // MARK: Reading once

  /// Reads a query: from what is known, from the service, or from what the device keeps.
  ///
  /// - Parameter id: The number of the call, by which it can be given up.
  func get(_ id: Int, _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ completion: @escaping GetCompletion) {
    if path.front == Self.infoRoot {
      let node = infoValues[path.withoutFront.front ?? .minimum] ?? .empty
      return complete { completion(.success(IndexedNode(node, index: spec.index))) }
    }
    if let known = tree.completeEventNode(path, spec) { return complete { completion(.success(known)) } }
    gets[id] = OutstandingGet(path: path, spec: spec, completion: completion)
    if isShutDown { return endGet(id, .failure(Self.deleted.message)) }
    guard phase != .connected else { return sendGet(id) }
    limitGet(id)
    retrySoon()
  }

  /// Forgets a read whose caller has left.
  func giveUpGet(_ id: Int) { gets.removeValue(forKey: id)?.timer?.cancel() }

  /// Ends a read that has no connection for too long.
  func limitGet(_ id: Int) {
    let timer = environment.clock.schedule(after: environment.readTime) { [weak self] in
      self?.enqueue { repo in repo.endGet(id, .failure(repo.failure ?? "Client is offline.")) }
    }
    gets[id]?.timer = timer
  }

  func sendGet(_ id: Int) {
    guard let get = gets[id] else { return }
    get.timer?.cancel()
    gets[id]?.timer = nil
    request(.get(get.path, get.spec)) { repo, reply in
      repo.endGet(id, reply.status == .ok ? .node(reply.node) : .failure(reply.message))
    }
  }

  func endGet(_ id: Int, _ outcome: OutstandingGet.Outcome) {
    guard let get = gets.removeValue(forKey: id) else { return }
    get.timer?.cancel()
    switch outcome {
    case .node(let node):
      let known = tree.writes.completeNode(at: get.path, server: node) ?? node
      let indexed = IndexedNode(NodeWindow.window(of: known, get.spec), index: get.spec.index)
      complete { get.completion(.success(indexed)) }
    case .failure(let reason):
      let kept = tree.cache?.nodeForRead(get.path, get.spec) ?? .empty
      if !kept.isEmpty {
        let indexed = IndexedNode(kept, index: get.spec.index)
        return complete { get.completion(.success(indexed)) }
      }
      let error = UnknownValueError(path: get.path, reason: reason)
      complete { get.completion(.failure(error)) }
    }
  }
}

/// The completion of a read.
typealias GetCompletion = @Sendable (Result<IndexedNode, any Error>) -> Void

private let log = Logger(service: "VestaDatabase")
