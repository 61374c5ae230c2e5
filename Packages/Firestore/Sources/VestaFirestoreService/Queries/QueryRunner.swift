import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// The answer to a query, or to one page of it.
struct QueryAnswer {
  var documents: [Document] = []
  var skipped = 0
  /// The number of documents that were read.
  var read = 0
  /// The number of index entries that were read.
  var scanned = 0
  /// The plan; `nil` where all documents were looked at.
  var plan: QueryPlan?
  /// Whether no results follow.
  var isLast = true
}

/// The maximum size of a page of results; it has one result at least.
struct PageSize {
  var documents: Int
  var bytes: Int

  /// A small one, so that results begin to come soon.
  static let first = PageSize(documents: 256, bytes: 262_144)
  static let next = PageSize(documents: 2048, bytes: 1_048_576)
  static let all = PageSize(documents: .max, bytes: .max)
}

/// Answers queries: from indexes where they are ready, else by looking at the documents while the indexes are made.
struct QueryRunner {
  let query: NormalQuery
  let snapshot: Snapshot
  /// The number of rows that a walk reads before ranges are counted; small in tests.
  private let firstBudget: Int

  init(query: NormalQuery, snapshot: Snapshot, firstBudget: Int = RangeRace.firstBudget) {
    self.query = query
    self.snapshot = snapshot.reading(with: snapshot.reader.yielding)
    self.firstBudget = firstBudget
  }

  /// All results.
  func answer() async throws -> QueryAnswer { try await page(.all) }

  /// The first results, as many as a page has; all of them where the query has to be answered as a whole.
  func page(_ size: PageSize) async throws -> QueryAnswer {
    try await snapshot.indexes?.check(query, in: snapshot.reader)
    let needs = QueryNeeds(query)
    if let needs, let plan = try await QueryRunner.plan(needs, in: snapshot) ?? documentsPlan(needs) {
      return try await answer(by: plan, query.findNearest == nil ? size : .all)
    }
    if query.collectionID == nil { return try await walk() }
    let (documents, skipped, read) = try await QueryScan(query: query, snapshot: snapshot).results()
    return QueryAnswer(documents: documents, skipped: skipped, read: read)
  }

  /// The plan of a query, if its indexes are ready; those that are missing are begun.
  static func plan(_ needs: QueryNeeds, in snapshot: Snapshot) async throws -> QueryPlan? {
    guard let keeper = snapshot.indexes else { return nil }
    let catalogue = try await keeper.catalogue(in: snapshot.reader)
    let outcome = QueryPlanner(needs, catalogue, isForbidden: keeper.declared.forbid).outcome()
    keeper.want(outcome.missing, catalogue)
    if let plan = outcome.plan { keeper.use(plan, catalogue) }
    return outcome.plan
  }

  /// Looks at the documents of a collection in the order of their names, where that is the order of the results.
  private func documentsPlan(_ needs: QueryNeeds) -> QueryPlan? {
    guard needs.tail.isEmpty, let collection = needs.collection, query.orders.count == 1 else { return nil }
    let scan = QueryPlan.Scan(source: .documents(collection), isTurned: needs.isNameDescending)
    var branches = needs.alternatives.map { QueryPlan.Branch(scans: [scan], bounds: $0.bounds, test: $0.test) }
    if branches.count > 1 {
      // One look at each document serves all alternatives.
      let test = SuffixTest([], fieldsDescending: [])
      branches = [QueryPlan.Branch(scans: [scan], bounds: needs.bounds, test: test)]
    }
    return QueryPlan(branches: branches, isDecided: false, isScan: true)
  }

  /// Answers by a plan, unless a range of another field turns out to be the shorter way.
  private func answer(by plan: QueryPlan, _ size: PageSize) async throws -> QueryAnswer {
    var walk = try OrderWalk(query, plan, size, in: snapshot)
    guard !plan.isDirect, let keeper = snapshot.indexes else { return try await walk.answer() ?? QueryAnswer() }
    var race = RangeRace(query, firstBudget: firstBudget, in: snapshot)
    let answer: QueryAnswer
    var cost: Int
    switch try await race.run({ rows in try await walk.answer(lookingAt: rows) }) {
    case .walked(let walked): (answer, cost) = (walked, walk.cost)
    case .range(let range):
      keeper.use(range, try await keeper.catalogue(in: snapshot.reader))
      (answer, cost) = try await sorted(range, size)
      cost += walk.cost
    }
    if !plan.isScan { try await race.learn(cost: cost, results: answer.documents.count + answer.skipped) }
    return answer
  }

  /// Reads the documents of a range, and puts the matches in order.
  func sorted(_ plan: QueryPlan, _ page: PageSize) async throws -> (QueryAnswer, cost: Int) {
    var source = PlannedDocuments(plan, wanted: .max, in: snapshot)
    var best = BestResults(query, wanted: BestResults.needed(for: query, atMost: page.documents))
    for document in try PastDocuments(of: query, in: snapshot).documents { best.take(document) }
    while true {
      let documents = try await source.next(min(OrderWalk.largestBatch, source.fitting(page.bytes)))
      if documents.isEmpty { break }
      for case let document? in documents where query.matches(document) { best.take(document) }
      // Large documents make a page short.
      best.want(atMost: BestResults.needed(for: query, atMost: source.fitting(page.bytes)))
    }
    var sink = QuerySink(query)
    for document in best.results() where !sink.isFull { sink.take(document) }
    let answer = QueryAnswer(
      documents: sink.documents, skipped: sink.skipped, read: source.read, scanned: source.scanned, plan: plan,
      isLast: sink.isFull || !best.isCut)
    return (answer, source.cost)
  }
}
