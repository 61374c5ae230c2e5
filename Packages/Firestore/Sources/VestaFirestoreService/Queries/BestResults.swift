import VestaFirestoreBackend
import VestaFirestoreModel

/// The first results of a query among documents in any order: this number and little more are in memory.
struct BestResults {
  private let query: NormalQuery
  /// The number of results beyond twice the wanted ones from which on the worst are dropped.
  private let spare: Int
  private var found: [Document] = []
  /// The number of first results that are wanted.
  private var wanted: Int
  /// With many matches the best are kept; a document after the last of them is then no result.
  private var worst: Document?
  /// Whether matches were left out.
  private(set) var isCut = false

  /// - Parameters:
  ///   - wanted: The number of first results that are wanted, including the ones that an offset skips.
  ///   - spare: How many results beyond twice as many are kept before the worst are dropped.
  init(_ query: NormalQuery, wanted: Int, spare: Int) {
    self.spare = spare
    self.query = query
    self.wanted = wanted
  }

  /// Returns the number of first results that a query needs; `.max` for all.
  static func needed(for query: NormalQuery, atMost count: Int = .max) -> Int {
    let (sum, isOverflow) = min(query.limit ?? .max, count).addingReportingOverflow(query.offset)
    return isOverflow ? .max : sum
  }

  /// Takes a match.
  mutating func take(_ document: Document) {
    if let worst, query.compare(worst, document) <= 0 {
      isCut = true
      return
    }
    found.append(document)
    let (most, isOverflow) = wanted.multipliedReportingOverflow(by: 2)
    guard !isOverflow, found.count >= most + spare else { return }
    trim()
  }

  /// Wants fewer results from here on.
  mutating func want(atMost count: Int) {
    guard count < wanted else { return }
    wanted = count
    if found.count > wanted { trim() }
  }

  private mutating func trim() {
    found.sort { query.compare($0, $1) < 0 }
    if found.count > wanted {
      found.removeSubrange(wanted...)
      isCut = true
      worst = found.last
    }
  }

  /// The first results in order.
  mutating func results() -> [Document] {
    trim()
    return found
  }
}
