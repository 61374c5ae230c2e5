import VestaDatabaseBackend
import VestaDatabaseModel

/// A transaction of this client.
struct ClientTransaction: Sendable {
  enum Status: Sendable, Equatable {
    /// Its block has run, and its result waits to be sent.
    case run
    /// The service has been asked.
    case sent
    /// The service has been asked, and the transaction ends unless it accepts.
    case sentNeedsAbort(DatabaseStatus)
    /// It ends.
    case needsAbort(DatabaseStatus, String)
  }

  let id: Int
  let path: DatabasePath
  /// Runs the block; `nil` when it aborts.
  let update: @Sendable (DatabaseNode) -> TransactionResult
  let completion: @Sendable (DatabaseError?, Bool, DatabaseNode?) -> Void
  let appliesLocally: Bool
  /// The observer that keeps the data current.
  let observer: Int
  var status = Status.run
  var retries = 0
  var writeID = 0
  var input = DatabaseNode.empty
  var rawOutput = DatabaseNode.empty
  var output = DatabaseNode.empty
}

extension Repo {
  /// Begins a transaction: runs its block on what is known, shows the result, and asks the service.
  func startTransaction(
    _ path: DatabasePath, appliesLocally: Bool, observer: Int,
    update: @escaping @Sendable (DatabaseNode) -> TransactionResult,
    completion: @escaping @Sendable (DatabaseError?, Bool, DatabaseNode?) -> Void
  ) {
    add(silentObserver(observer, path, .all))
    retrySoon()
    var transaction = ClientTransaction(
      id: nextTransactionID, path: path, update: update, completion: completion, appliesLocally: appliesLocally,
      observer: observer)
    nextTransactionID += 1
    let input = tree.node(at: path) ?? .empty
    transaction.input = input
    switch update(input).outcome {
    case nil:
      remove(observer)
      complete { completion(nil, false, input) }
    case .failure(let problem):
      remove(observer)
      let error = DatabaseError(.other, problem.description)
      complete { completion(error, false, nil) }
    case .success(let output):
      transactions.append(transaction)
      apply(output, to: transactions.count - 1)
      sendReadyTransactions()
    }
  }

  /// Shows the result of a block.
  private func apply(_ output: DatabaseNode, to index: Int) {
    let transaction = transactions[index]
    let id = makeWriteID()
    let node = ServerValues.resolve(output, now: serverTime) { transaction.input[$0] }
    transactions[index].writeID = id
    transactions[index].rawOutput = output
    transactions[index].output = node
    transactions[index].status = .run
    raise(tree.userOverwrite(transaction.path, node, writeID: id, isVisible: transaction.appliesLocally))
  }

  // MARK: Sending

  /// Sends what can be sent: the transactions at and below a place together, when none of them is under way.
  func sendReadyTransactions() {
    let places = Set(transactions.map(\.path))
    let tops = places.filter { place in !places.contains { $0 != place && $0.contains(place) } }
    for top in tops.sorted(by: { $0.text < $1.text }) {
      let group = transactions.filter { top.contains($0.path) }
      if group.allSatisfy({ $0.status == .run }) { send(group, at: top) }
    }
  }

  private func send(_ group: [ClientTransaction], at path: DatabasePath) {
    let latest = tree.node(at: path, excluding: Set(group.map(\.writeID))) ?? .empty
    var node = latest
    for transaction in group {
      guard let relative = path.relative(transaction.path) else { continue }
      node = node.setting(relative, to: transaction.rawOutput)
      change(transaction.id) {
        $0.status = .sent
        $0.retries += 1
      }
    }
    let ids = group.map(\.id)
    let request = DatabaseRequest.put(path, node, hash: NodeHash.hash(latest))
    put(
      OutstandingPut(request: request, isTransaction: true) { repo, reply in
        repo.transactionsReplied(ids, path, reply)
      } onEnd: { repo, error in
        for id in ids { repo.end(id, error, isCommitted: false, node: nil, isRevert: true) }
      })
  }

  private func change(_ id: Int, _ body: (inout ClientTransaction) -> Void) {
    guard let index = transactions.firstIndex(where: { $0.id == id }) else { return }
    body(&transactions[index])
  }

  private func transactionsReplied(_ ids: [Int], _ path: DatabasePath, _ reply: DatabaseReply) {
    if reply.status == .ok {
      for id in ids { end(id, nil, isCommitted: true, node: nil, isRevert: false) }
      rerunTransactions(at: path)
      return sendReadyTransactions()
    }
    for id in ids {
      change(id) { transaction in
        switch (transaction.status, reply.status) {
        case (.sentNeedsAbort(let status), .dataStale): transaction.status = .needsAbort(status, "")
        case (_, .dataStale): transaction.status = .run
        default: transaction.status = .needsAbort(reply.status, reply.message)
        }
      }
    }
    rerunTransactions(at: path)
  }

  /// Ends a transaction.
  func end(_ id: Int, _ error: DatabaseError?, isCommitted: Bool, node: DatabaseNode?, isRevert: Bool) {
    guard let index = transactions.firstIndex(where: { $0.id == id }) else { return }
    let transaction = transactions.remove(at: index)
    raise(tree.acknowledge(writeID: transaction.writeID, isRevert: isRevert))
    let result = isCommitted ? transaction.output : node
    let completion = transaction.completion
    if isCommitted, let persistence {
      // As with a write: older writes must not be sent again over what the program takes for done.
      persistence.whenForgotten { [events] closed in
        events.post([{ closed.map { completion($0, false, nil) } ?? completion(nil, true, result) }])
      }
    } else {
      complete { completion(error, isCommitted, result) }
    }
    remove(transaction.observer)
  }

  // MARK: Running again

  /// Runs the transactions that a change of a place concerns once more, in order.
  func rerunTransactions(at path: DatabasePath) {
    guard !transactions.isEmpty else { return }
    let top = transactions.map(\.path).filter { $0.contains(path) }.min { $0.count < $1.count } ?? path
    let group = transactions.filter { top.contains($0.path) }
    var excluded = Set(group.filter { $0.status == .run }.map(\.writeID))
    for transaction in group {
      switch transaction.status {
      case .needsAbort(let status, let message):
        let error = DatabaseError(status: status, message: message)
        end(transaction.id, error, isCommitted: false, node: transaction.input, isRevert: true)
      case .run:
        if transaction.retries >= environment.tuning.transactionAttempts {
          let error = DatabaseError(status: .maxRetry)
          end(transaction.id, error, isCommitted: false, node: transaction.input, isRevert: true)
        } else {
          rerun(transaction, &excluded)
        }
      case .sent, .sentNeedsAbort: continue
      }
    }
    sendReadyTransactions()
  }

  private func rerun(_ transaction: ClientTransaction, _ excluded: inout Set<Int>) {
    let input = tree.node(at: transaction.path, excluding: excluded) ?? .empty
    change(transaction.id) { $0.input = input }
    switch transaction.update(input).outcome {
    case nil: end(transaction.id, nil, isCommitted: false, node: input, isRevert: true)
    case .failure(let problem):
      let error = DatabaseError(.other, problem.description)
      end(transaction.id, error, isCommitted: false, node: nil, isRevert: true)
    case .success(let output):
      excluded.remove(transaction.writeID)
      guard let index = transactions.firstIndex(where: { $0.id == transaction.id }) else { return }
      // The new result first, so that observers do not see the old data in between.
      apply(output, to: index)
      raise(tree.acknowledge(writeID: transaction.writeID, isRevert: true))
    }
  }

  /// Ends the transactions that a write overrides; transactions that were sent end with the service's reply.
  func abortTransactions(at path: DatabasePath, _ status: DatabaseStatus) {
    for transaction in transactions where transaction.path.contains(path) || path.contains(transaction.path) {
      switch transaction.status {
      case .run:
        let error = DatabaseError(status: status)
        end(transaction.id, error, isCommitted: false, node: nil, isRevert: true)
      case .sent: change(transaction.id) { $0.status = .sentNeedsAbort(status) }
      case .sentNeedsAbort, .needsAbort: continue
      }
    }
  }
}
