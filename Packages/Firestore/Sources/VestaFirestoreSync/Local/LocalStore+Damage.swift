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
