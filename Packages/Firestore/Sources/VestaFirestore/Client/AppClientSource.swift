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
  private let auth: (any AuthInterop)?
  private let appCheck: (any AppCheckInterop)?
  private let digest: (@Sendable ([UInt8]) -> [UInt8])?
  private let isEmbedded: Bool
  /// One store for all databases of the app; opened at the first use.
  private let store: LazyResource<ClientStore>?

  init(_ container: ComponentContainer) throws {
    backend = try container.require((any FirestoreBackend).self)
    auth = try container.find((any AuthInterop).self)
    appCheck = try container.find((any AppCheckInterop).self)
    digest = try container.find((any CryptoProvider).self).flatMap(Self.md5)
    if case .embedded = container.options.backend { isEmbedded = true } else { isEmbedded = false }
    let app = container.app
    store = try container.find((any StoreProvider).self).map { stores in
      let closed = StoreError(.closed, operation: "open the cache", message: "The app was deleted.")
      return LazyResource(whenClosed: closed) { [weak app] in
        guard let app else { throw closed }
        return try await ClientStore(stores, in: await app.dataPathWhenFree()) { app.installationID }
      } close: {
        try await $0.close()
      }
    }
  }

  func makeClient(
    database: DatabaseName, settings: FirestoreSettings.Values, after predecessor: Latch?
  ) throws -> any FirestoreClient {
    var options = SyncOptions()
    options.isEmbedded = isEmbedded
    options.persistenceKey = database.description
    options.digest = digest
    options.user = auth?.getUserID()
    options.log = { log.warning("I-FST000003", $0) }
    options.context = { [auth, appCheck] refreshes in
      try await Self.context(auth: auth, appCheck: appCheck, refreshes: refreshes)
    }
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
    return SyncClientAdapter(client, auth: auth, isEmbedded: isEmbedded)
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
    try await SyncClient.clear(store.get().store, persistenceKey: database.description)
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
