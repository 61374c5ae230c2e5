import VestaDatabaseBackend
import VestaDatabaseModel

/// The program's part of a transaction.
struct TransactionCall: Sendable {
  /// Runs the block.
  let update: @Sendable (DatabaseNode) -> TransactionResult
  let completion: TransactionCompletion
}

/// The completion of a transaction: the error, whether it was committed, and the data.
typealias TransactionCompletion = @Sendable (DatabaseError?, Bool, DatabaseNode?) -> Void

/// Performs what ``TransactionMachine`` decides.
extension Repo {
  /// Begins a transaction: runs its block on what is known, shows the result, and asks the service.
  ///
  /// - Parameter observer: The number of the observer that keeps the data current, and of the transaction.
  func startTransaction(
    _ path: DatabasePath, appliesLocally: Bool, observer: Int,
    update: @escaping @Sendable (DatabaseNode) -> TransactionResult,
    completion: @escaping TransactionCompletion
  ) {
    add(.silent(observer, at: path, .all))
    calls.transactions[observer] = TransactionCall(update: update, completion: completion)
    perform(transactionMachine.begin(observer, at: path, appliesLocally: appliesLocally))
  }

  func perform(_ actions: [TransactionMachine.Action]) {
    var actions = actions
    // A block is the last action of its list. A loop and no recursion: a round can have very many.
    while !actions.isEmpty {
      var following: [TransactionMachine.Action] = []
      for action in actions {
        switch action {
        case .run(let id, let path, let excluded):
          following = run(id, on: data.tree.node(at: path, excluding: excluded) ?? .empty)
        case .show(let path, let node, let writeID, let isVisible):
          raise(data.tree.userOverwrite(path, node, writeID: writeID, isVisible: isVisible))
        case .takeBack(let writeID): raise(data.tree.acknowledge(writeID: writeID, isRevert: true))
        case .send(let group): put(data.request(for: group), .transactions(group.transactions, at: group.path))
        case .end(let id, let writeID, let ending): end(id, writeID, ending)
        }
      }
      actions = following
    }
  }

  private func run(_ id: Int, on input: DatabaseNode) -> [TransactionMachine.Action] {
    guard let call = calls.transactions[id] else { return [] }
    let outcome: TransactionMachine.Outcome
    switch call.update(input).outcome {
    case nil: outcome = .aborted
    case .failure(let problem): outcome = .invalid(problem.description)
    case .success(let result):
      let shown = ServerValues.resolve(result, now: serverTime) { input[$0] }
      outcome = .result(result, shown: shown, writeID: data.makeWriteID())
    }
    return transactionMachine.ran(id, on: input, outcome)
  }

  private func end(_ id: Int, _ writeID: Int?, _ ending: TransactionMachine.Ending) {
    if let writeID { raise(data.tree.acknowledge(writeID: writeID, isRevert: !ending.isCommitted)) }
    if let completion = calls.transactions.removeValue(forKey: id)?.completion {
      switch ending {
      case .committed(let result): completeCommit(completion, result)
      case .aborted(let node): complete { completion(nil, false, node) }
      case .failed(let error, let node): complete { completion(error, false, node) }
      }
    }
    data.remove(id)
  }

  private func completeCommit(_ completion: @escaping TransactionCompletion, _ result: DatabaseNode) {
    guard let persistence else { return complete { completion(nil, true, result) } }
    // As with a write: older writes must not be sent again over what the program takes for done.
    persistence.whenForgotten { [events] closed in
      events.post([{ closed.map { completion($0, false, nil) } ?? completion(nil, true, result) }])
    }
  }
}
