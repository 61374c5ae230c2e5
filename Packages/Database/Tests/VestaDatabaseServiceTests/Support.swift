import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// A connection that keeps what it is sent, and what its listens show.
final class TestClient: Sendable {
  private struct State {
    var replies: [Int: DatabaseReply] = [:]
    var waiting: [Int: CheckedContinuation<DatabaseReply, Never>] = [:]
    var nextID = 1
    var nodes: [Int: DatabaseNode] = [:]
    var places: [Int: (path: DatabasePath, isTagged: Bool)] = [:]
    var messages: [DatabaseServerMessage] = []
  }

  private let state = Locked(State())
  private let box = Locked<(any DatabaseConnection)?>(nil)
  private let closings = Log<String>()

  init(
    _ engine: DatabaseEngine, namespace: String = "test", lastSession: String? = nil,
    context: CallContext = CallContext()
  ) {
    let request = DatabaseConnectRequest(namespace: namespace, lastSession: lastSession, context: context)
    let connection = engine.connect(request) { [weak self] message in self?.receive(message) }
    box.withLock { $0 = connection }
  }

  var messages: [DatabaseServerMessage] { state.withLock { $0.messages } }
  /// The session that the engine has greeted with; `nil` before that.
  var session: String? {
    messages.lazy.compactMap { message in if case .hello(let hello) = message { hello.session } else { nil } }.first
  }
  func node(tag: Int) -> DatabaseNode { state.withLock { $0.nodes[tag] ?? .empty } }
  func close() { box.withLock { $0 }?.close() }

  /// Waits until the engine has closed the connection.
  func closed() async {
    await closings.wait { !$0.isEmpty }
  }

  func send(_ request: DatabaseRequest) -> Int {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    box.withLock { $0 }?.send(request, id: id)
    return id
  }

  @discardableResult
  func call(_ request: DatabaseRequest) async -> DatabaseReply { await reply(send(request)) }

  func reply(_ id: Int) async -> DatabaseReply {
    await withCheckedContinuation { continuation in
      let reply = state.withLock { state in
        if let reply = state.replies[id] { return Optional(reply) }
        state.waiting[id] = continuation
        return nil
      }
      if let reply { continuation.resume(returning: reply) }
    }
  }

  /// Listens under a tag of the test's own; a listen to everything has one here, too, and none on the wire.
  @discardableResult
  func listen(_ path: DatabasePath, _ spec: DatabaseQuerySpec = .all, tag: Int, hash: String = "") async
    -> DatabaseReply
  {
    state.withLock { $0.places[tag] = (path, !spec.loadsAllData) }
    let wireTag = spec.loadsAllData ? nil : tag
    return await call(.listen(DatabaseListen(path: path, spec: spec, tag: wireTag, hash: hash)))
  }

  /// Listens without waiting for the reply.
  func startListen(_ path: DatabasePath, _ spec: DatabaseQuerySpec, tag: Int) -> Int {
    state.withLock { $0.places[tag] = (path, !spec.loadsAllData) }
    return send(.listen(DatabaseListen(path: path, spec: spec, tag: spec.loadsAllData ? nil : tag)))
  }

  /// Ignores the data of a listen from now on.
  func forget(_ tag: Int) { state.withLock { $0.places[tag] = nil } }

  /// Whether the engine has closed the connection.
  var isClosed: Bool { !closings.entries.isEmpty }

  func put(_ path: DatabasePath, _ node: DatabaseNode, hash: String? = nil) async -> DatabaseReply {
    await call(.put(path, node, hash: hash))
  }

  func get(_ path: DatabasePath, _ spec: DatabaseQuerySpec = .all) async -> DatabaseNode {
    await call(.get(path, spec)).node
  }

  private func receive(_ message: DatabaseServerMessage) {
    let continuation = state.withLock { state -> CheckedContinuation<DatabaseReply, Never>? in
      state.messages.append(message)
      switch message {
      case .reply(let id, let reply):
        state.replies[id] = reply
        return state.waiting.removeValue(forKey: id)
      case .data(let path, let node, let tag): Self.apply([DatabasePathValue(path, node)], tag, &state)
      case .merge(let path, let values, let tag):
        Self.apply(values.map { DatabasePathValue(path.appending($0.path), $0.node) }, tag, &state)
      default: break
      }
      return nil
    }
    if let continuation, case .reply(_, let reply) = message { continuation.resume(returning: reply) }
    if case .closed(let reason) = message { closings.add(reason) }
  }

  private static func apply(_ values: [DatabasePathValue], _ tag: Int?, _ state: inout State) {
    for (number, place) in state.places where place.isTagged ? tag == number : tag == nil {
      for value in values {
        guard let relative = place.path.relative(value.path) else { continue }
        state.nodes[number] = (state.nodes[number] ?? .empty).setting(relative, to: value.node)
      }
    }
  }
}

/// The reads of a store, which wait while a gate is closed.
final class StoreReads: Sendable {
  let gate = Gate(isOpen: true)
  /// The reads that have begun.
  let begun = Log<Int>()

  init(of store: HookedStore) {
    store.hook { [gate, begun] step in
      guard step == .snapshot else { return }
      begun.add(begun.entries.count)
      await gate.wait()
    }
  }
}

extension HookedStore {
  /// How many rows, scans and changes have passed through.
  var entries: Int {
    let counts = counts
    return counts.rowsRead + counts.scans + counts.rowsScanned + counts.put + counts.deleted
  }
}

/// A store that notes how many entries each transaction touches, and whose transactions fail when the test says so.
final class FaultyStore: CommitObservable {
  private let store: any CommitObservable
  let sizes = Log<Int>()
  /// How many transactions may still be carried out; `nil` for all.
  let allowed = Locked<Int?>(nil)
  /// How many of the next transactions fail.
  let failures = Locked(0)
  /// Whether transactions are stored and yet reported as of unknown outcome.
  let unknown = Locked(false)

  init(_ store: any CommitObservable) { self.store = store }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let isRefused = allowed.withLock { allowed -> Bool in
      guard let count = allowed else { return false }
      allowed = count - 1
      return count <= 0
    }
    let fails = failures.withLock { failures -> Bool in
      defer { failures = max(0, failures - 1) }
      return failures > 0
    }
    if isRefused || fails { throw StoreError(.diskFull, operation: "write", message: "The disk is full.") }
    let counted = HookedStore(store, closesBase: false)
    let commit = try await counted.write(body)
    sizes.add(counted.entries)
    if unknown.withLock({ $0 }) {
      throw StoreError(.unknownOutcome, operation: "write", message: "The connection was lost.")
    }
    return commit
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }
  func close() async throws { try await store.close() }
  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    store.observeCommits(observer)
  }
  var commits: AsyncStream<StoreVersion> { store.commits }
  var tellsBeforeAcknowledging: Bool { store.tellsBeforeAcknowledging }
}

extension DatabaseServiceTuning {
  /// Figures at which everything happens early.
  static func small(_ random: inout SplitMix) -> DatabaseServiceTuning {
    var tuning = DatabaseServiceTuning()
    tuning.groupJobs = 1 + random.below(6)
    tuning.hashCheckRows = random.below(8)
    tuning.concurrentChecks = random.below(3)
    tuning.replacementPaths = 1 + random.below(4)
    tuning.stepRows = 1 + random.below(5)
    tuning.logPartBytes = 1 + random.below(40)
    tuning.entryBytes = 1 + random.below(4)
    tuning.idleDatabases = random.below(3)
    tuning.keysTogether = 1 + random.below(4)
    return tuning
  }
}
