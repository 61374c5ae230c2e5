import VestaFirestoreBackend
import VestaFirestoreModel

/// A cache whose rows cannot be read: it begins again, and the backend sends everything once more.
extension LocalStore {
  /// Forgets everything but the pending writes and the targets in use.
  mutating func discard() {
    let settings = (documents.makesIndexes, documents.keepsIndexes, documents.countsBytes)
    documents = RemoteDocuments(database: database)
    (documents.makesIndexes, documents.keepsIndexes, documents.countsBytes) = settings
    bundles = BundleCache()
    sequenceNumbers = [:]
    orphans = []
    residence = CacheResidence()
    targets = TargetCache(
      records: [], documents: [], highestID: targets.highestID, lastVersion: targets.lastRemoteSnapshotVersion)
    for (id, record) in active {
      var fresh = record.resuming(at: [], version: .zero)
      fresh.lastLimboFreeVersion = .zero
      active[id] = fresh
      targets.save(fresh)
    }
    let batches = changes.batches
    changes = CacheChanges()
    changes.batches = batches
    changes.targets = Set(active.keys)
    changes.globals = true
    clearedTags = CacheKey.cacheTags
  }
}

extension ClientMachine {
  /// Begins the cache again: what views show stays, and their targets are fetched again.
  package func discardCache() {
    local.discard()
    var event = RemoteEvent(version: .zero)
    for (id, record) in listenTargets where record.purpose != .limboResolution {
      var update = TargetUpdate()
      update.removed = remoteKeys(of: id)
      event.targetChanges[id] = update
      event.targetMismatches[id] = .existenceFilterMismatch
      progress.forget(id)
      listenTargets[id] = record.resuming(at: [], version: .zero)
    }
    apply(event)
    restartNetwork()
  }

  /// Deletes the indexes over the cache.
  package func deleteIndexes() {
    local.documents.deleteIndexes()
    local.clearedTags += CacheKey.indexTags
  }

  /// The beginnings of keys whose rows are to be deleted before the rows that have changed are written.
  package func takeClearedPrefixes() -> [[UInt8]] {
    defer { store.clearedTags = [] }
    return configuration.keepsOnlyPendingWrites ? [] : store.clearedTags.map { [$0] }
  }
}
