import VestaDatabaseBackend
import VestaDatabaseModel

/// The transactions of a client: when a block runs, which results are sent together, and how each one ends; pure.
///
/// The machine has no tree, no blocks and no connection. ``Repo`` performs its actions in their order; of these only
/// ``Action/run(_:at:excluding:)`` is followed by an event, ``ran(_:on:_:)``, and it is always the last of its list.
///
/// ```
/// starting ──result──▶ ready ──sent──▶ sent ──ok──▶ committed
///     │                 │ ▲             │ │
///     │                 │ └────stale────┘ ├──refused────▶ doomed ──next round──▶ failed
///     │                 │                 │                 ▲
///     │                 │                 │            stale, refused
///     │                 │                 │                 │
///     │                 │                 └──overridden──▶ sentDoomed ──ok──▶ committed
///     │                 │
///     │                 ├──overridden, sent too often──▶ failed
///     └─────────────────┴──no result of the block──▶ aborted, failed
/// ```
///
/// Worked example, with a counter at `/n` that is 1 and a block that adds 1:
///
/// | event | actions |
/// |---|---|
/// | `begin(7, at: /n)` | run 7 on the data at `/n` |
/// | `ran(7, on: 1, result 2, write 1)` | show 2 at `/n` as write 1; send 2 for `/n`, on data without write 1 |
/// | `replied([7], stale)`, the data is 5 now | run 7 on the data at `/n` without write 1 |
/// | `ran(7, on: 5, result 6, write 2)` | show 6 as write 2; take back write 1; send 6 |
/// | `replied([7], ok)` | end 7: committed with 6 |
///
/// - A result is sent when no transaction at, above or below its path has been sent: all of them go in one request,
///   for the topmost path.
/// - In a *round* the transactions that a change concerns end or run again, one after the other, in the order in which
///   they began. Each one runs on the data without its own result and without the results of the later ones.
struct TransactionMachine: Sendable {
  /// The state of a transaction.
  enum Status: Sendable, Equatable {
    /// Its block runs for the first time.
    case starting
    /// Its block has run, and its result waits to be sent.
    case ready
    /// The service has been asked.
    case sent
    /// The service has been asked, and the transaction ends unless it accepts.
    case sentDoomed(DatabaseStatus)
    /// It ends with the next round.
    case doomed(DatabaseStatus, String)
  }

  /// A transaction that has not ended.
  struct Transaction: Sendable, Equatable {
    /// The number of the observer that keeps its data current.
    let id: Int
    let path: DatabasePath
    /// Whether observers see its result before the service has accepted it.
    let appliesLocally: Bool
    fileprivate(set) var status = Status.starting
    /// The number of times that it was sent.
    fileprivate(set) var attempts = 0
    /// The write that shows its result; `nil` before the first one.
    fileprivate(set) var writeID: Int?
    fileprivate(set) var input = DatabaseNode.empty
    /// The result as it is sent, with server values.
    fileprivate(set) var result = DatabaseNode.empty
    /// The result as it is shown.
    fileprivate(set) var shown = DatabaseNode.empty
  }

  /// The outcome of a block.
  enum Outcome: Sendable, Equatable {
    case aborted
    /// The block has returned no valid data.
    case invalid(String)
    /// Its result as it is sent and as it is shown, and the number of the write that shows it.
    case result(DatabaseNode, shown: DatabaseNode, writeID: Int)
  }

  /// The end of a transaction.
  enum Ending: Sendable, Equatable {
    case committed(DatabaseNode)
    /// Its block wanted no change of the data.
    case aborted(DatabaseNode)
    case failed(DatabaseError, DatabaseNode?)

    var isCommitted: Bool { if case .committed = self { true } else { false } }
  }

  /// Transactions that are sent in one request.
  struct Group: Sendable, Equatable {
    let path: DatabasePath
    let transactions: [Int]
    /// The writes that show their results.
    let writeIDs: Set<Int>
    /// Their results, by their paths below the path of the group.
    let results: [DatabasePathValue]
  }

  /// A command for the performer.
  enum Action: Sendable, Equatable {
    /// Runs the block on the data at a path, some writes left out, and calls ``ran(_:on:_:)``.
    case run(Int, at: DatabasePath, excluding: Set<Int>)
    /// Shows a result.
    case show(DatabasePath, DatabaseNode, writeID: Int, isVisible: Bool)
    /// Takes back an earlier result.
    case takeBack(writeID: Int)
    /// Asks the service to replace the data that the results were made from.
    case send(Group)
    /// Takes back the result, unless it was committed, and calls the completion.
    case end(Int, writeID: Int?, Ending)
  }

  /// The transactions that have not ended, in the order in which they began.
  private(set) var transactions: [Transaction] = []

  /// The transactions of the round under way whose turn is still to follow, the next one last.
  private var round: [Int] = []
  /// The results that the blocks of the round do not see yet: of the transactions whose turn is still to follow.
  private var hidden: Set<Int> = []

  /// How often a transaction is sent before it fails.
  private let maximumAttempts: Int

  /// No transactions.
  ///
  /// - Parameter attempts: How often a transaction is sent before it fails.
  init(attempts: Int) { maximumAttempts = attempts }

  // MARK: Events

  /// A transaction begins: its block runs on what is known.
  mutating func begin(_ id: Int, at path: DatabasePath, appliesLocally: Bool) -> [Action] {
    transactions.append(Transaction(id: id, path: path, appliesLocally: appliesLocally))
    return [.run(id, at: path, excluding: [])]
  }

  /// A block has run.
  mutating func ran(_ id: Int, on input: DatabaseNode, _ outcome: Outcome) -> [Action] {
    guard let index = index(of: id) else { return continueRound() }
    let isFirst = transactions[index].status == .starting
    transactions[index].input = input
    switch outcome {
    case .aborted:
      let end = end(id, .aborted(input))
      return isFirst ? end : end + continueRound()
    case .invalid(let reason):
      let end = end(id, .failed(DatabaseError(.other, reason), nil))
      return isFirst ? end : end + continueRound()
    case .result(let result, let shown, let writeID):
      return becomeReady(index, result, shown: shown, writeID: writeID) + continueRound()
    }
  }

  private mutating func becomeReady(
    _ index: Int, _ result: DatabaseNode, shown: DatabaseNode, writeID: Int
  ) -> [Action] {
    let (path, isVisible) = (transactions[index].path, transactions[index].appliesLocally)
    // The new result first, so that observers do not see the old data in between.
    var actions: [Action] = [.show(path, shown, writeID: writeID, isVisible: isVisible)]
    if let earlier = transactions[index].writeID {
      actions.append(.takeBack(writeID: earlier))
      hidden.remove(earlier)
    }
    (transactions[index].writeID, transactions[index].status) = (writeID, .ready)
    (transactions[index].result, transactions[index].shown) = (result, shown)
    return actions
  }

  /// The service has answered transactions that were sent together.
  mutating func replied(_ ids: [Int], at path: DatabasePath, _ reply: DatabaseReply) -> [Action] {
    if reply.status == .ok {
      let ends = ids.flatMap { id in self[id].map { end(id, .committed($0.shown)) } ?? [] }
      return ends + rerun(at: path)
    }
    for id in ids {
      guard let index = index(of: id) else { continue }
      switch (transactions[index].status, reply.status) {
      case (.sentDoomed(let status), .dataStale): transactions[index].status = .doomed(status, "")
      case (_, .dataStale): transactions[index].status = .ready
      default: transactions[index].status = .doomed(reply.status, reply.message)
      }
    }
    return rerun(at: path)
  }

  /// Data has changed: the transactions that it concerns end or run again, then all that are ready are sent.
  mutating func rerun(at path: DatabasePath) -> [Action] {
    guard !transactions.isEmpty else { return [] }
    let top = transactions.map(\.path).filter { $0.contains(path) }.min { $0.count < $1.count } ?? path
    let group = transactions.filter { top.contains($0.path) }
    round = group.reversed().map(\.id)
    hidden = Set(group.filter { $0.status == .ready }.compactMap(\.writeID))
    return continueRound()
  }

  /// A write overrides the transactions at, above and below its path; the ones that were sent end with the reply.
  mutating func overridden(at path: DatabasePath, _ status: DatabaseStatus) -> [Action] {
    var actions: [Action] = []
    for transaction in transactions where transaction.path.contains(path) || path.contains(transaction.path) {
      switch transaction.status {
      case .ready: actions += end(transaction.id, .failed(DatabaseError(status: status), nil))
      case .sent: if let index = index(of: transaction.id) { transactions[index].status = .sentDoomed(status) }
      case .starting, .sentDoomed, .doomed: continue
      }
    }
    return actions
  }

  /// Transactions cannot be sent, or their outcome is not awaited.
  ///
  /// - Parameters:
  ///   - error: The reason.
  ///   - ids: The transactions; all of them unless given.
  mutating func fail(_ error: DatabaseError, of ids: [Int]? = nil) -> [Action] {
    (ids ?? transactions.map(\.id)).flatMap { end($0, .failed(error, nil)) }
  }

  // MARK: Deciding

  private subscript(_ id: Int) -> Transaction? { transactions.first { $0.id == id } }

  private func index(of id: Int) -> Int? { transactions.firstIndex { $0.id == id } }

  private mutating func end(_ id: Int, _ ending: Ending) -> [Action] {
    guard let index = index(of: id) else { return [] }
    let writeID = transactions.remove(at: index).writeID
    if let writeID { hidden.remove(writeID) }
    return [.end(id, writeID: writeID, ending)]
  }

  /// Takes the turns of the round, up to the next block that is to run; at its end the results are sent.
  private mutating func continueRound() -> [Action] {
    var actions: [Action] = []
    while let id = round.popLast() {
      guard let transaction = self[id] else { continue }
      switch transaction.status {
      case .doomed(let status, let message):
        actions += end(id, .failed(DatabaseError(status: status, message: message), transaction.input))
      case .ready where transaction.attempts >= maximumAttempts:
        actions += end(id, .failed(DatabaseError(status: .maxRetry), transaction.input))
      case .ready:
        return actions + [.run(id, at: transaction.path, excluding: hidden)]
      case .starting, .sent, .sentDoomed: continue
      }
    }
    return actions + sendReady()
  }

  private mutating func sendReady() -> [Action] {
    let places = Set(transactions.map(\.path))
    let tops = places.filter { place in !places.contains { $0 != place && $0.contains(place) } }
    return tops.sorted { $0.text < $1.text }.compactMap { send(at: $0) }
  }

  /// Sends the transactions at and below a path together, when all of them are ready.
  private mutating func send(at path: DatabasePath) -> Action? {
    let indices = transactions.indices.filter { path.contains(transactions[$0].path) }
    guard indices.allSatisfy({ transactions[$0].status == .ready }) else { return nil }
    var (ids, writeIDs, results): ([Int], Set<Int>, [DatabasePathValue]) = ([], [], [])
    for index in indices {
      transactions[index].status = .sent
      transactions[index].attempts += 1
      let transaction = transactions[index]
      ids.append(transaction.id)
      if let writeID = transaction.writeID { writeIDs.insert(writeID) }
      if let place = path.relative(transaction.path) { results.append(DatabasePathValue(place, transaction.result)) }
    }
    return .send(Group(path: path, transactions: ids, writeIDs: writeIDs, results: results))
  }
}
