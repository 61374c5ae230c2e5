import VestaFirestoreIndexes
import VestaFirestoreModel

/// Finds out whether walking the order of a query or reading a range of another filtered field is the shorter way,
/// without knowing how values are distributed.
///
/// A walk may pass any number of documents by, and a range may hold any number of them. So the two take turns with
/// budgets that double: the walk looks at some rows, then each range counts some of its entries. The first one to reach
/// to its end wins, so the race costs at most a few times the shorter way.
///
/// `n >= 2980 order by __name__ limit 10` over 3,000 documents whose numbers grow with their names: the walk looks at
/// 64 documents and finds nothing, counting the index of `n` up to 64 entries ends after 20. These 20 documents are
/// read and put in order. With `n >= 10` the walk has its ten results after 20 documents, and nothing is counted.
struct RangeRace {
  enum Outcome<Answer> {
    case walked(Answer)
    /// A range is shorter: its entries have all documents that can match.
    case range(QueryPlan)
  }

  private struct Range {
    let plan: QueryPlan
    var entries: EntryUnion
    var count = 0

    /// Counts on; true at the end of the range.
    mutating func ends(within most: Int) async throws -> Bool {
      if count >= most { return false }
      entries.allow(2 * most)
      count += try await entries.count(atMost: most - count)
      return count < most && !entries.isPaused
    }
  }

  private let tuning: QueryTuning
  private let walked: Int
  /// The number of rows that the walk may look at in all before ranges are counted again.
  private(set) var budget: Int
  private let query: NormalQuery
  private let snapshot: Snapshot
  private var ranges: [Range] = []
  /// Indexes that would make another range countable, or a join a single scan.
  private(set) var missing: [IndexShape] = []

  /// - Parameter progress: The work on the pages before: the race continues where it was.
  init(_ query: NormalQuery, _ progress: RaceProgress, in snapshot: Snapshot) {
    tuning = snapshot.tuning.queries
    walked = progress.walked
    budget = progress.budget ?? tuning.raceBudget
    self.query = query
    self.snapshot = snapshot
  }

  /// The number of entries that were counted.
  var counted: Int { ranges.reduce(0) { $0 + $1.entries.scanned } }

  /// Lets the walk and the ranges take turns.
  ///
  /// - Parameter walk: Continues the walk until it has looked at a number of rows on this page; `nil` if that was not
  ///   enough.
  mutating func run<Answer>(_ walk: (_ rows: Int) async throws -> Answer?) async throws -> Outcome<Answer> {
    if let answer = try await walk(max(1, budget - walked)) { return .walked(answer) }
    try await findRanges()
    while true {
      for index in ranges.indices where try await ranges[index].ends(within: budget) {
        return .range(ranges[index].plan)
      }
      budget = ranges.isEmpty || budget > .max / 8 ? .max : 2 * budget
      if let answer = try await walk(max(1, budget - walked)) { return .walked(answer) }
    }
  }

  private mutating func findRanges() async throws {
    guard let keeper = snapshot.indexes else { return }
    let catalogue = try await keeper.catalogue(in: snapshot.reader)
    for field in query.fieldsAside {
      guard let needs = QueryNeeds(query.narrowed(by: field)) else { continue }
      let outcome = QueryPlanner(needs, catalogue, isForbidden: keeper.declared.forbid).outcome()
      missing += outcome.missing.filter { !missing.contains($0) }
      guard let plan = outcome.plan, !plan.branches.contains(where: \.scans.isEmpty) else { continue }
      ranges.append(Range(plan: plan, entries: EntryUnion(plan, wanted: tuning.raceBudget, in: snapshot)))
    }
  }

  /// Asks for indexes that the query may be the better for, if it has read much more than it returned.
  func learn(cost: Int, results: Int) async throws {
    guard cost > tuning.raceTolerance + 10 * results, let keeper = snapshot.indexes,
      let needs = QueryNeeds(query)
    else { return }
    let catalogue = try await keeper.catalogue(in: snapshot.reader)
    let planner = QueryPlanner(needs, catalogue, isForbidden: keeper.declared.forbid)
    let shapes = missing + planner.composites().filter { !missing.contains($0) && !keeper.declared.forbid($0) }
    keeper.want(shapes.filter { catalogue.byShape[$0]?.row.isReady != true }, catalogue)
  }
}
