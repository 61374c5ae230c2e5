internal import VestaConcurrency
internal import VestaCore
internal import VestaFirestoreSync

extension Firestore {
  /// Lets the client use the network again.
  public func enableNetwork() async throws { try await network(true) }

  /// Keeps the client from talking to the backend: listeners continue with the cache, and writes wait in the queue.
  public func disableNetwork() async throws { try await network(false) }

  /// Returns when the backend has accepted or refused all writes that are pending now.
  ///
  /// - Throws: ``FirestoreErrorCode/Code/cancelled`` when another user signs in before.
  public func waitForPendingWrites() async throws {
    do { try await client().waitForPendingWrites() } catch { throw FirestoreErrorCode.publicError(error) }
  }

  /// Ends the instance: reads that have begun are answered, listeners are removed, streams end, later calls fail, and
  /// pending writes stay in the cache for the next instance.
  ///
  /// From here on `Firestore.firestore()` returns a new instance, whose settings can be changed.
  public func terminate() async throws { await beginEnd()() }

  /// Removes everything from the cache, pending writes included.
  ///
  /// - Throws: ``FirestoreErrorCode/Code/failedPrecondition`` while the instance is running: terminate it first.
  public func clearPersistence() async throws {
    do { try await clearCache() } catch { throw FirestoreErrorCode.publicError(error) }
  }

  /// Calls a listener each time when all other listeners have the same state of the cache.
  ///
  /// - Parameter listener: Called on the queue of the settings.
  @preconcurrency
  @discardableResult
  public func addSnapshotsInSyncListener(_ listener: @escaping @Sendable () -> Void) -> any ListenerRegistration {
    let receiver = QueuedReceiver<Void>(queue: callbackQueue) { _ in listener() }
    guard let client = try? client() else { return VestaConcurrency.ListenerRegistration { receiver.silence() } }
    let registration = client.addSnapshotsInSyncListener(onEnd: nil) { receiver.post(()) }
    return VestaConcurrency.ListenerRegistration {
      receiver.silence()
      registration.remove()
    }
  }

  /// An event each time when all listeners have the same state of the cache.
  public var snapshotsInSync: AsyncStream<Void> {
    .events { sink in
      guard let client = try? client() else {
        sink.finish()
        return VestaConcurrency.ListenerRegistration {}
      }
      let registration = client.addSnapshotsInSyncListener(onEnd: { sink.finish() }) { sink.send(()) }
      return VestaConcurrency.ListenerRegistration { registration.remove() }
    }
  }

  /// Writes every step of the client to the log.
  public static func enableLogging(_ logging: Bool) {
    VestaConfiguration.shared.setLoggerLevel(logging ? .debug : .notice)
  }

  /// Talks to an emulator instead of the backend of the app's options.
  ///
  /// Call it before anything else.
  public func useEmulator(withHost host: String, port: Int) {
    precondition(!host.isEmpty, "Host cannot be nil or empty.")
    let settings = settings
    settings.host = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    settings.isSSLEnabled = false
    self.settings = settings
  }

  /// Manages the indexes of the cache; `nil` for a cache in memory.
  ///
  /// - Returns: Always the same object.
  public var persistentCacheIndexManager: PersistentCacheIndexManager? {
    guard settings.cacheSettings is PersistentCacheSettings else { return nil }
    return state.withLock { state in
      let manager = state.indexManager ?? PersistentCacheIndexManager(firestore: self)
      state.indexManager = manager
      return manager
    }
  }

  private func network(_ isEnabled: Bool) async throws {
    do { try await client().setNetworkEnabled(isEnabled) } catch { throw FirestoreErrorCode.publicError(error) }
  }
}

/// Manages the indexes over the cache.
///
/// They are made when queries need them unless this is switched off.
public final class PersistentCacheIndexManager: Sendable, Hashable {
  /// The instance keeps its manager.
  private weak let firestore: Firestore?

  init(firestore: Firestore) { self.firestore = firestore }

  private var client: SyncClient? { try? firestore?.client() }

  /// Makes indexes for queries that would read many documents of the cache without one; the default.
  public func enableIndexAutoCreation() { client?.setIndexAutoCreation(true) }

  /// Makes no more indexes; existing ones stay.
  public func disableIndexAutoCreation() { client?.setIndexAutoCreation(false) }

  /// Deletes all indexes over the cache.
  public func deleteAllIndexes() { client?.deleteAllIndexes() }

  /// Whether two are the manager of one instance.
  public static func == (left: PersistentCacheIndexManager, right: PersistentCacheIndexManager) -> Bool {
    left === right
  }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
