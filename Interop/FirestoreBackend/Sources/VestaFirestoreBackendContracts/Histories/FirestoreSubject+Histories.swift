import VestaFirestoreBackend
import VestaTesting

/// Random transactions, and the check that one order of all of them explains what each was answered.
///
/// The contracts run a few seeds. Tests of a backend run more, and several processes can run transactions on the same
/// documents and put their histories together:
///
/// ```swift
/// let history = try await subject.transactionsAtOnce(seed: 4)
/// try await subject.expectSerial(history)
/// ```
extension FirestoreSubject {
  /// Runs optimistic and reading transactions of six clients that take turns, in an order that the seed repeats.
  ///
  /// - Parameters:
  ///   - seed: Which transactions, and which turns.
  ///   - count: How many transactions are to be committed.
  /// - Returns: The committed transactions, and the number of aborted ones.
  public func transactionsInTurns(
    seed: UInt64, count: Int = 80
  ) async throws -> (history: TransactionHistory, aborted: Int) {
    var random = SplitMix(seed: seed)
    var history = TransactionHistory()
    var aborted = 0
    var clients: [HistoryClient] = []
    for _ in 0..<6 { clients.append(HistoryClient(self, .optimistic, &random)) }
    while history.transactions.count < count {
      let index = random.below(clients.count)
      switch try await clients[index].step(&random) {
      case .open: continue
      case .aborted: aborted += 1
      case .committed(let transaction): history.transactions.append(transaction)
      }
      clients[index] = HistoryClient(self, random.oneIn(3) ? .readOnly : .optimistic, &random)
    }
    return (history, aborted)
  }

  /// Runs transactions of all kinds in separate tasks; transactions with locks wait for each other.
  ///
  /// - Parameters:
  ///   - seed: Which transactions; the order is that of the tasks.
  ///   - clients: How many tasks.
  ///   - count: How many transactions each task tries; aborted ones are not retried.
  public func transactionsAtOnce(
    seed: UInt64, clients: Int = 6, count: Int = 40
  ) async throws -> TransactionHistory {
    try await withThrowingTaskGroup(of: [TransactionHistory.Transaction].self) { group in
      for client in 0..<clients {
        group.addTask {
          var random = SplitMix(seed: seed &* 1_000 &+ UInt64(client))
          var done: [TransactionHistory.Transaction] = []
          for _ in 0..<count {
            let kind = random.pick([HistoryClient.Kind.optimistic, .pessimistic, .pessimistic, .readOnly])
            var client = HistoryClient(self, kind, &random)
            if let transaction = try await client.run(&random) { done.append(transaction) }
          }
          return done
        }
      }
      return try await group.reduce(into: TransactionHistory()) { $0.transactions += $1 }
    }
  }

  /// Expects a history to be serial in the order of its versions, and the documents to be what it leaves.
  public func expectSerial(
    _ history: TransactionHistory, file: String = #fileID, line: Int = #line
  ) async throws {
    let end: [String: Int]
    do throws(TransactionHistory.Flaw) {
      end = try history.check()
    } catch {
      throw ContractViolation("no order explains the history: \(error)", file: file, line: line)
    }
    var stored: [String: Int] = [:]
    for document in try await query(.all(HistoryClient.collection)) {
      stored[String(document.name.split(separator: "/").last ?? "")] = HistoryClient.number(document)
    }
    try expect(stored, equals: end, "the documents at the end", file: file, line: line)
  }
}
