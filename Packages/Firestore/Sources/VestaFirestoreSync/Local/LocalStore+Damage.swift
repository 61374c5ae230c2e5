import VestaFirestoreBackend
import VestaFirestoreModel

/// A cache whose rows cannot be read: it begins again, and the backend sends everything once more.
extension LocalStore {
  /// Forgets everything but the pending writes and the targets in use.
  mutating func discard() {
    let old = shown.remote
    shown.remote = RemoteDocuments(database: database)
    (shown.remote.makesIndexes, shown.remote.keepsIndexes) = (old.makesIndexes, old.keepsIndexes)
    shown.remote.countsBytes = old.countsBytes
    bundles = BundleCache()
    uses.discard()
    residence = CacheResidence()
    targets.discard()
    let batches = changes.batches
    changes = CacheChanges()
    changes.batches = batches
    changes.targets = Set(targets.active.keys)
    changes.globals = true
    clearedTags = CacheKey.cacheTags
  }
}
