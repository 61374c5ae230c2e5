/// The reads and writes of committed transactions, and a check that one order explains all of them.
///
/// Documents are numbers by name: enough to distinguish any two writes of a history, and to query.
struct History: Sendable {
  /// Something a transaction asked for, and what it was answered.
  enum Read: Sendable, Equatable {
    /// One document; `nil` where there was none.
    case document(String, Int?)
    /// All documents with a number that is not below a bound, the first ones by name.
    case query(atLeast: Int, limit: Int?, [String: Int])
  }

  struct Transaction: Sendable {
    var reads: [Read] = []
    /// The written values, `nil` for a deletion; empty for a transaction that only reads.
    var writes: [String: Int?] = [:]
    /// When it was committed; for a read of the past, the version that it read.
    var version: Int64 = 0
  }

  /// Why no order by versions explains a history.
  enum Flaw: Error, Equatable {
    /// Two transactions that write have the same version.
    case sameVersion(Int64)
    /// A transaction was answered something that was not so at its version.
    case wrongRead(Read, version: Int64)
  }

  var transactions: [Transaction] = []

  /// Replays the history in the order of versions and compares every answer.
  ///
  /// A transaction that writes reads the result of those before it; one that only reads sees all up to its version.
  ///
  /// - Returns: What is there at the end.
  @discardableResult
  func check() throws(Flaw) -> [String: Int] {
    // Of two with the same version the one that writes comes first: the other has read behind it.
    let ordered = transactions.sorted {
      ($0.version, $0.writes.isEmpty ? 1 : 0) < ($1.version, $1.writes.isEmpty ? 1 : 0)
    }
    var state: [String: Int] = [:]
    var lastWrite: Int64?
    for transaction in ordered {
      for read in transaction.reads where History.answer(read, in: state) != read {
        throw .wrongRead(read, version: transaction.version)
      }
      if transaction.writes.isEmpty { continue }
      if lastWrite == transaction.version { throw .sameVersion(transaction.version) }
      lastWrite = transaction.version
      for (name, number) in transaction.writes { state[name] = number }
    }
    return state
  }

  /// The answer to a read in a state.
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
