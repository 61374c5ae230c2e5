package import VestaFirestoreBackend
package import VestaFirestoreModel

/// Batches of writes, from the call of the application to the answer of the backend.
extension SyncCore: WriteLinkOwner {
  /// Writes a batch.
  ///
  /// - Parameter callback: Called when the backend has answered; `nil` for none.
  package func write(_ mutations: [Mutation], at time: Timestamp, callback: CallbackID?) {
    takeBases(of: mutations)
    for mutation in mutations { cache.fetches.noteWrite(of: mutation.path) }
    let (batch, changed) = cache.local.write(mutations, at: time)
    if let callback { callers.add(callback, of: batch.id, cache.store.shown.writes.user) }
    updateViews(changed, event: nil)
    engineCache.noteWrites(mutations.count)
    writes.fill()
    writes.retryAfterOutage()
  }

  /// Notifies a caller when everything that is pending now has been answered.
  package func waitForPendingWrites(_ callback: CallbackID) {
    guard let last = cache.local.queue.batches.last else { return actions.emit(.finish(callback, nil)) }
    callers.wait(callback, for: last.id)
    writes.retryAfterOutage()
  }

  func acknowledge(_ answer: BatchAcknowledgement) {
    finish(answer.batch.id, error: nil)
    holdForViews(answer)
    updateViews(cache.local.acknowledge(answer), event: nil)
  }

  func reject(_ batch: MutationBatch, _ error: FirestoreServiceError) {
    let changed = cache.local.reject(batch)
    finish(batch.id, error: error)
    updateViews(changed, event: nil)
  }

  private func finish(_ batch: Int, error: FirestoreServiceError?) {
    let (caller, others) = callers.take(batch, cache.local.shown.writes.user)
    if let caller { actions.emit(.finish(caller, error)) }
    for callback in others { actions.emit(.finish(callback, nil)) }
  }

  func failCallers(_ error: FirestoreServiceError) {
    for callback in callers.takeAll(of: cache.local.shown.writes.user) + callers.takeWaiting() {
      actions.emit(.finish(callback, error))
    }
  }

  /// Makes another user's writes the pending ones.
  func changeUser(_ user: String) {
    let error = FirestoreServiceError(
      .cancelled, "'waitForPendingWrites' callback is cancelled due to a user change.")
    for callback in callers.takeWaiting() { actions.emit(.finish(callback, error)) }
    updateViews(cache.local.changeUser(user), event: nil)
  }
}

/// Documents of acknowledged writes, for views whose results of the backend may be of a time before the writes.
///
/// The first results may have been read before a write was committed, and the stream may send the snapshots of several
/// writes after all of them have been acknowledged. The cache ignores what is older than the document it has; so it
/// must keep the document until then, also where nothing refers to it.
///
/// Worked example: `rooms/a` is deleted, and a listener to `rooms` is added before the answer. The engine is read,
/// with the room. Then the deletion is acknowledged at version 5. The results of version 4 arrive: without the note
/// that there is no room at version 5, the first snapshot would show it.
extension SyncCore {
  private func holdForViews(_ answer: BatchAcknowledgement) {
    guard !watch.targets.isEmpty, case .eager = cache.store.policy else { return }
    let last = cache.store.lastRemoteSnapshotVersion
    for (key, version) in answer.versions {
      let (isFollowed, isAwaited) = following(key)
      if isAwaited { cache.store.uses.hold(key) }
      if isFollowed, version > last { cache.store.uses.hold(key, until: version) }
    }
    cache.store.releaseAcknowledged(upTo: last, limit: configuration.tuning.acknowledgedDocuments)
  }

  /// Ends that for documents whose views have had results, or were removed.
  func releaseHeld() {
    let limit = watch.targets.isEmpty ? 0 : configuration.tuning.acknowledgedDocuments
    cache.store.releaseAcknowledged(upTo: cache.store.lastRemoteSnapshotVersion, limit: limit)
    if cache.store.uses.held.isEmpty { return }
    let done = cache.store.uses.held.filter { !following($0).isAwaited }
    if !done.isEmpty { cache.local.release(Array(done)) }
  }

  /// Whether a view that the backend is asked for looks at a document, and whether one of them awaits its results.
  private func following(_ key: DocumentKey) -> (isFollowed: Bool, isAwaited: Bool) {
    views.following(key) { watch.targets[$0] != nil }
  }
}
