import VestaFirestoreBackend
import VestaFirestoreModel

/// The messages of the backend.
extension SyncCore: WatchLinkOwner {
  /// Takes a snapshot of the backend.
  func apply(_ event: RemoteEvent) {
    limbo.note(event.targetChanges)
    updateViews(cache.local.apply(event), event: event)
    releaseHeld()
  }

  /// Takes the refusal of a target: its listeners fail; a document in limbo counts as absent.
  func rejectTarget(_ target: Int32, _ error: FirestoreServiceError) {
    guard let (key, requests) = limbo.reject(target) else {
      cache.local.release(target)
      return cleanUp(target, error: error)
    }
    perform(requests)
    var event = RemoteEvent(version: .zero)
    event.documentUpdates[key] = CachedDocument(ResourceName(database: configuration.database, path: key), .missing)
    event.resolvedLimboDocuments = [key]
    apply(event)
  }

  /// Takes a change of the online state.
  func changeOnlineState(_ state: OnlineState) {
    actions.emit(events.receive(state == .offline ? views.becomeOffline() : []))
    actions.emit(events.receive(state))
  }

  func watchHasOpened() { startAwaiting() }

  /// The documents of a target that the backend has sent.
  func remoteKeys(of target: Int32) -> Set<DocumentKey> { limbo.keys(of: target) ?? views.syncedKeys(of: target) }

  /// Whether the backend has sent a document of a target.
  func hasRemoteKey(of target: Int32, _ key: DocumentKey) -> Bool {
    limbo.hasKey(of: target, key) ?? views.hasSyncedKey(of: target, key)
  }

  /// Begins the cache again: views keep their documents, and their targets are fetched again.
  func discardCache() {
    cache.local.discard()
    var event = RemoteEvent(version: .zero)
    for id in watch.beginAgain() {
      var update = TargetUpdate()
      update.removed = remoteKeys(of: id)
      event.targetChanges[id] = update
      event.targetMismatches[id] = .existenceFilterMismatch
    }
    apply(event)
  }

  // MARK: First results

  /// Takes the first results of a target, which were read from the engine in the process: their listener is shown them,
  /// and the cache takes them when something looks at it, or at once.
  func take(_ results: FirstResults) { if !show(results) { apply(results.event) } }

  /// Shows first results, which the cache takes later.
  ///
  /// - Returns: Whether that is possible: no other view shows anything of their collection, the cache has nothing of
  ///   it, and no write of any user is pending. The results are shown as they were read then.
  private func show(_ results: FirstResults) -> Bool {
    guard let ids = views.queries[results.target], ids.count == 1, let entry = views.entries[ids[0]],
      canBePostponed(entry.query), let outcome = views.applyFirst(results, to: ids[0])
    else { return false }
    cache.postpone(results, shownBy: outcome.snapshot)
    track(outcome.limboChanges, results.target)
    watch.settleToken(of: results.target)
    actions.emit(events.receive([outcome.snapshot].compactMap { $0 }))
    return true
  }

  private func canBePostponed(_ query: LocalQuery) -> Bool {
    guard case .eager = cache.store.policy, !query.isDocument, query.collectionGroup == nil else { return false }
    // Documents that another user has written stay in the cache.
    return cache.store.shown.writes.isEmpty && !cache.store.shown.writes.hasOverlays
      && views.index.isAlone(in: query.path) && cache.store.shown.remote.documents(in: query.path).isEmpty
  }
}
