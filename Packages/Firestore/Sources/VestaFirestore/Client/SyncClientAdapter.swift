internal import VestaAuthInterop
internal import VestaBytes
internal import VestaConcurrency
internal import VestaFirestoreBackend
internal import VestaFirestoreModel
internal import VestaFirestoreSync

/// The sync engine's client as the public API needs it, with the users of the app's Auth.
final class SyncClientAdapter: FirestoreClient {
  private let client: SyncClient
  private let users: VestaConcurrency.ListenerRegistration?
  private let changes: VestaConcurrency.ListenerRegistration?
  let answersLocally: Bool

  init(
    _ client: SyncClient, auth: (any AuthInterop)?, monitor: (any NetworkMonitor)? = nil, isEmbedded: Bool
  ) {
    self.client = client
    answersLocally = isEmbedded
    changes = monitor?.addChangeListener { [weak client] in client?.networkHasChanged() }
    let last = Locked(auth?.getUserID().map { UTF8String($0) })
    users = auth?.addTokenListener { [weak client] change in
      let user = change.userID.map { UTF8String($0) }
      let isSame = last.withLock { last in
        defer { last = user }
        return last == user
      }
      // An engine in the process asks for the token of each call: streams need not begin again for a new token.
      if isSame, isEmbedded { return }
      client?.changeUser(change.userID)
    }
  }

  func listen(
    _ query: LocalQuery, options: ListenOptions, onEnd: (@Sendable () -> Void)?,
    receive: @escaping @Sendable (Result<ViewSnapshot, FirestoreServiceError>) -> Void
  ) -> any ClientRegistration {
    client.listen(query, options: options, onEnd: onEnd, receive: receive)
  }

  func cachedDocument(_ path: ResourcePath) async throws -> CachedDocument { try await client.cachedDocument(path) }

  func cachedResults(_ query: LocalQuery) async throws -> ViewSnapshot { try await client.cachedResults(query) }

  func freshDocument(_ path: ResourcePath) async throws -> CachedDocument? { try await client.freshDocument(path) }

  func freshResults(_ query: LocalQuery) async throws -> ViewSnapshot? { try await client.freshResults(query) }

  func write(_ mutations: [Mutation]) -> any ClientWrite { client.write(mutations) }

  func lookup(_ paths: [ResourcePath]) async throws -> [CachedDocument] { try await client.lookup(paths) }

  func commit(_ mutations: [Mutation]) async throws { try await client.commit(mutations) }

  func aggregate(_ query: LocalQuery, _ aggregations: [Aggregation]) async throws -> [String: Value] {
    try await client.aggregate(query, aggregations)
  }

  func setNetworkEnabled(_ isEnabled: Bool) async throws { await client.setNetworkEnabled(isEnabled) }

  func waitForPendingWrites() async throws { try await client.waitForPendingWrites() }

  func addSnapshotsInSyncListener(
    onEnd: (@Sendable () -> Void)?, _ receive: @escaping @Sendable () -> Void
  ) -> any ClientRegistration {
    client.addSnapshotsInSyncListener(onEnd: onEnd, receive)
  }

  func loadBundle(
    _ bytes: [UInt8], progress: @escaping @Sendable (BundleProgress) -> Void
  ) async throws -> BundleProgress {
    try await client.loadBundle(bytes, progress: progress)
  }

  func namedQuery(_ name: String) async throws -> LocalQuery? { try await client.namedQuery(name) }

  func setIndexAutoCreation(_ isEnabled: Bool) { client.setIndexAutoCreation(isEnabled) }

  func deleteAllIndexes() { client.deleteAllIndexes() }

  func shutdown() async {
    users?.cancel()
    changes?.cancel()
    await client.shutdown()
  }
}

extension SyncRegistration: ClientRegistration {}

extension VestaFirestoreSync.PendingWrite: ClientWrite {
  func acknowledgement() async throws { try await acknowledged() }
}
