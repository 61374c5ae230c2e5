/// What committed transactions have read and written, and a check that one order explains all of it.
///
/// Documents are numbers by name: enough to tell any two writes of a history apart, and to ask queries of.
public struct TransactionHistory: Sendable {
  /// Something a transaction asked for, and what it was answered.
  public enum Read: Sendable, Equatable, Codable {
    /// One document; `nil` where there was none.
    case document(String, Int?)
    /// All documents with a number that is not below a bound, the first ones by name.
    case query(atLeast: Int, limit: Int?, [String: Int])
  }

  public struct Transaction: Sendable, Codable {
    /// What it asked for, in order.
    public var reads: [Read] = []
    /// What was written, `nil` for a deletion; empty for a transaction that only reads.
    public var writes: [String: Int?] = [:]
    /// When it was committed; of one that reads the past, the moment that it read.
    public var version: Int64 = 0

    /// A transaction.
    public init(reads: [Read] = [], writes: [String: Int?] = [:], version: Int64 = 0) {
      self.reads = reads
      self.writes = writes
      self.version = version
    }
  }

  /// Why no order by versions explains a history.
  public enum Flaw: Error, Equatable {
    /// Two transactions that write have the same version.
    case sameVersion(Int64)
    /// A transaction was answered something that was not so at its version.
    case wrongRead(Read, version: Int64)
  }

  /// In any order.
  public var transactions: [Transaction]

  /// A history.
  public init(transactions: [Transaction] = []) { self.transactions = transactions }

  /// Replays the history in the order of versions and compares every answer.
  ///
  /// Who writes reads what those before it have left. Who only reads sees all up to its version.
  ///
  /// - Returns: What is there at the end.
  @discardableResult
  public func check() throws(Flaw) -> [String: Int] {
    // Of two with the same version the one that writes comes first: the other has read behind it.
    let ordered = transactions.sorted {
      ($0.version, $0.writes.isEmpty ? 1 : 0) < ($1.version, $1.writes.isEmpty ? 1 : 0)
    }
    var state: [String: Int] = [:]
    var lastWrite: Int64?
    for transaction in ordered {
      for read in transaction.reads where TransactionHistory.answer(read, in: state) != read {
        throw .wrongRead(read, version: transaction.version)
      }
      if transaction.writes.isEmpty { continue }
      if lastWrite == transaction.version { throw .sameVersion(transaction.version) }
      lastWrite = transaction.version
      for (name, number) in transaction.writes { state[name] = number }
    }
    return state
  }

  /// What a read would be answered in a state.
  private static func answer(_ read: Read, in state: [String: Int]) -> Read {
    switch read {
    case .document(let name, _): return .document(name, state[name])
    case .query(let bound, let limit, _):
      let matches = state.filter { $0.value >= bound }.sorted { $0.key < $1.key }
      let answer = Dictionary(matches.prefix(limit ?? matches.count).map { ($0, $1) }, uniquingKeysWith: { $1 })
      return .query(atLeast: bound, limit: limit, answer)
    }
  }
}
