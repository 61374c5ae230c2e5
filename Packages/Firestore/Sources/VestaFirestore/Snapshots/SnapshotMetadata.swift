/// The source of a snapshot's data.
public final class SnapshotMetadata: Sendable, Hashable {
  /// Whether the snapshot has writes that the backend has not accepted yet.
  public let hasPendingWrites: Bool
  /// Whether the data is from the cache and may be incomplete or outdated.
  public let isFromCache: Bool

  init(hasPendingWrites: Bool, isFromCache: Bool) {
    self.hasPendingWrites = hasPendingWrites
    self.isFromCache = isFromCache
  }

  /// Whether two snapshots have the same metadata.
  public static func == (left: SnapshotMetadata, right: SnapshotMetadata) -> Bool {
    left.hasPendingWrites == right.hasPendingWrites && left.isFromCache == right.isFromCache
  }

  /// Hashes the metadata.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(hasPendingWrites)
    hasher.combine(isFromCache)
  }
}
