internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// The client beneath the public API: `SyncClient`, or a fake in tests.
///
/// Every method may be called from any thread. Receivers are called in order, with no lock held.
protocol FirestoreClient: Sendable {
  /// Whether reads are answered without a network.
  var answersLocally: Bool { get }

  /// Adds a listener.
  ///
  /// - Parameter onEnd: Called when the client ends before the listener is removed.
  func listen(
    _ query: LocalQuery, options: ListenOptions, onEnd: (@Sendable () -> Void)?,
    receive: @escaping @Sendable (Result<ViewSnapshot, FirestoreServiceError>) -> Void
  ) -> any ClientRegistration

  /// Returns a document of the cache, pending writes included.
  func cachedDocument(_ path: ResourcePath) async throws -> CachedDocument
  /// Returns the results of a query in the cache, pending writes included.
  func cachedResults(_ query: LocalQuery) async throws -> ViewSnapshot

  /// Returns the backend's document of now, pending writes included; `nil` where a listener must be used.
  func freshDocument(_ path: ResourcePath) async throws -> CachedDocument?
  /// Returns the backend's results of now, pending writes included; `nil` where a listener must be used.
  func freshResults(_ query: LocalQuery) async throws -> ViewSnapshot?

  /// Puts writes into the queue, in the order of the calls; listeners see them at once.
  func write(_ mutations: [Mutation]) -> any ClientWrite

  /// Reads documents from the backend, not from the cache.
  func lookup(_ paths: [ResourcePath]) async throws -> [CachedDocument]
  /// Sends writes to the backend, not through the queue.
  func commit(_ mutations: [Mutation]) async throws
  /// Computes figures of a query at the backend, by alias.
  func aggregate(_ query: LocalQuery, _ aggregations: [Aggregation]) async throws -> [String: Value]

  func setNetworkEnabled(_ isEnabled: Bool) async throws
  func waitForPendingWrites() async throws
  func addSnapshotsInSyncListener(
    onEnd: (@Sendable () -> Void)?, _ receive: @escaping @Sendable () -> Void
  ) -> any ClientRegistration

  func loadBundle(
    _ bytes: [UInt8], progress: @escaping @Sendable (BundleProgress) -> Void
  ) async throws -> BundleProgress
  func namedQuery(_ name: String) async throws -> LocalQuery?

  func setIndexAutoCreation(_ isEnabled: Bool)
  func deleteAllIndexes()

  /// Ends all listeners and closes the cache. Later calls fail.
  func shutdown() async
}

/// Removes what was added; only the first call does something.
protocol ClientRegistration: Sendable {
  func remove()
}

/// A write on its way.
protocol ClientWrite: Sendable {
  /// Returns when the write is in the durable queue of this client.
  func localCommit() async throws
  /// Returns when the backend has accepted the write; throws its refusal.
  func acknowledgement() async throws
}
