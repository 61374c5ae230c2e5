import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaFirestoreService
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// What the random test of fetched documents runs.
extension FetchOracleTests {
  /// Fails some reads, and holds the answers to others at a gate, after the engine has given them.
  final class ShakyBackend: ForwardingFirestoreBackend {
    private let backend: any FirestoreBackend
    let answers = Gate(isOpen: true)
    let failures = Locked(0)

    init(_ backend: any FirestoreBackend) { self.backend = backend }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { backend }

    func batchGet(
      _ request: BatchGetDocumentsRequest, context: CallContext,
      receive: (BatchGetDocumentsResponse) async throws -> Void
    ) async throws {
      var responses: [BatchGetDocumentsResponse] = []
      try await backend.batchGet(request, context: context) { responses.append($0) }
      await answers.wait()
      let fails = failures.withLock { count in
        count -= 1
        return count >= 0
      }
      if fails { throw FirestoreServiceError(.unavailable, "Not now.") }
      for response in responses { try await receive(response) }
    }
  }

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
    let backend: ShakyBackend
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
      backend = ShakyBackend(world.engine)
      client = Self.client(backend, store, "alice")
    }

    static func client(_ backend: ShakyBackend, _ store: ModelStore?, _ user: String) -> SyncClient {
      var options = SyncOptions()
      options.link = .remote
      options.user = user
      if store != nil { options.garbagePolicy = .leastRecentlyUsed(bytes: nil) }
      return SyncClient(database: database, backend: backend, store: store, options: options)
    }

    /// What the engine has; the version of a missing document is the time of the read.
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
