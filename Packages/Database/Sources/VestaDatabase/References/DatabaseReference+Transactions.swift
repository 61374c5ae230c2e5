import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel

extension DatabaseReference {
  /// Changes the data at this path depending on its value, in competition with other clients.
  ///
  /// The block is called with what is known of the data, which can be nothing, and again whenever the data turns out to
  /// be different: 25 times at the most. It runs on the database's own thread: while it blocks, everything else of this
  /// database waits, and nothing else of the process. It must not rely on how often it runs.
  ///
  /// - Parameter block: Changes the data and returns what is to become of it.
  /// - Returns: Whether the data was written, and the data.
  /// - Throws: ``DatabaseError`` when the transaction has failed. Nothing is written then, unless the error says that
  ///   the connection was lost while it was under way. `CancellationError`, at once, when the task is cancelled; a
  ///   transaction that has begun continues all the same.
  @preconcurrency
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult
  ) async throws -> (Bool, DataSnapshot) {
    try await Turn<(Bool, DataSnapshot)>().wait { turn in
      run(block, appliesLocally: true) { [self] error, isCommitted, snapshot in
        turn.begin()?.resume(with: error.map { .failure($0) } ?? .success((isCommitted, snapshot ?? nothing)))
      }
    }
  }

  /// Completion form of ``runTransactionBlock(_:)->(_,_)``, without a completion.
  @preconcurrency
  public func runTransactionBlock(_ block: @escaping @Sendable (MutableData) -> TransactionResult) {
    run(block, appliesLocally: true) { _, _, _ in }
  }

  /// Completion form of ``runTransactionBlock(_:)->(_,_)``.
  @preconcurrency
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: @escaping @Sendable ((any Error)?, Bool, DataSnapshot?) -> Void
  ) {
    run(block, appliesLocally: true) { completionBlock($0, $1, $2) }
  }

  /// Completion form of ``runTransactionBlock(_:)->(_,_)``, with a choice of whether observers see results before the
  /// service has accepted one.
  @preconcurrency
  public func runTransactionBlock(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: (@Sendable ((any Error)?, Bool, DataSnapshot?) -> Void)?,
    withLocalEvents localEvents: Bool
  ) {
    run(block, appliesLocally: localEvents) { completionBlock?($0, $1, $2) }
  }

  private var nothing: DataSnapshot { DataSnapshot(self, IndexedNode(.empty, index: .priority)) }

  private func run(
    _ block: @escaping @Sendable (MutableData) -> TransactionResult, appliesLocally: Bool,
    _ completion: @escaping @Sendable (DatabaseError?, Bool, DataSnapshot?) -> Void
  ) {
    let (path, observer) = (path, HandleSource.next())
    do throws(InvalidValue) {
      if let problem { throw InvalidValue(problem) }
      try checkWritable("runTransactionBlock:")
    } catch {
      Logs.misuse(error.description)
      let misuse = DatabaseError(.other, error.description)
      return repo.perform { $0.complete { completion(misuse, false, nil) } }
    }
    repo.perform { [self] repo in
      repo.startTransaction(
        path, appliesLocally: appliesLocally, observer: observer,
        update: { block(MutableData($0, at: path)) },
        completion: { error, isCommitted, node in
          let snapshot = node.map { DataSnapshot(self, IndexedNode($0, index: .priority)) }
          completion(error, isCommitted, snapshot)
        })
    }
  }
}
