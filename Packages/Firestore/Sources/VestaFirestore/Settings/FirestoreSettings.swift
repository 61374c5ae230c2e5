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
    var host = defaultHost
    var isSSLEnabled = true
    var dispatchQueue = DispatchQueue.main
    var cacheSettings: any LocalCacheSettings = PersistentCacheSettings()

    private static let defaultHost = "firestore.googleapis.com"

    /// The address that the settings name; `nil` while the host is the default one, and the app's options decide.
    var origin: String? {
      if host == Self.defaultHost { return nil }
      let usualPort = isSSLEnabled ? ":443" : ":80"
      let name = host.hasSuffix(usualPort) ? String(host.dropLast(usualPort.count)) : host
      return (isSSLEnabled ? "https://" : "http://") + name.lowercased()
    }
  }

  private let state: Locked<Values>

  /// The default settings: a cache of 100 MiB on disk, callbacks on the main queue.
  public convenience init() { self.init(Values()) }

  init(_ values: Values) { state = Locked(values) }

  /// The values at this time.
  var values: Values { state.withLock { $0 } }

  /// The host of the backend, with a port such as `localhost:8080` unless it is the usual one.
  ///
  /// Another host than the default one is used in place of the address in the app's options. The cache belongs to it.
  public var host: String {
    get { values.host }
    set { state.withLock { $0.host = newValue } }
  }

  /// Whether the ``host`` is reached through TLS.
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
