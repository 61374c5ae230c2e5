public import VestaListenerInterop
public import VestaStoreInterop
import VestaConcurrency

/// An `OrderedStore` in memory: for tests, for throw-away apps, and to compare other engines with.
///
/// - **Reads** take the root of a persistent tree and nothing else: no copy, no waiting, no suspension. A snapshot
///   costs what has been changed since, for as long as its body runs.
/// - **Writes** run one at a time, in the order in which they came, on the caller's task; the first of a row does not
///   suspend. So no transaction ever meets a conflict or runs twice. A body that waits for something holds up the writers
///   behind it, never the readers.
/// - **Nothing is kept**: `close` frees everything, and durability means nothing here.
///
/// ```swift
/// let store = MemoryStore()
/// try await store.write { try await $0.put(Array("value".utf8), for: Array("key".utf8)) }
/// let value = try await store.read { try await $0.get(Array("key".utf8)) }
/// ```
///
/// A `write` or `close` inside a transaction's body would wait for itself, and throws `StoreError.Code.nested`. This is
/// seen by a task-local value, so it holds for child tasks and for a `Task {}` too while the transaction runs.
/// `close` inside a `read` body is not seen, and never returns.
public final class MemoryStore: CommitObservable {
  private struct State: Sendable {
    var tree = OrderedTree()
    var version = StoreVersion.zero
    var admission = Admission()
    var transaction: TransactionScope?
  }

  private let state = Locked(State())
  private let commitNews = ListenerRegistry<StoreVersion>()
  private let versions: StoreVersions
  private let onClose: @Sendable () -> Void

  /// An empty store.
  ///
  /// - Parameter clock: The clocks that versions are taken from.
  public convenience init(clock: StoreClock = .system) { self.init(clock: clock, onClose: {}) }

  /// An empty store that says when it has been closed.
  init(clock: StoreClock, onClose: @escaping @Sendable () -> Void) {
    versions = StoreVersions(above: .zero, clock: clock)
    self.onClose = onClose
  }

  /// Reads at one moment in time, without waiting for anybody.
  ///
  /// - Parameter body: What to read.
  /// - Returns: What the body returned.
  /// - Throws: What the body threw, or `StoreError.Code.closed`.
  public func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    let reader = try state.withLock { state in
      guard state.admission.beginRead() else { throw StoreError.closed("read") }
      return MemorySnapshot(tree: state.tree, version: state.version)
    }
    defer {
      reader.end()
      leave(state.withLock { $0.admission.endRead() })
    }
    return try await body(reader)
  }

  /// Changes the store: all of the body's changes, or none.
  ///
  /// - Parameter body: What to do; it runs once, on the caller's task.
  /// - Returns: What the body returned, and the version of the commit.
  /// - Throws: What the body threw, `CancellationError`, or `StoreError`; nothing has been changed then.
  @discardableResult
  public func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try refuseInsideTransaction("write")
    try Task.checkCancellation()
    try await waitForTurn()
    defer {
      versions.settle()
      passTurn()
    }
    let scope = TransactionScope(around: TransactionScope.current)
    let transaction = state.withLock { state in
      state.transaction = scope
      return MemoryTransaction(tree: state.tree, version: state.version, versions: versions)
    }
    defer { transaction.end() }
    let value = try await TransactionScope.$current.withValue(scope) { try await body(transaction) }
    try Task.checkCancellation()
    return StoreCommit(value: value, version: commit(transaction))
  }

  /// Raises the floor of the versions to come; see `OrderedStore`.
  @discardableResult
  public func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try refuseInsideTransaction("raiseFloor")
    guard !state.withLock({ $0.admission.isClosed }) else { throw StoreError.closed("raiseFloor") }
    return try await versions.raise(to: version)
  }

  /// Ends the store: waits for what is running, refuses what comes after and what has waited, and frees the data.
  ///
  /// - Throws: `StoreError.Code.nested` inside a transaction's body.
  public func close() async throws {
    try refuseInsideTransaction("close")
    let (isFirst, refused) = state.withLock { $0.admission.close() }
    for writer in refused { writer.resume(throwing: StoreError.closed("write")) }
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { $0.admission.waitUntilIdle(continuation) }
      if isIdle { continuation.resume() }
    }
    commitNews.finish()
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
  public func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> InteropRegistration {
    let registration = commitNews.add(observer)
    return InteropRegistration { registration.cancel() }
  }

  /// The commits from here on as a stream, none left out; it ends when the store is closed.
  public var commits: AsyncStream<StoreVersion> { commitNews.events }

  /// How many writers wait for their turn, for tests.
  var writersInLine: Int { state.withLock { $0.admission.writersInLine } }

  /// Makes a transaction's changes visible, then tells of them; gives the version they have.
  private func commit(_ transaction: MemoryTransaction) -> StoreVersion {
    // The transaction keeps the tree before this one, so that it is freed with the lock open.
    let changed = transaction.tree
    guard !changed.isSame(as: transaction.treeBefore) else { return transaction.version }
    let version = transaction.allotted()
    state.withLock { ($0.tree, $0.version) = (changed, version) }
    versions.settle()
    commitNews.emit(version)
    return version
  }
}

// Taking turns.
extension MemoryStore {
  /// Throws where waiting would be waiting for oneself.
  private func refuseInsideTransaction(_ operation: String) throws {
    guard let current = TransactionScope.current, let running = state.withLock({ $0.transaction }) else { return }
    guard current.isInside(running) else { return }
    throw StoreError(
      .nested,
      operation: operation,
      message: "It was called inside a transaction of the same store, and would wait for it to end.",
      hint: "Use the transaction that the body was given, or call it after the transaction."
    )
  }

  /// Waits until this task may write; returns at once when nobody does.
  private func waitForTurn() async throws {
    switch state.withLock({ $0.admission.beginWrite() }) {
    case .admitted: return
    case .closed: throw StoreError.closed("write")
    case .mustWait: break
    }
    let ticket = state.withLock { $0.admission.makeTicket() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        switch state.withLock({ $0.admission.queue(continuation, as: ticket) }) {
        case .admitted: continuation.resume()
        case .closed: continuation.resume(throwing: StoreError.closed("write"))
        // The ticket is in the queue before this look: a cancellation from here on finds it there.
        case .mustWait: if Task.isCancelled { giveUp(ticket) }
        }
      }
    } onCancel: {
      giveUp(ticket)
    }
  }

  private func giveUp(_ ticket: UInt64) {
    let continuation = state.withLock { $0.admission.giveUp(ticket) }
    continuation?.resume(throwing: CancellationError())
  }

  /// Lets the next writer in, or those go on who wait for the end of everything.
  private func passTurn() {
    let (scope, next) = state.withLock { state in
      defer { state.transaction = nil }
      return (state.transaction, state.admission.endWrite())
    }
    _ = scope
    switch next {
    case .writer(let continuation): continuation.resume()
    case .nobody(let closers): leave(closers)
    }
  }

  private func leave(_ closers: [CheckedContinuation<Void, Never>]) {
    for closer in closers { closer.resume() }
  }
}

/// Marks the tasks that run inside a transaction's body.
final class TransactionScope: Sendable {
  @TaskLocal static var current: TransactionScope?

  private let around: TransactionScope?

  init(around: TransactionScope?) { self.around = around }

  /// Whether this is a scope, or lies within it: there may be another store's transaction between the two.
  func isInside(_ scope: TransactionScope) -> Bool {
    self === scope || around?.isInside(scope) == true
  }
}
