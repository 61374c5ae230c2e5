package import VestaFirestoreBackend
package import VestaFirestoreModel

/// Batches of writes, from the call of the application to the answer of the backend.
extension ClientMachine {
  /// Writes a batch.
  ///
  /// - Parameter callback: Called when the backend has answered; `nil` for none.
  package func write(_ mutations: [Mutation], at time: Timestamp, callback: CallbackID?) {
    takeBases(of: mutations)
    let (batch, changed) = local.write(mutations, at: time)
    if let callback { writeCallbacks[local.user, default: [:]][batch.id] = callback }
    raise(changed, event: nil)
    engineCache.refills = [:]
    fillPipeline()
    retryAfterOutage()
  }

  /// Tells a caller when everything that is pending now has been answered.
  package func waitForPendingWrites(_ callback: CallbackID) {
    guard let last = local.queue.batches.last else { return emit(.finish(callback, nil)) }
    pendingWritesCallbacks[last.id, default: []].append(callback)
    retryAfterOutage()
  }

  func acknowledge(_ answer: BatchAcknowledgement) {
    finish(answer.batch.id, error: nil)
    holdForViews(answer)
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
extension ClientMachine {
  func holdForViews(_ answer: BatchAcknowledgement) {
    guard !listenTargets.isEmpty, case .eager = store.policy else { return }
    for (key, version) in answer.versions {
      let (isFollowed, isAwaited) = following(key)
      if isAwaited { store.hold(key) }
      if isFollowed, version > store.lastRemoteSnapshotVersion { store.hold(key, until: version) }
    }
    store.releaseAcknowledged(upTo: store.lastRemoteSnapshotVersion, limit: tuning.acknowledgedDocuments)
  }

  /// Ends that for documents whose views have had results, or were removed.
  func releaseHeld() {
    let limit = listenTargets.isEmpty ? 0 : tuning.acknowledgedDocuments
    store.releaseAcknowledged(upTo: store.lastRemoteSnapshotVersion, limit: limit)
    if store.held.isEmpty { return }
    let done = store.held.filter { !following($0).isAwaited }
    if !done.isEmpty { local.release(Array(done)) }
  }

  /// Whether a view that the backend is asked for looks at a document, and whether one of them awaits its results.
  private func following(_ key: DocumentKey) -> (isFollowed: Bool, isAwaited: Bool) {
    var (isFollowed, isAwaited) = (false, false)
    viewIndex.forEach(lookingAt: key) { id in
      guard let view = views[id], listenTargets[view.target] != nil else { return }
      isFollowed = true
      if !view.view.isCurrent { isAwaited = true }
    }
    return (isFollowed, isAwaited)
  }
}
