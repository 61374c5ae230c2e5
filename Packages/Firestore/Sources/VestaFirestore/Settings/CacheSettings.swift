public import Foundation

/// The size of a cache that is never collected.
public let FirestoreCacheSizeUnlimited: Int64 = -1

/// How the cache is kept: ``PersistentCacheSettings`` or ``MemoryCacheSettings``.
public protocol LocalCacheSettings: Sendable {}

/// How a cache in memory is collected: ``MemoryEagerGCSetting`` or ``MemoryLRUGCSettings``.
public protocol MemoryGarbageCollectorSettings: Sendable {}

/// A cache on disk, which survives a restart; the default.
public final class PersistentCacheSettings: LocalCacheSettings, Hashable {
  /// The size above which the documents that were not used for longest are collected; -1 for never.
  let sizeBytes: Int64

  /// A cache of 100 MiB.
  public convenience init() { self.init(sizeBytes: NSNumber(value: CacheSize.standard)) }

  /// A cache of a size.
  ///
  /// - Parameter sizeBytes: At least 1 MiB, or ``FirestoreCacheSizeUnlimited``; anything else stops the program.
  public init(sizeBytes: NSNumber) { self.sizeBytes = CacheSize.checked(sizeBytes) }

  /// Whether two settings are the same.
  public static func == (left: PersistentCacheSettings, right: PersistentCacheSettings) -> Bool {
    left.sizeBytes == right.sizeBytes
  }

  /// Hashes the size.
  public func hash(into hasher: inout Hasher) { hasher.combine(sizeBytes) }
}

/// A cache in memory, which ends with the program.
public final class MemoryCacheSettings: LocalCacheSettings {
  let garbageCollector: any MemoryGarbageCollectorSettings

  /// A cache that forgets documents as soon as they have no listener.
  public convenience init() { self.init(garbageCollectorSettings: MemoryEagerGCSetting()) }

  /// A cache with a garbage collector.
  public init(garbageCollectorSettings: any MemoryGarbageCollectorSettings) {
    garbageCollector = garbageCollectorSettings
  }
}

/// Forgets documents as soon as they have neither listeners nor pending writes.
public final class MemoryEagerGCSetting: MemoryGarbageCollectorSettings {
  /// The setting; it has no options.
  public init() {}
}

/// Keeps documents up to a size, and collects the least recently used ones.
public final class MemoryLRUGCSettings: MemoryGarbageCollectorSettings {
  let sizeBytes: Int64

  /// A cache of 100 MiB.
  public convenience init() { self.init(sizeBytes: NSNumber(value: CacheSize.standard)) }

  /// A cache of a size.
  ///
  /// - Parameter sizeBytes: At least 1 MiB, or ``FirestoreCacheSizeUnlimited``; anything else stops the program.
  public init(sizeBytes: NSNumber) { self.sizeBytes = CacheSize.checked(sizeBytes) }
}

enum CacheSize {
  static let standard: Int64 = 100 * 1024 * 1024
  static let minimum: Int64 = 1024 * 1024

  static func checked(_ size: NSNumber) -> Int64 {
    let bytes = size.int64Value
    precondition(
      bytes == FirestoreCacheSizeUnlimited || bytes >= minimum,
      "Cache size must be set to at least \(minimum) bytes")
    return bytes
  }
}
