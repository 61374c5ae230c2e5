import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel

/// The messages of the backend, and the current user.
extension ClientMachine {
  /// Takes a snapshot of the backend.
  func apply(_ event: RemoteEvent) {
    for (target, change) in event.targetChanges {
      if !change.added.isEmpty {
        limboResolutions[target]?.hasReceivedDocument = true
      } else if !change.removed.isEmpty {
        limboResolutions[target]?.hasReceivedDocument = false
      }
    }
    raise(local.apply(event), event: event)
    releaseHeld()
  }

  /// Takes the refusal of a target: its listeners fail; a document in limbo counts as absent.
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

  /// Takes a change of the online state.
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

  /// The documents of a target that the backend has sent.
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

  /// Makes another user the current one, or notes new credentials of the same.
  package func changeUser(_ user: String) {
    if UTF8String(user) != local.user {
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
}
