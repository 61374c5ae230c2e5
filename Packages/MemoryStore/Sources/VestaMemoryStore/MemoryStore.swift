public import VestaConcurrency
public import VestaStoreInterop

/// An `OrderedStore` in memory: for tests, for throw-away apps, and to compare other engines with.
///
/// - **Reads** take the root of a persistent tree and nothing else: no copy, no waiting, no suspension. A snapshot
///   costs what has been changed since, for as long as its body runs.
/// - **Writes** run one at a time, in the order of arrival, on the caller's task; the first of a row does not
///   suspend. So no transaction ever meets a conflict or runs twice. A body that waits for something holds up the
///   writers after it, never the readers.
/// - **Nothing is kept**: `close` frees everything, and durability means nothing here.
///
/// ```swift
/// let store = MemoryStore()
/// try await store.write { try await $0.put(Array("value".utf8), for: Array("key".utf8)) }
/// let value = try await store.read { try await $0.get(Array("key".utf8)) }
/// ```
///
/// A `write` inside a transaction's body, and a `close` inside any body, would wait for itself, and throws
/// `StoreError.Code.nested`. This is seen by a task-local value, so it holds for child tasks and for a `Task {}` too
/// while the body runs. Transactions of several stores that would wait for one another in a cycle throw `nested` too.
public final class MemoryStore: CommitObservable {
  private struct State: Sendable {
    var tree = OrderedTree()
    var version = StoreVersion.zero
    var readers = 0
    var isClosed = false
    var closers = Waiters()
  }

  private let state = Locked(State())
  private let writers = FairQueue(limit: 1)
  private let commitNotifications = ListenerRegistry<StoreVersion>()
  private let versions: StoreVersions
  private let bodies = StoreBodies()
  private let onClose: @Sendable () -> Void

  /// An empty store.
  ///
  /// - Parameter clock: The clocks that versions are taken from.
  public convenience init(clock: StoreClock = .system) { self.init(clock: clock, onClose: {}) }

  /// An empty store that calls `onClose` when it has been closed.
  init(clock: StoreClock, onClose: @escaping @Sendable () -> Void) {
    versions = StoreVersions(above: .zero, clock: clock)
    self.onClose = onClose
  }

  /// Reads at one version in time, without waiting.
  ///
  /// - Parameter body: The read.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body, or `StoreError.Code.closed`.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    let reader = try state.withLock { state in
      guard !state.isClosed else { throw StoreError.closed("read") }
      state.readers += 1
      return MemorySnapshot(tree: state.tree, version: state.version)
    }
    defer {
      reader.end()
      endRead()
    }
    return try await bodies.run(.read) { try await body(reader) }
  }

  /// Changes the store: all of the body's changes, or none.
  ///
  /// - Parameter body: The work; it runs once, on the caller's task.
  /// - Returns: The result of the body, and the version of the commit.
  /// - Throws: The error of the body, `CancellationError`, or `StoreError`; nothing has been changed then.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try bodies.refuseInside(.write, "write")
    try Task.checkCancellation()
    if try !writers.enterIfFree() { try await bodies.whileWaiting("write") { try await writers.enter() } }
    defer {
      versions.settle()
      writers.leave()
    }
    let transaction = state.withLock { MemoryTransaction(tree: $0.tree, version: $0.version, versions: versions) }
    defer { transaction.end() }
    let value = try await bodies.run(.write) { try await body(transaction) }
    try Task.checkCancellation()
    return StoreCommit(value: value, version: commit(transaction))
  }

  /// Raises the floor of later versions; see `OrderedStore`.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try bodies.refuseInside(.write, "raiseFloor")
    guard !state.withLock({ $0.isClosed }) else { throw StoreError.closed("raiseFloor") }
    return try await bodies.whileWaiting("raiseFloor") { try await versions.raise(to: version) }
  }

  /// Ends the store: waits for running work, refuses waiting and later work, and frees the data.
  ///
  /// - Throws: `StoreError.Code.nested` inside a body of this store.
  public func close() async throws {
    try bodies.refuseInside(nil, "close")
    // Writes first: who sees that reads are refused knows that waiting writes are.
    let isFirst = writers.close(throwing: StoreError.closed("write"))
    state.withLock { $0.isClosed = true }
    await writers.drained()
    await state.wait(in: \.closers) { $0.readers == 0 }
    commitNotifications.finish()
    guard isFirst else { return }
    // The old tree is handed out, so that it is freed with the lock open.
    _ = state.withLock { state in
      defer { state.tree = OrderedTree() }
      return state.tree
    }
    onClose()
  }

  /// Calls back after every commit, in its writer's task and before the next transaction begins.
  ///
  /// - Parameter observer: Takes the version of the commit.
  /// - Returns: A registration; cancel it to get no more calls.
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    commitNotifications.add(observer)
  }

  /// Observers are called before a write returns.
  public var tellsBeforeAcknowledging: Bool { true }

  /// The commits from here on as a stream, none left out; it ends when the store is closed.
  public var commits: AsyncStream<StoreVersion> { commitNotifications.events }

  /// How many writers wait for their turn, for tests.
  var writersInLine: Int { writers.waitingCount }

  /// Makes a transaction's changes visible, then notifies the observers; returns their version.
  private func commit(_ transaction: MemoryTransaction) -> StoreVersion {
    // The transaction keeps the tree before this one, so that it is freed with the lock open.
    let changed = transaction.tree
    guard !changed.isSame(as: transaction.treeBefore) else { return transaction.version }
    let version = transaction.allotted()
    state.withLock { ($0.tree, $0.version) = (changed, version) }
    versions.settle()
    commitNotifications.emit(version)
    return version
  }
}

// Readers, and the end of the last one.
extension MemoryStore {
  private func endRead() {
    let closers = state.withLock { state in
      state.readers -= 1
      return state.readers == 0 ? state.closers.takeAll() : Waiters()
    }
    closers.resume()
  }
}
