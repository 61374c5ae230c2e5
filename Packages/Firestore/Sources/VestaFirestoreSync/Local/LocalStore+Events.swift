import VestaFirestoreBackend
package import VestaFirestoreModel

/// Messages of the backend: snapshots of the watch stream.
extension LocalStore {
  /// Takes a snapshot into the cache.
  ///
  /// - Returns: The documents that have changed, with the pending writes on top.
  package mutating func apply(_ event: RemoteEvent) -> [DocumentKey: CachedDocument] {
    beginTransaction()
    for (id, change) in event.targetChanges { apply(change, to: id, event) }
    for key in event.documentUpdates.keys where event.resolvedLimboDocuments.contains(key) {
      uses.noteResolved(key, isReferenced: targets.contains(key) || shown.writes.contains(key))
    }
    let isAsSent = !shown.writes.hasOverlays && unfounded.isEmpty
    let changed = take(event.documentUpdates)
    if event.version > .zero, event.version >= targets.lastRemoteSnapshotVersion {
      targets.lastRemoteSnapshotVersion = event.version
      changes.globals = true
    }
    // Views are notified before the transaction ends: unreferenced documents leave the cache then.
    var result = isAsSent ? asSent(changed, of: event.documentUpdates) : shown.documents(changed)
    if changed.count < event.documentUpdates.count { tell(known: event.documentUpdates, &result) }
    endTransaction()
    return result
  }

  /// Adds the documents that the cache had already as they were sent, from a read of the engine, say: a view may show
  /// an earlier state.
  private func tell(
    known updates: [DocumentKey: CachedDocument], _ result: inout [DocumentKey: CachedDocument]
  ) {
    for (key, document) in updates where result[key] == nil {
      if shown.remote.known(key)?.version == document.version { result[key] = shown.document(key) }
    }
  }

  /// The documents that have changed, without pending writes: most of the time they are as they were sent.
  private func asSent(
    _ changed: [DocumentKey], of updates: [DocumentKey: CachedDocument]
  ) -> [DocumentKey: CachedDocument] {
    let isAsSent =
      changed.count == updates.count
      && updates.values.allSatisfy { !($0.isMissing && $0.version == .zero) }
    return isAsSent ? updates : shown.documents(changed)
  }

  /// Notes how far a target in use has been followed, without a change of its documents.
  mutating func resume(_ id: Int32, at progress: TargetRecord) {
    guard let old = targets.active[id] else { return }
    var record = old.resuming(at: progress.resumeToken, version: progress.snapshotVersion)
    record.sequenceNumber = uses.number
    targets.update(record)
    keepIfNeeded(record, before: old, change: nil)
  }

  private mutating func apply(_ change: TargetUpdate, to id: Int32, _ event: RemoteEvent) {
    guard let old = targets.active[id] else { return }
    for key in change.removed {
      targets.remove(key, from: id)
      note(key, of: id)
      uses.dereference(key)
    }
    targets.insert(change.added, into: id)
    if rows.hasDocuments { for key in change.added { note(key, of: id) } }
    uses.touch(change.added)
    var record = old
    record.sequenceNumber = uses.number
    if event.targetMismatches[id] != nil {
      record = record.resuming(at: [], version: .zero)
      record.lastLimboFreeVersion = .zero
    } else if !change.resumeToken.isEmpty {
      record = record.resuming(at: change.resumeToken, version: event.version)
    }
    targets.update(record)
    keepIfNeeded(record, before: old, change: change)
  }

  /// Takes newer documents into the cache; overlays follow where a document begins or ceases to exist.
  ///
  /// - Returns: The documents that have changed.
  mutating func take(_ updates: [DocumentKey: CachedDocument]) -> [DocumentKey] {
    var changed: [DocumentKey] = []
    var switched: [DocumentKey] = []
    for (key, document) in updates {
      guard let existing = shown.remote.known(key) else {
        if document.isFound { switched.append(key) }
        if document.isMissing, document.version == .zero { remove(key) } else { insert(document) }
        changed.append(key)
        continue
      }
      if document.isFound != existing.isFound { switched.append(key) }
      if document.isMissing, document.version == .zero {
        remove(key)
        changed.append(key)
      } else if !existing.isValid || document.version > existing.version
        || document.version == existing.version && existing.hasCommittedMutations
      {
        insert(document)
        changed.append(key)
      } else if document.version < existing.version, let completed = unfounded.complete(existing, with: document) {
        insert(completed)
        changed.append(key)
      }
    }
    shown.recalculateOverlays(ofSwitched: switched)
    return changed
  }

  /// Notes that a document has entered or left a target.
  mutating func note(_ key: DocumentKey, of target: Int32) {
    if rows.hasDocuments { changes.targetDocuments.insert(.init(id: target, key: key)) }
  }

  mutating func insert(_ document: CachedDocument) {
    if !document.hasCommittedMutations || document.isCompleted { unfounded.remove(document.path) }
    shown.remote.insert(document)
    contents += 1
    if rows.hasDocuments { changes.documents.insert(document.path) }
    changes.globals = true
    uses.noteStored(
      document.path, isReferenced: targets.contains(document.path) || shown.writes.contains(document.path))
  }

  mutating func remove(_ key: DocumentKey) {
    unfounded.remove(key)
    shown.remote.remove(key)
    contents += 1
    if rows.hasDocuments { changes.documents.insert(key) }
    changes.globals = true
    uses.remove(key, mayHaveRow: !residence.isComplete)
  }
}
