public import Dispatch
internal import Foundation
internal import VestaConcurrency

/// The settings of a ``Firestore``, which takes a copy of them when they are assigned.
///
/// ```swift
/// let settings = FirestoreSettings()
/// settings.cacheSettings = MemoryCacheSettings()
/// Firestore.firestore().settings = settings
/// ```
public final class FirestoreSettings: Sendable {
  /// The values, which can be set from any thread.
  struct Values: Sendable {
    var host = "firestore.googleapis.com"
    var isSSLEnabled = true
    var dispatchQueue = DispatchQueue.main
    var cacheSettings: any LocalCacheSettings = PersistentCacheSettings()
  }

  private let state: Locked<Values>

  /// The default settings: a cache of 100 MiB on disk, callbacks on the main queue.
  public convenience init() { self.init(Values()) }

  init(_ values: Values) { state = Locked(values) }

  /// The values at this time.
  var values: Values { state.withLock { $0 } }

  /// The host of the backend, for remote backends.
  public var host: String {
    get { values.host }
    set { state.withLock { $0.host = newValue } }
  }

  /// Whether a remote backend is reached through TLS.
  public var isSSLEnabled: Bool {
    get { values.isSSLEnabled }
    set { state.withLock { $0.isSSLEnabled = newValue } }
  }

  /// The queue of listeners and completion handlers.
  public var dispatchQueue: DispatchQueue {
    get { values.dispatchQueue }
    set { state.withLock { $0.dispatchQueue = newValue } }
  }

  /// How the cache is kept.
  public var cacheSettings: any LocalCacheSettings {
    get { values.cacheSettings }
    set { state.withLock { $0.cacheSettings = newValue } }
  }

  /// Whether the cache is on disk.
  @available(*, deprecated, message: "Use cacheSettings with PersistentCacheSettings or MemoryCacheSettings.")
  public var isPersistenceEnabled: Bool {
    get { values.cacheSettings is PersistentCacheSettings }
    set {
      state.withLock { $0.cacheSettings = newValue ? PersistentCacheSettings() : MemoryCacheSettings() }
    }
  }

  /// The size of the cache on disk, or above which a cache in memory is collected.
  @available(*, deprecated, message: "Use cacheSettings with PersistentCacheSettings or MemoryLRUGCSettings.")
  public var cacheSizeBytes: Int64 {
    get {
      switch values.cacheSettings {
      case let settings as PersistentCacheSettings: settings.sizeBytes
      case let settings as MemoryCacheSettings:
        (settings.garbageCollector as? MemoryLRUGCSettings)?.sizeBytes ?? CacheSize.standard
      default: CacheSize.standard
      }
    }
    set {
      let size = NSNumber(value: newValue)
      state.withLock { values in
        if values.cacheSettings is PersistentCacheSettings {
          values.cacheSettings = PersistentCacheSettings(sizeBytes: size)
        } else {
          values.cacheSettings = MemoryCacheSettings(garbageCollectorSettings: MemoryLRUGCSettings(sizeBytes: size))
        }
      }
    }
  }
}
