import VestaFirestoreBackend
package import VestaFirestoreModel

/// Listeners of the application, and the views and targets that they begin and end.
extension ClientMachine {
  /// Adds a listener to a query.
  ///
  /// - Returns: The number of the query's target.
  @discardableResult
  package func listen(_ query: LocalQuery, options: ListenOptions, listener: ListenerID) -> Int32? {
    let id = QueryID(query)
    let (demand, first) = events.add(listener, to: query, id, options)
    emit(first)
    switch demand {
    case .nothing: break
    case .local: beginView(query, id, isRemote: false)
    case .localAndRemote: beginView(query, id, isRemote: true)
    case .remote: if let view = views[id], let record = local.record(of: view.target) { listenRemotely(record) }
    }
    return views[id]?.target
  }

  /// Removes a listener; an unknown one is ignored.
  package func unlisten(_ listener: ListenerID) {
    guard let (_, id, demand) = events.remove(listener), let view = views[id] else { return }
    switch demand {
    case .nothing: break
    case .remote: if !hasRemoteListener(view.target) { unlistenRemotely(view.target) }
    case .local, .localAndRemote: endView(id, view.target)
    }
  }

  /// Adds a listener that is notified when all listeners agree.
  package func addSyncListener(_ listener: ListenerID) { emit(events.addSyncListener(listener)) }

  /// Removes such a listener.
  package func removeSyncListener(_ listener: ListenerID) { events.removeSyncListener(listener) }

  /// The number of the target of a listener's query.
  package func target(of query: LocalQuery) -> Int32? { views[QueryID(query)]?.target }

  private func beginView(_ query: LocalQuery, _ id: QueryID, isRemote: Bool) {
    let record = local.allocate(query.target, id.target)
    takeResults(of: id, target: record.id, isCacheOnly: !isRemote)
    let snapshot = makeView(query, id, record)
    emit(events.receive([snapshot].compactMap { $0 }))
    // The documents that the view shows stay in the cache, also the ones that only pending writes have made: an earlier
    // snapshot of the backend must not replace them after their acknowledgement.
    local.noteViews([snapshot].compactMap { $0 }.map { LocalStore.ViewReferences($0, target: record.id) })
    if isRemote { listenRemotely(record) }
  }

  private func makeView(_ query: LocalQuery, _ id: QueryID, _ record: TargetRecord) -> ViewSnapshot? {
    let result = local.execute(query, of: record, usesPreviousResults: true)
    var view = View(query, id: id, remoteKeys: result.remoteKeys)
    var synthesized = TargetUpdate()
    synthesized.resumeToken = record.resumeToken
    if let mirror = queriesByTarget[record.id]?.first {
      // Also while that view has documents in limbo: the new one then has them in limbo itself.
      synthesized.isCurrent = views[mirror]?.view.isCurrent ?? false
    }
    let outcome = view.apply(view.computeChanges(result.documents), synthesized)
    track(outcome.limboChanges, record.id)
    views[id] = QueryView(query: query, target: record.id, view: view, begun: lastSnapshot.count)
    viewIndex.insert(query, id)
    queriesByTarget[record.id, default: []].append(id)
    return outcome.snapshot
  }

  private func endView(_ id: QueryID, _ target: Int32) {
    let limbo = views[id]?.view.limboKeys ?? []
    forgetView(id)
    queriesByTarget[target]?.removeAll { $0 == id }
    guard queriesByTarget[target]?.isEmpty == true else {
      track(limbo.sorted().map { .removed($0) }, target)
      return endAsking()
    }
    settleToken(of: target)
    dropDeferred(target)
    local.release(target)
    unlistenRemotely(target)
    cleanUp(target, error: nil)
  }

  private func hasRemoteListener(_ target: Int32) -> Bool {
    queriesByTarget[target]?.contains { events.isRemote($0) } ?? false
  }

  /// Forgets the views of a target; with an error, their listeners are notified.
  func cleanUp(_ target: Int32, error: FirestoreServiceError?) {
    for id in queriesByTarget.removeValue(forKey: target) ?? [] {
      forgetView(id)
      if let error { emit(events.fail(id, error)) }
    }
    for key in limboReferences.removeAll(of: target) where !limboReferences.contains(key) { endLimbo(key) }
    endAsking()
    releaseHeld()
  }

  private func forgetView(_ id: QueryID) {
    guard let view = views.removeValue(forKey: id) else { return }
    viewIndex.remove(view.query, id)
    unsettledViews.remove(id)
  }
}
