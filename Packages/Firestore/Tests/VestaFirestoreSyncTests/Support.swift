import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService
import VestaFirestoreSync
import VestaStoreInterop
import VestaStoreInteropFakes

let database = DatabaseName(project: "demo")

func path(_ text: String) -> ResourcePath { ResourcePath(splitting: text) }

func query(_ collection: String, _ filters: [Filter] = [], limit: Int? = nil) throws -> LocalQuery {
  try LocalQuery(database: database, path: path(collection), filters: filters, limit: limit)
}

func set(_ document: String, _ fields: MapValue) -> Mutation { Mutation(path(document), .set(fields)) }

/// An engine in memory, and clients of it.
struct World {
  let engine: FirestoreEngine
  let engineStore = ModelStore()

  init() { engine = FirestoreEngine(store: engineStore) }

  func client(
    store: (any OrderedStore)? = nil, isEmbedded: Bool = false, _ change: (inout SyncOptions) -> Void = { _ in }
  ) -> SyncClient {
    var options = SyncOptions()
    options.link = isEmbedded ? .embedded : .remote
    if store != nil, !isEmbedded { options.garbagePolicy = .leastRecentlyUsed(bytes: nil) }
    change(&options)
    return SyncClient(database: database, backend: engine, store: store, options: options)
  }
}

/// The events of a listener, with a way to wait for more.
final class Received: Sendable {
  private struct State {
    var snapshots: [ViewSnapshot] = []
    var errors: [FirestoreServiceError] = []
    var waiters:
      [(condition: @Sendable (ViewSnapshot) -> Bool, continuation: CheckedContinuation<ViewSnapshot, any Error>)] = []
  }

  private let state = Locked(State())
  private let keepsAll: Bool

  /// - Parameter keepsAll: Whether all snapshots are kept, or the last one alone.
  init(keepsAll: Bool = true) { self.keepsAll = keepsAll }

  var snapshots: [ViewSnapshot] { state.withLock { $0.snapshots } }
  var errors: [FirestoreServiceError] { state.withLock { $0.errors } }

  func receive(_ result: Result<ViewSnapshot, FirestoreServiceError>) {
    switch result {
    case .success(let snapshot):
      let ready = state.withLock { state in
        if !keepsAll { state.snapshots = [] }
        state.snapshots.append(snapshot)
        let ready = state.waiters.filter { $0.condition(snapshot) }.map(\.continuation)
        state.waiters.removeAll { $0.condition(snapshot) }
        return ready
      }
      for continuation in ready { continuation.resume(returning: snapshot) }
    case .failure(let error):
      let waiters = state.withLock { state in
        state.errors.append(error)
        defer { state.waiters = [] }
        return state.waiters.map(\.continuation)
      }
      for continuation in waiters { continuation.resume(throwing: error) }
    }
  }

  /// The latest snapshot that satisfies a condition, now or later.
  ///
  /// - Throws: The failure of the listener, also one from before.
  func first(_ condition: @escaping @Sendable (ViewSnapshot) -> Bool) async throws -> ViewSnapshot {
    try await withCheckedThrowingContinuation { continuation in
      let found = state.withLock { state -> Result<ViewSnapshot, any Error>? in
        if let last = state.snapshots.last, condition(last) { return .success(last) }
        if let error = state.errors.last { return .failure(error) }
        state.waiters.append((condition, continuation))
        return nil
      }
      if let found { continuation.resume(with: found) }
    }
  }
}

extension ViewSnapshot {
  /// The last segments of the results' paths, in order.
  var ids: [String] { documents.map(\.path.lastSegment) }
}
