package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The sync engine: views, and what changes them.
extension ClientMachine {
  // MARK: Listening

  /// Adds a listener to a query.
  package func listen(_ query: LocalQuery, options: ListenOptions, listener: ListenerID) {
    let id = QueryID(query)
    let (demand, first) = events.add(listener, to: query, id, options)
    emit(first)
    switch demand {
    case .nothing: break
    case .local: beginView(query, id, isRemote: false)
    case .localAndRemote: beginView(query, id, isRemote: true)
    case .remote: if let view = views[id], let record = local.record(of: view.target) { listenRemotely(record) }
    }
  }

  /// Removes a listener; one that is gone is ignored.
  package func unlisten(_ listener: ListenerID) {
    guard let (_, id, demand) = events.remove(listener), let view = views[id] else { return }
    switch demand {
    case .nothing: break
    case .remote: if !hasRemoteListener(view.target) { unlistenRemotely(view.target) }
    case .local, .localAndRemote: endView(id, view.target)
    }
  }

  /// Adds a listener that hears when all listeners agree.
  package func addSyncListener(_ listener: ListenerID) { emit(events.addSyncListener(listener)) }

  /// Removes such a listener.
  package func removeSyncListener(_ listener: ListenerID) { events.removeSyncListener(listener) }

  /// The number of the target of a listener's query.
  package func target(of query: LocalQuery) -> Int32? { views[QueryID(query)]?.target }

  private func beginView(_ query: LocalQuery, _ id: QueryID, isRemote: Bool) {
    let record = local.allocate(query.target)
    let snapshot = makeView(query, id, record)
    emit(events.receive([snapshot].compactMap { $0 }))
    if isRemote { listenRemotely(record) }
  }

  private func makeView(_ query: LocalQuery, _ id: QueryID, _ record: TargetRecord) -> ViewSnapshot? {
    let result = local.execute(query, usesPreviousResults: true)
    var view = View(query, id: id, remoteKeys: result.remoteKeys)
    var synthesized = TargetUpdate()
    synthesized.resumeToken = record.resumeToken
    if let mirror = queriesByTarget[record.id]?.first {
      synthesized.isCurrent = views[mirror]?.view.syncState == .synced
    }
    let outcome = view.apply(view.computeChanges(result.documents), synthesized)
    track(outcome.limboChanges, record.id)
    views[id] = QueryView(query: query, target: record.id, view: view)
    queriesByTarget[record.id, default: []].append(id)
    return outcome.snapshot
  }

  private func endView(_ id: QueryID, _ target: Int32) {
    views[id] = nil
    queriesByTarget[target]?.removeAll { $0 == id }
    guard queriesByTarget[target]?.isEmpty == true else { return }
    local.release(target)
    unlistenRemotely(target)
    cleanUp(target, error: nil)
  }

  private func hasRemoteListener(_ target: Int32) -> Bool {
    queriesByTarget[target]?.contains { events.isRemote($0) } ?? false
  }

  /// Forgets the views of a target; with an error, their listeners hear it.
  func cleanUp(_ target: Int32, error: FirestoreServiceError?) {
    for id in queriesByTarget.removeValue(forKey: target) ?? [] {
      views[id] = nil
      if let error { emit(events.fail(id, error)) }
    }
    for key in limboReferences.removeAll(of: target) where !limboReferences.contains(key) { endLimbo(key) }
  }

  // MARK: Writing

  /// Writes a batch.
  ///
  /// - Parameter callback: Told when the backend has answered; `nil` for nobody.
  package func write(_ mutations: [Mutation], at time: Timestamp, callback: CallbackID?) {
    let (batch, changed) = local.write(mutations, at: time)
    if let callback { writeCallbacks[local.user, default: [:]][batch.id] = callback }
    raise(changed, event: nil)
    fillPipeline()
  }

  /// Tells a caller when everything that is pending now has been answered.
  package func waitForPendingWrites(_ callback: CallbackID) {
    guard let last = local.queue.batches.last else { return emit(.finish(callback, nil)) }
    pendingWritesCallbacks[last.id, default: []].append(callback)
  }

  func acknowledge(_ answer: BatchAcknowledgement) {
    finish(answer.batch.id, error: nil)
    raise(local.acknowledge(answer), event: nil)
  }

  func reject(_ batch: MutationBatch, _ error: FirestoreServiceError) {
    let changed = local.reject(batch)
    finish(batch.id, error: error)
    raise(changed, event: nil)
  }

  private func finish(_ batch: Int, error: FirestoreServiceError?) {
    if let callback = writeCallbacks[local.user]?.removeValue(forKey: batch) { emit(.finish(callback, error)) }
    for callback in pendingWritesCallbacks.removeValue(forKey: batch) ?? [] { emit(.finish(callback, nil)) }
  }

  // MARK: What the backend tells

  func apply(_ event: RemoteEvent) {
    for (target, change) in event.targetChanges {
      if !change.added.isEmpty {
        limboResolutions[target]?.hasReceivedDocument = true
      } else if !change.removed.isEmpty {
        limboResolutions[target]?.hasReceivedDocument = false
      }
    }
    raise(local.apply(event), event: event)
  }

  func rejectTarget(_ target: Int32, _ error: FirestoreServiceError) {
    guard let resolution = limboResolutions.removeValue(forKey: target) else {
      local.release(target)
      return cleanUp(target, error: error)
    }
    activeLimbo[resolution.key] = nil
    pumpLimbo()
    var event = RemoteEvent(version: .zero)
    let name = ResourceName(database: database, path: resolution.key)
    event.documentUpdates[resolution.key] = CachedDocument(name, .missing)
    event.resolvedLimboDocuments = [resolution.key]
    apply(event)
  }

  func changeOnlineState(_ state: OnlineState) {
    var snapshots: [ViewSnapshot] = []
    if state == .offline {
      for id in orderedViews {
        guard let snapshot = views[id]?.view.becomeOffline().snapshot else { continue }
        snapshots.append(snapshot)
      }
    }
    emit(events.receive(snapshots))
    emit(events.receive(state))
  }

  /// The documents of a target that the backend has told about.
  func remoteKeys(of target: Int32) -> Set<DocumentKey> {
    if let resolution = limboResolutions[target] { return resolution.hasReceivedDocument ? [resolution.key] : [] }
    return (queriesByTarget[target] ?? []).reduce(into: []) { $0.formUnion(views[$1]?.view.syncedKeys ?? []) }
  }

  // MARK: Users

  /// Makes another user the current one, or notes new credentials of the same.
  package func changeUser(_ user: String) {
    if user != local.user {
      let error = FirestoreServiceError(
        .cancelled, "'waitForPendingWrites' callback is cancelled due to a user change.")
      for callback in pendingWritesCallbacks.sorted(by: { $0.key < $1.key }).flatMap(\.value) {
        emit(.finish(callback, error))
      }
      pendingWritesCallbacks = [:]
      raise(local.changeUser(user), event: nil)
    }
    restartNetwork()
  }

  // MARK: Views

  private var orderedViews: [QueryID] { queriesByTarget.keys.sorted().flatMap { queriesByTarget[$0] ?? [] } }

  /// Computes what changed documents and targets do to the views, and tells the listeners all of it together.
  func raise(_ changed: [DocumentKey: CachedDocument], event: RemoteEvent?) {
    var snapshots: [ViewSnapshot] = []
    var references: [LocalStore.ViewReferences] = []
    for id in orderedViews {
      guard let outcome = update(id, changed, event), let target = views[id]?.target else { continue }
      track(outcome.limboChanges, target)
      guard let snapshot = outcome.snapshot else { continue }
      snapshots.append(snapshot)
      references.append(LocalStore.ViewReferences(snapshot, target: target))
    }
    emit(events.receive(snapshots))
    local.noteViews(references)
  }

  private func update(
    _ id: QueryID, _ changed: [DocumentKey: CachedDocument], _ event: RemoteEvent?
  ) -> View.Outcome? {
    guard let entry = views[id] else { return nil }
    let change = event?.targetChanges[entry.target]
    let isPendingReset = event?.targetMismatches[entry.target] != nil
    let concerned = changed.filter { entry.query.selects($0.key) }
    if concerned.isEmpty, change == nil, !isPendingReset, event == nil { return nil }
    var changes = entry.view.computeChanges(concerned)
    if changes.needsRefill {
      let all = local.execute(entry.query, usesPreviousResults: false).documents
      changes = entry.view.computeChanges(all, previous: changes)
    }
    return views[id]?.view.apply(changes, change, isPendingReset: isPendingReset, version: event?.version ?? .zero)
  }

  // MARK: Limbo

  func track(_ changes: [View.LimboChange], _ target: Int32) {
    for change in changes {
      switch change {
      case .added(let key):
        limboReferences.insert(key, target)
        beginLimbo(key)
      case .removed(let key):
        limboReferences.remove(key, target)
        if !limboReferences.contains(key) { endLimbo(key) }
      }
    }
  }

  private func beginLimbo(_ key: DocumentKey) {
    guard activeLimbo[key] == nil, !enqueuedLimbo.contains(key) else { return }
    enqueuedLimbo.append(key)
    pumpLimbo()
  }

  private func endLimbo(_ key: DocumentKey) {
    enqueuedLimbo.removeAll { $0 == key }
    guard let target = activeLimbo.removeValue(forKey: key) else { return }
    unlistenRemotely(target)
    limboResolutions[target] = nil
    pumpLimbo()
  }

  private func pumpLimbo() {
    while !enqueuedLimbo.isEmpty, activeLimbo.count < configuration.limboLimit ?? .max {
      let key = enqueuedLimbo.removeFirst()
      let id = limboIDs.next()
      limboResolutions[id] = LimboResolution(key: key)
      activeLimbo[key] = id
      let target = QueryTarget(database: database, path: key)
      listenRemotely(TargetRecord(target, id: id, purpose: .limboResolution, sequenceNumber: -1))
    }
  }
}

extension LocalStore.ViewReferences {
  /// What a snapshot says about documents.
  init(_ snapshot: ViewSnapshot, target: Int32) {
    self.init(
      target: target, isFromCache: snapshot.isFromCache,
      added: snapshot.changes.filter { $0.kind == .added }.map(\.document.path),
      removed: snapshot.changes.filter { $0.kind == .removed }.map(\.document.path))
  }
}
