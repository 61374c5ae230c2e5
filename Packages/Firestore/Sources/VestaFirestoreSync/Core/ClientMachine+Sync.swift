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
    views[id] = QueryView(query: query, target: record.id, view: view, begun: lastSnapshot.count)
    viewIndex.insert(query, id)
    queriesByTarget[record.id, default: []].append(id)
    return outcome.snapshot
  }

  private func endView(_ id: QueryID, _ target: Int32) {
    forgetView(id)
    queriesByTarget[target]?.removeAll { $0 == id }
    guard queriesByTarget[target]?.isEmpty == true else { return }
    settleToken(of: target)
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
      forgetView(id)
      if let error { emit(events.fail(id, error)) }
    }
    for key in limboReferences.removeAll(of: target) where !limboReferences.contains(key) { endLimbo(key) }
  }

  private func forgetView(_ id: QueryID) {
    guard let view = views.removeValue(forKey: id) else { return }
    viewIndex.remove(view.query, id)
    unsettledViews.remove(id)
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
        unsettle(id)
        snapshots.append(snapshot)
      }
    }
    emit(events.receive(snapshots))
    emit(events.receive(state))
  }

  /// The documents of a target that the backend has told about.
  func remoteKeys(of target: Int32) -> Set<DocumentKey> {
    if let resolution = limboResolutions[target] { return resolution.hasReceivedDocument ? [resolution.key] : [] }
    let queries = queriesByTarget[target] ?? []
    if queries.count == 1 { return views[queries[0]]?.view.syncedKeys ?? [] }
    return queries.reduce(into: []) { $0.formUnion(views[$1]?.view.syncedKeys ?? []) }
  }

  /// Whether the backend has sent a document of a target.
  func hasRemoteKey(of target: Int32, _ key: DocumentKey) -> Bool {
    if let resolution = limboResolutions[target] { return resolution.hasReceivedDocument && resolution.key == key }
    return queriesByTarget[target]?.contains { views[$0]?.view.syncedKeys.contains(key) ?? false } ?? false
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

  /// Computes the effect of changed documents and targets on the views, and sends all snapshots together.
  ///
  /// Only the views are looked at that look at a changed document, whose target has changed, or that follow every
  /// snapshot of the backend.
  func raise(_ changed: [DocumentKey: CachedDocument], event: RemoteEvent?) {
    if let event, event.version > .zero {
      lastSnapshot = (max(lastSnapshot.version, event.version), lastSnapshot.count + 1)
    }
    var snapshots: [ViewSnapshot] = []
    var references: [LocalStore.ViewReferences] = []
    for concerned in concernedViews(changed, event) {
      guard let outcome = update(concerned, event) else { continue }
      track(outcome.limboChanges, concerned.target)
      guard let snapshot = outcome.snapshot else { continue }
      settleToken(of: concerned.target)
      snapshots.append(snapshot)
      references.append(LocalStore.ViewReferences(snapshot, target: concerned.target))
    }
    emit(events.receive(snapshots))
    local.noteViews(references)
  }

  /// A view, and the changed documents that its query looks at.
  private struct ConcernedView {
    let id: QueryID
    let target: Int32
    let place: Int
    let changed: [DocumentKey: CachedDocument]
  }

  /// The views that an event concerns, in the order of their targets.
  private func concernedViews(
    _ changed: [DocumentKey: CachedDocument], _ event: RemoteEvent?
  ) -> [ConcernedView] {
    var concerned: [QueryID: [DocumentKey: CachedDocument]] = [:]
    for (key, document) in changed { viewIndex.forEach(lookingAt: key) { concerned[$0, default: [:]][key] = document } }
    for id in concernedViews(event) where concerned[id] == nil { concerned[id] = [:] }
    let list = concerned.compactMap { id, documents -> ConcernedView? in
      guard let target = views[id]?.target, let place = queriesByTarget[target]?.firstIndex(of: id) else { return nil }
      return ConcernedView(id: id, target: target, place: place, changed: documents)
    }
    return list.sorted { ($0.target, $0.place) < ($1.target, $1.place) }
  }

  /// The views that an event concerns, whichever documents have changed.
  private func concernedViews(_ event: RemoteEvent?) -> Set<QueryID> {
    guard let event else { return [] }
    var concerned = unsettledViews
    for (target, change) in event.targetChanges {
      for id in queriesByTarget[target] ?? [] where views[id]?.view.isTokenOnly(change) == false {
        concerned.insert(id)
      }
    }
    for target in event.targetMismatches.keys { concerned.formUnion(queriesByTarget[target] ?? []) }
    return concerned
  }

  private func update(_ concerned: ConcernedView, _ event: RemoteEvent?) -> View.Outcome? {
    let id = concerned.id
    guard let query = views[id]?.query, let begun = views[id]?.begun,
      var changes = views[id]?.view.computeChanges(concerned.changed)
    else { return nil }
    if changes.needsRefill {
      let all = local.execute(query, usesPreviousResults: false).documents
      changes = views[id]?.view.computeChanges(all, previous: changes) ?? changes
    }
    let outcome = views[id]?.view.apply(
      changes, event?.targetChanges[concerned.target],
      isPendingReset: event?.targetMismatches[concerned.target] != nil,
      version: begun < lastSnapshot.count ? lastSnapshot.version : .zero)
    unsettle(id)
    return outcome
  }

  /// Notes whether a view follows every snapshot of the backend.
  private func unsettle(_ id: QueryID) {
    if views[id]?.view.followsEverySnapshot == true { unsettledViews.insert(id) } else { unsettledViews.remove(id) }
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
  /// The documents that a snapshot has added and removed.
  init(_ snapshot: ViewSnapshot, target: Int32) {
    self.init(
      target: target, isFromCache: snapshot.isFromCache,
      added: snapshot.changes.filter { $0.kind == .added }.map(\.document.path),
      removed: snapshot.changes.filter { $0.kind == .removed }.map(\.document.path))
  }
}
