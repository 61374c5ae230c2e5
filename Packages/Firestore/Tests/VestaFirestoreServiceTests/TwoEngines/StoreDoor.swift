import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreService
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// One process's access to a store that others have open too: closing it closes nothing, and killing it ends the
/// process.
final class StoreDoor: CommitObservable {
  private struct State: Sendable {
    var isShut = false
    var writesLeft = Int.max
    var observations: [ListenerRegistration] = []
  }

  private let store: ModelStore
  private let state = Locked(State())

  /// Whether a commit is reported before it is acknowledged, as by the store of one process; its log is then
  /// sorted after the commits.
  let tellsBeforeAcknowledging: Bool

  init(_ store: ModelStore, tellsBeforeAcknowledging: Bool = false) {
    self.store = store
    self.tellsBeforeAcknowledging = tellsBeforeAcknowledging
  }

  /// Nothing that the process does reaches the store from now on, running writes included.
  func kill() { shut() }

  /// The process is killed in the middle of the write after `count` more.
  func kill(afterWrites count: Int) { state.withLock { $0.writesLeft = count } }

  var isShut: Bool { state.withLock { $0.isShut } }

  private func shut() {
    let observations = state.withLock { state in
      state.isShut = true
      defer { state.observations = [] }
      return state.observations
    }
    for observation in observations { observation.cancel() }
  }

  private func check(_ operation: String) throws {
    if state.withLock({ $0.isShut }) { throw StoreError(.closed, operation: operation, message: "The door is shut.") }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try check("read")
    return try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try check("write")
    return try await store.write { transaction in
      let result = try await body(transaction)
      let isLast = self.state.withLock { state in
        if state.writesLeft != .max { state.writesLeft -= 1 }
        return state.writesLeft < 0
      }
      if isLast { self.shut() }
      try self.check("write")
      return result
    }
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try check("raiseFloor")
    return try await store.raiseFloor(to: version)
  }

  func close() async throws { shut() }

  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    let observation = store.observeCommits(observer)
    state.withLock { $0.observations.append(observation) }
    return observation
  }

  var commits: AsyncStream<StoreVersion> { store.commits }
}

/// Access to a store that does not report its commits.
final class SilentDoor: OrderedStore {
  private let door: StoreDoor

  init(_ store: ModelStore) { door = StoreDoor(store) }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await door.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try await door.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await door.raiseFloor(to: version) }

  func close() async throws { try await door.close() }
}

/// Two engines on one store, as two processes would have it open.
func twoEngines(
  on store: ModelStore = ModelStore(), _ clock: ManualClock? = nil, isSilent: Bool = false,
  _ change: (inout FirestoreServiceOptions) -> Void = { _ in }
) -> [FirestoreEngine] {
  (0..<2).map { _ in
    let door: any OrderedStore = isSilent ? SilentDoor(store) : StoreDoor(store)
    return makeEngine(at: door, clock, change)
  }
}

/// An engine at a door, that makes an index as soon as a query lacks it.
func makeEngine(
  at door: any OrderedStore, _ clock: ManualClock? = nil, _ change: (inout FirestoreServiceOptions) -> Void = { _ in }
) -> FirestoreEngine {
  var options = FirestoreServiceOptions()
  if let clock { options.clock = clock.service } else { options.takeTime() }
  options.automaticIndexUses = 1
  options.automaticIndexesPerCollection = 1000
  options.pollInterval = .milliseconds(5)
  change(&options)
  return FirestoreEngine(store: door, options: options)
}

extension SpreadBackend {
  /// Spreads calls over engines on one store.
  init(_ engines: [FirestoreEngine], seed: UInt64) {
    self.init(engines, seed: seed) { engines[$0].serves(transaction: $1) }
  }
}
