import VestaStoreInterop

/// Transactions that share one commit, run one after the other by the task that leads.
struct CommitGroup {
  private let writer: WriterSession
  private let store: ObjectIdentifier
  private(set) var count = 0

  /// The versions that the commit will bring, in order.
  private(set) var committed: [StoreVersion] = []

  /// Whether there is anything to commit beside changes of bodies.
  private var hasFloor = false

  /// Why nothing of the group can be kept any more.
  private(set) var loss: (any Error)?

  private var version: StoreVersion
  private let versions: StoreVersions

  init(_ writer: WriterSession, store: ObjectIdentifier, versions: StoreVersions) {
    self.writer = writer
    self.store = store
    self.versions = versions
    version = writer.version
  }

  /// Runs one body; its changes are kept for the commit, or undone.
  ///
  /// - Returns: What will have come of it if the commit succeeds.
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
    guard writer.isInTransaction else { return lose(thrown) }
    do {
      guard thrown == nil else {
        try writer.undoBody()
        return thrown.map { .failure($0) } ?? .success(version)
      }
      try writer.keepBody()
    } catch {
      return lose(error)
    }
    if transaction.hasChanges {
      version = transaction.allotted()
      committed.append(version)
    }
    if transaction.hasFloor { hasFloor = true }
    return .success(version)
  }

  /// Commits what has been kept; the error is that of every body whose changes, or whose reads, were in it.
  mutating func commit() -> (any Error)? {
    if loss == nil {
      do {
        if !committed.isEmpty || hasFloor { try writer.commit(version, versions) }
      } catch {
        loss = error
      }
    }
    writer.abandon()
    if loss != nil { committed = [] }
    return loss
  }

  /// Runs the body; what it threw, or what should have made it throw.
  private func call(_ request: WriteRequest, _ transaction: SQLiteTransaction) async -> (any Error)? {
    let active = ActiveBody(.write, of: store)
    defer {
      active.end()
      transaction.end()
    }
    do {
      try await ActiveBody.$current.withValue(active) { try await request.body(transaction) }
      if let failure = transaction.failure { return failure }
      try request.checkCancellation()
      return nil
    } catch {
      return error
    }
  }

  private mutating func lose(_ error: (any Error)?) -> WriteOutcome {
    let error = error ?? StoreError(.inputOutput, operation: "write", path: writer.path)
    loss = error
    return .failure(error)
  }
}
