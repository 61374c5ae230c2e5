/// The reads and writes of committed transactions, and a check that one order explains all of them.
///
/// Documents are numbers by name: enough to distinguish any two writes of a history, and to query.
public struct TransactionHistory: Sendable {
  /// A read of a transaction, with its answer.
  public enum Read: Sendable, Equatable, Codable {
    /// One document; `nil` where there was none.
    case document(String, Int?)
    /// All documents with a number that is not below a bound, the first ones by name.
    case query(atLeast: Int, limit: Int?, [String: Int])
  }

  /// The reads and the writes of a committed transaction.
  public struct Transaction: Sendable, Codable {
    /// The reads with their answers, in order.
    public var reads: [Read] = []
    /// The written values, `nil` for a deletion; empty for a transaction that only reads.
    public var writes: [String: Int?] = [:]
    /// The version of the commit; for a read of the past, the version that it read.
    public var version: Int64 = 0

    /// A transaction.
    public init(reads: [Read] = [], writes: [String: Int?] = [:], version: Int64 = 0) {
      self.reads = reads
      self.writes = writes
      self.version = version
    }

    func applied(to state: [String: Int]) -> [String: Int] {
      var state = state
      for (name, number) in writes { state[name] = number }
      return state
    }
  }

  /// Why no order by versions explains a history.
  public enum Flaw: Error, Equatable {
    /// Two transactions that change something have the same version.
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
  /// A transaction with changes reads the state before its version. All others at that version, which change nothing,
  /// see all up to it.
  ///
  /// - Returns: The final state.
  @discardableResult
  public func check() throws(Flaw) -> [String: Int] {
    var state: [String: Int] = [:]
    let versions = Dictionary(grouping: transactions, by: \.version)
    for (version, group) in versions.sorted(by: { $0.key < $1.key }) {
      state = try TransactionHistory.state(after: group, at: version, from: state)
    }
    return state
  }

  private static func state(
    after group: [Transaction], at version: Int64, from state: [String: Int]
  ) throws(Flaw) -> [String: Int] {
    // Two that delete the same are both candidates; the other has found nothing to delete.
    let candidates = group.indices.filter { group[$0].applied(to: state) != state }
    guard !candidates.isEmpty else {
      for transaction in group { try checkReads(of: transaction, in: state) }
      return state
    }
    var flaw = Flaw.sameVersion(version)
    for index in candidates {
      let end = group[index].applied(to: state)
      guard group.allSatisfy({ $0.applied(to: end) == end }) else { continue }
      do throws(Flaw) {
        try checkReads(of: group[index], in: state)
        for other in group.indices where other != index { try checkReads(of: group[other], in: end) }
        return end
      } catch {
        flaw = error
      }
    }
    throw flaw
  }

  private static func checkReads(of transaction: Transaction, in state: [String: Int]) throws(Flaw) {
    for read in transaction.reads where answer(read, in: state) != read {
      throw .wrongRead(read, version: transaction.version)
    }
  }

  /// The answer that a read would have in a state.
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
