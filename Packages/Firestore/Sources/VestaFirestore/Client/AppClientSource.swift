internal import VestaAppCheckInterop
internal import VestaAuthInterop
internal import VestaConcurrency
internal import VestaCore
internal import VestaCryptoInterop
internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync
internal import VestaStoreInterop

/// Makes the clients of an app's databases from what else is in the app.
final class AppClientSource: FirestoreClientSource {
  private let backend: any FirestoreBackend
  /// The backends of other addresses; `nil` where the backend is an engine in the process.
  private let source: (any FirestoreBackendSource)?
  private let monitor: (any NetworkMonitor)?
  private let auth: (any AuthInterop)?
  private let appCheck: (any AppCheckInterop)?
  private let digest: (@Sendable ([UInt8]) -> [UInt8])?
  /// The figures of the clients; tests bring small ones.
  private let tuning: SyncTuning
  private let isEmbedded: Bool
  /// One store for all databases of the app; opened at the first use.
  private let store: LazyResource<ClientStore>?

  init(_ container: ComponentContainer) throws {
    backend = try container.require((any FirestoreBackend).self)
    source = try container.find((any FirestoreBackendSource).self)
    auth = try container.find((any AuthInterop).self)
    appCheck = try container.find((any AppCheckInterop).self)
    digest = try container.find((any CryptoProvider).self).flatMap(Self.md5)
    tuning = try container.find(SyncTuning.self) ?? SyncTuning()
    isEmbedded = container.options.backend.kind == .embedded
    monitor = isEmbedded ? nil : try container.find((any NetworkMonitor).self)
    store = try container.find((any StoreProvider).self).map { stores in
      let closed = StoreError(.closed, operation: "open the cache", message: "The app was deleted.")
      return LazyResource(whenClosed: closed) { [weak app = container.app] in
        guard let app else { throw closed }
        return try await ClientStore(stores, in: await app.dataPathWhenFree()) { app.installationID }
      } close: {
        try await $0.close()
      }
    }
  }

  func makeClient(
    database: DatabaseName, settings: FirestoreSettings.Values, after predecessor: Latch?
  ) throws -> SyncClient {
    let origin = try origin(of: settings)
    let backend = try origin.flatMap { origin in try source?.backend(at: origin) } ?? backend
    var options = options()
    options.persistenceKey = Self.persistenceKey(database, at: origin)
    var kept: LazyResource<ClientStore>?
    (options.garbagePolicy, kept) = policy(settings)
    let open = kept.map { store in
      { @Sendable in
        // The client before this one writes rows until it has ended.
        await predecessor?.wait()
        return try await store.get().store
      }
    }
    let client = SyncClient(database: database, backend: backend, openStore: open, options: options)
    client.follow(auth, monitor)
    return client
  }

  private func options() -> SyncOptions {
    var options = SyncOptions()
    options.link = isEmbedded ? .embedded : .remote
    options.digest = digest
    options.tuning = tuning
    options.user = auth?.getUserID()
    options.log = { log.warning("I-FST000003", $0) }
    options.context = { [auth, appCheck] refreshes in
      try await Self.context(auth: auth, appCheck: appCheck, refreshes: refreshes)
    }
    return options
  }

  // MARK: Addresses

  /// The address that the settings name; `nil` for that of the app's options.
  private func origin(of settings: FirestoreSettings.Values) throws -> String? {
    guard let origin = settings.origin else { return nil }
    guard let source else {
      throw FirestoreErrorCode(
        .failedPrecondition,
        """
        The settings of this Firestore, or useEmulator, name \(origin), but the backend of its app is an engine in this \
        process. Configure the app with VestaOptions.backend = .emulator(host:port:) and FirestoreRemoteLibrary \
        (with FirebaseCompat: link FirebaseRemote and set VESTA_BACKEND=emulator:HOST:PORT), or leave \
        the address out.
        """)
    }
    return origin == source.origin ? nil : origin
  }

  /// The prefix of the rows of a database: a write for one backend is never sent to another.
  private static func persistenceKey(_ database: DatabaseName, at origin: String?) -> String {
    origin.map { "\(database.description) at \($0)" } ?? database.description
  }

  /// The garbage collection of the cache, and the store of its rows.
  private func policy(
    _ settings: FirestoreSettings.Values
  ) -> (LocalStore.GarbagePolicy, LazyResource<ClientStore>?) {
    func leastRecentlyUsed(_ bytes: Int64) -> LocalStore.GarbagePolicy {
      .leastRecentlyUsed(bytes: bytes == FirestoreCacheSizeUnlimited ? nil : Int(bytes))
    }
    switch settings.cacheSettings {
    case let settings as PersistentCacheSettings:
      return (isEmbedded ? .eager : leastRecentlyUsed(settings.sizeBytes), store)
    case let settings as MemoryCacheSettings:
      guard let collector = settings.garbageCollector as? MemoryLRUGCSettings, !isEmbedded else { return (.eager, nil) }
      return (leastRecentlyUsed(collector.sizeBytes), nil)
    default: return (.eager, nil)
    }
  }

  func clearCache(database: DatabaseName, settings: FirestoreSettings.Values) async throws {
    guard let store, settings.cacheSettings is PersistentCacheSettings else { return }
    let key = Self.persistenceKey(database, at: try origin(of: settings))
    try await SyncClient.clear(store.get().store, persistenceKey: key)
  }

  func close() async {
    do {
      try await store?.close()
    } catch {
      log.error("I-FST000004", "The store of the cache could not be closed: \(error)")
    }
  }

  private static func context(
    auth: (any AuthInterop)?, appCheck: (any AppCheckInterop)?, refreshes: Bool
  ) async throws -> CallContext {
    var context = CallContext()
    if let auth, let token = try await auth.getToken(forcingRefresh: refreshes) {
      context.caller = .credential(.idToken(token))
    }
    if let appCheck { context.appCheck = AppCheckState(await appCheck.getToken(forcingRefresh: refreshes).token) }
    return context
  }

  /// MD5 by a provider; `nil` where the system's policy bars it.
  private static func md5(_ crypto: any CryptoProvider) -> (@Sendable ([UInt8]) -> [UInt8])? {
    guard (try? crypto.digest(.md5, of: [])) != nil else { return nil }
    return { (try? crypto.digest(.md5, of: $0)) ?? [] }
  }
}

private let log = Logger(service: "VestaFirestore")
