package import VestaFirestoreBackend
package import VestaFirestoreModel

/// How a client of one database behaves.
package struct SyncOptions: Sendable {
  /// The garbage collection of the cache.
  package var garbagePolicy = LocalStore.GarbagePolicy.eager
  /// The prefix of the rows of this client in its store.
  package var persistenceKey = "firestore"
  /// The kind of link to the backend.
  ///
  /// Of an engine in this process the client keeps no copy of its documents: it reads them from the engine, and makes
  /// rows of pending writes only while the network is disabled.
  package var link = BackendLink.remote
  /// The figures at which the behavior of the client changes.
  package var tuning = SyncTuning()
  /// MD5; without it bloom filters are not used.
  package var digest: BloomFilter.Digest?
  /// The user at the start; `nil` for none.
  package var user: String?
  /// The context of calls.
  ///
  /// It is called before each call. Its argument says whether the last tokens were refused and new ones are needed.
  package var context: @Sendable (_ refreshesTokens: Bool) async throws -> CallContext = { _ in
    CallContext()
  }
  /// The time and the timers.
  package var clock = ServiceClock.system
  /// Called with what the operator should know, such as a damaged row of the cache.
  package var log: @Sendable (String) -> Void = { _ in }

  /// Options with defaults: a cache in memory, and no signed-in user.
  package init() {}
}
