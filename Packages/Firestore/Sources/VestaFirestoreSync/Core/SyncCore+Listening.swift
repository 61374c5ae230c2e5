import VestaFirestoreBackend
package import VestaFirestoreModel

/// Listeners of the application, and the views and targets that they begin and end.
extension SyncCore {
  /// Adds a listener to a query.
  ///
  /// - Returns: The number of the query's target.
  @discardableResult
  package func listen(_ query: LocalQuery, options: ListenOptions, listener: ListenerID) -> Int32? {
    let id = QueryID(query)
    let (demand, first) = events.add(listener, to: query, id, options)
    actions.emit(first)
    switch demand {
    case .nothing: break
    case .local: beginView(query, id, isRemote: false)
    case .localAndRemote: beginView(query, id, isRemote: true)
    case .remote:
      if let target = views.entries[id]?.target, let record = cache.local.targets.active[target] {
        watch.listen(record)
      }
    }
    return views.entries[id]?.target
  }

  /// Removes a listener; an unknown one is ignored.
  package func unlisten(_ listener: ListenerID) {
    guard let (_, id, demand) = events.remove(listener), let target = views.entries[id]?.target else { return }
    switch demand {
    case .nothing: break
    case .remote: if views.queries[target]?.contains(where: { events.isRemote($0) }) != true { watch.unlisten(target) }
    case .local, .localAndRemote: endView(id, target)
    }
  }

  /// Adds a listener that is notified when all listeners agree.
  package func addSyncListener(_ listener: ListenerID) { actions.emit(events.addSyncListener(listener)) }

  /// Removes such a listener.
  package func removeSyncListener(_ listener: ListenerID) { events.removeSyncListener(listener) }

  private func beginView(_ query: LocalQuery, _ id: QueryID, isRemote: Bool) {
    cache.fetches.noteTurn()
    let record = cache.local.allocate(query.target, id.target)
    takeResults(of: id, target: record.id, isCacheOnly: !isRemote)
    let snapshot = makeView(query, id, record)
    actions.emit(events.receive([snapshot].compactMap { $0 }))
    // The documents that the view shows stay in the cache, also the ones that only pending writes have made: an earlier
    // snapshot of the backend must not replace them after their acknowledgement.
    cache.local.noteViews([snapshot].compactMap { $0 }.map { LocalStore.ViewReferences($0, target: record.id) })
    if isRemote { watch.listen(record) }
  }

  private func makeView(_ query: LocalQuery, _ id: QueryID, _ record: TargetRecord) -> ViewSnapshot? {
    let result = cache.local.execute(query, of: record, usesPreviousResults: true)
    var view = QueryView(query, id: id, remoteKeys: result.remoteKeys)
    var synthesized = TargetUpdate()
    synthesized.resumeToken = record.resumeToken
    if let mirror = views.queries[record.id]?.first {
      // Also while that view has documents in limbo: the new one then has them in limbo itself.
      synthesized.isCurrent = views.entries[mirror]?.view.isCurrent ?? false
    }
    let outcome = view.apply(view.computeChanges(result.documents), synthesized)
    track(outcome.limboChanges, record.id)
    views.insert(view, of: query, id, target: record.id)
    return outcome.snapshot
  }

  private func endView(_ id: QueryID, _ target: Int32) {
    let limboKeys = views.entries[id]?.view.limboKeys ?? []
    views.remove(id)
    guard views.queries[target]?.isEmpty == true else {
      track(limboKeys.sorted().map { .removed($0) }, target)
      return endAsking()
    }
    watch.settleToken(of: target)
    cache.drop(target)
    cache.local.release(target)
    watch.unlisten(target)
    cleanUp(target, error: nil)
  }

  /// Forgets the views of a target; with an error, their listeners are notified.
  func cleanUp(_ target: Int32, error: FirestoreServiceError?) {
    for id in views.removeAll(of: target) { if let error { actions.emit(events.fail(id, error)) } }
    perform(limbo.removeAll(of: target))
    endAsking()
    releaseHeld()
  }
}
