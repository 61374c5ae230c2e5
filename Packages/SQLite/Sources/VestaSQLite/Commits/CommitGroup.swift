import VestaStoreInterop

/// Transactions that share one commit, run one after the other by the task that leads.
///
/// Example: bodies A, B and C run in one SQLite transaction. B throws: its savepoint is rolled back, and the commit
/// holds A and C. If instead the disk is full in B, SQLite may give up the whole transaction: `loss` is B's failure,
/// and the leader runs A again without B.
struct CommitGroup {
  private let writer: WriterSession
  private let bodies: StoreBodies
  private let versions: StoreVersions
  private(set) var count = 0

  /// The versions of the commit, in order.
  private(set) var committed: [StoreVersion] = []

  /// The failure after which nothing of the group can be kept.
  private(set) var loss: StoreError?

  /// Whether there is anything to commit in addition to changes of bodies.
  private var hasFloor = false
  private var version: StoreVersion

  init(_ writer: WriterSession, bodies: StoreBodies, versions: StoreVersions) {
    self.writer = writer
    self.bodies = bodies
    self.versions = versions
    version = writer.version
  }

  /// Runs one body; its changes are kept for the commit, or undone.
  ///
  /// - Returns: The outcome if the commit succeeds.
  mutating func run(_ request: WriteRequest) async -> WriteOutcome {
    count += 1
    let transaction = SQLiteTransaction(writer, request: request, version: version, versions: versions)
    do {
      try request.checkCancellation()
      try writer.beginBody()
    } catch {
      return .failure(error)
    }
    let thrown = await call(request, transaction)
    guard writer.isInTransaction else { return lose(transaction.failure, thrown) }
    do {
      guard thrown == nil else {
        try writer.undoBody()
        return thrown.map { .failure($0) } ?? .success(version)
      }
      try writer.keepBody()
    } catch {
      return lose(error as? StoreError, error)
    }
    if transaction.hasChanges {
      version = transaction.allotted()
      committed.append(version)
    }
    if transaction.hasFloor { hasFloor = true }
    return .success(version)
  }

  /// Commits what has been kept.
  ///
  /// - Returns: The failure of every body whose changes, or whose reads, were in the commit; `nil` on success.
  ///
  /// - Parameter check: Throws when the files are not where they were.
  mutating func commit(_ check: () throws -> Void) -> StoreError? {
    if loss == nil, !committed.isEmpty || hasFloor {
      do {
        try check()
        try writer.commit(version, versions)
      } catch {
        loss = error as? StoreError ?? StoreError(.inputOutput, operation: "commit", path: writer.path)
      }
    }
    // Ends the SQLite transaction of a group without changes, or of a lost one.
    writer.abandon()
    writer.rescueLostLog()
    if loss != nil { committed = [] }
    return loss
  }

  /// Runs the body; returns what it threw, or what should have made it throw.
  private func call(_ request: WriteRequest, _ transaction: SQLiteTransaction) async -> (any Error)? {
    defer { transaction.end() }
    var thrown: (any Error)?
    do {
      try await bodies.run(.write) { try await request.body(transaction) }
      if let failure = transaction.failure { thrown = failure } else { try request.checkCancellation() }
    } catch {
      thrown = error
    }
    // The body may have seen the cancellation of the leader, whatever its result: it has to run again elsewhere.
    if Task.isCancelled, !request.hasBeenCancelled { return CancellationError() }
    return thrown
  }

  /// Notes that the group is lost by a failure of the storage; only the body at fault gets to see its own error.
  private mutating func lose(_ failure: StoreError?, _ thrown: (any Error)?) -> WriteOutcome {
    let failure = failure ?? StoreError(.inputOutput, operation: "write", path: writer.path)
    loss = failure
    return .failure(thrown ?? failure)
  }
}
