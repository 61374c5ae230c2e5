import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaFirestoreService
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// One history of the random test of fetched documents.
extension FetchOracleTests {
  struct Fetch {
    let document: String
    /// The version that the answer must have at least.
    var floor: Timestamp
    /// Whether the answer cannot have been taken yet.
    var isHeld: Bool
    let task: Task<CachedDocument?, any Error>
    var isCancelled = false
  }

  struct Own {
    let mutation: Mutation
    let number: Int64

    /// Whether a document shows this write.
    func isShown(in cached: CachedDocument) -> Bool {
      if case .unknown = cached.contents { return !cached.hasLocalMutations }
      switch mutation.change {
      case .delete: return cached.isMissing
      case .patch: return cached.fields?["m"] == .integer(number)
      default: return cached.fields?["n"] == .integer(number) && cached.fields?["m"] == nil
      }
    }
  }

  /// Random uses of one client, and what they must show.
  struct Run {
    let seed: UInt64
    let world = World()
    let backend: HeldReadsBackend
    let store: ModelStore?
    var client: SyncClient
    var random: SplitMix
    var user = "alice"
    var isOnline = true
    var isHolding = false
    var number: Int64 = 0
    /// Versions that the cache has had.
    var floors: [String: Timestamp] = [:]
    /// The last write of a document by a user without a network.
    var offline: [String: [String: Own]] = [:]
    var fetches: [Fetch] = []
    var listeners: [ListenerRegistration] = []
    var writes: [SyncWrite] = []
    var taken = 0
    let documents = ["rooms/a", "rooms/b", "rooms/c", "rooms/d"]

    init(seed: UInt64, isDurable: Bool) {
      self.seed = seed
      random = SplitMix(seed: seed)
      store = isDurable ? ModelStore() : nil
      backend = HeldReadsBackend(world.engine)
      client = Self.client(backend, store, "alice")
    }

    static func client(_ backend: HeldReadsBackend, _ store: ModelStore?, _ user: String) -> SyncClient {
      var options = SyncOptions()
      options.link = .remote
      options.user = user
      if store != nil { options.garbagePolicy = .leastRecentlyUsed(bytes: nil) }
      return SyncClient(database: database, backend: backend, store: store, options: options)
    }

    /// The document as the engine has it; the version of a missing one is the time of the read.
    func truth(_ document: String, _ consistency: ReadConsistency = .latest) async throws -> CachedDocument {
      let name = ResourceName(database: database, path: path(document))
      let request = BatchGetDocumentsRequest(
        database: database.description, documents: [name.description], consistency: consistency)
      var result = CachedDocument(name, .missing)
      try await world.engine.batchGet(request, context: .owner) { response in
        let time = response.readTime ?? .zero
        if case .found(let found)? = response.result {
          result = CachedDocument(found, at: path(document), readTime: time)
        } else {
          result = CachedDocument(name, .missing, version: time, readTime: time)
        }
      }
      return result
    }
  }
}
