import VestaFirestoreBackend
import VestaFirestoreModel

/// The first results of a target, as they were read from the engine in the process.
struct FirstResults {
  let target: Int32
  /// Each document of the target; of a document's target, also its absence.
  let documents: [CachedDocument]
  let update: TargetUpdate
  /// The snapshot that shows the results; `nil` as long as none does.
  var snapshot: ViewSnapshot?

  init(_ documents: [CachedDocument], of target: Int32, version: Timestamp) {
    self.target = target
    var update = TargetUpdate()
    update.isCurrent = true
    update.added.reserveCapacity(documents.count)
    self.documents = documents.map { document in
      var document = document
      document.readTime = version
      if document.isFound { update.added.insert(document.path) }
      return document
    }
    self.update = update
  }

  /// The results as an event.
  ///
  /// Without a separate version: the last snapshot's version stays.
  var event: RemoteEvent {
    var event = RemoteEvent(version: .zero)
    event.documentUpdates = Dictionary(documents.map { ($0.path, $0) }) { _, new in new }
    var update = update
    if event.documentUpdates.count == documents.count { update.order = documents.map(\.path) }
    event.targetChanges[target] = update
    return event
  }
}

/// First results reach their listener before the cache takes them.
///
/// The cache takes them as soon as anything looks at it. Until then nothing can tell the difference, and a listener
/// that leaves after its first snapshot has cost the cache nothing.
///
/// Worked example: a listener of `rooms` gets 20 documents. A write to one of them looks at the cache, which takes the
/// documents first. Had the listener left before, they would have been dropped.
extension ClientMachine {
  /// Shows first results, which the cache takes later.
  ///
  /// - Returns: Whether that is possible: no other view shows anything of their collection, the cache has nothing of
  ///   it, and no write of any user is pending. The results are shown as they were read then.
  func showDeferred(_ results: FirstResults) -> Bool {
    guard let ids = queriesByTarget[results.target], ids.count == 1, let view = views[ids[0]],
      canDefer(view.query),
      let outcome = views[ids[0]]?.view.applyFirst(
        results.documents, results.update, version: seenVersion(begun: view.begun))
    else { return false }
    takeDeferred()
    deferred = results
    deferred?.snapshot = outcome.snapshot
    unsettle(ids[0])
    track(outcome.limboChanges, results.target)
    settleToken(of: results.target)
    emit(events.receive([outcome.snapshot].compactMap { $0 }))
    return true
  }

  private func canDefer(_ query: LocalQuery) -> Bool {
    guard case .eager = store.policy, !query.isDocument, query.collectionGroup == nil else { return false }
    // Documents that another user has written stay in the cache.
    return store.queues.values.allSatisfy(\.isEmpty) && !store.hasOverlays && viewIndex.isAlone(in: query.path)
      && store.documents.documents(in: query.path).isEmpty
  }

  /// Lets the cache take the results that wait.
  func takeDeferred() {
    guard let results = deferred else { return }
    deferred = nil
    _ = store.apply(results.event)
    store.noteViews(results.snapshot.map { [LocalStore.ViewReferences($0, target: results.target)] } ?? [])
  }

  /// Forgets the results of a target without listeners.
  func dropDeferred(_ target: Int32) { if deferred?.target == target { deferred = nil } }
}
