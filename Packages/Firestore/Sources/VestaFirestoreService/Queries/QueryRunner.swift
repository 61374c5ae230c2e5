import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Answers queries: from indexes where they are ready, else by looking at the documents while the indexes are made.
struct QueryRunner {
  let query: NormalQuery
  let snapshot: Snapshot
  private let progress: RaceProgress
  private let scan: QueryScan?

  /// - Parameters:
  ///   - progress: The work on the pages before.
  ///   - scan: An unfinished look at all documents.
  init(
    query: NormalQuery, snapshot: Snapshot, progress: RaceProgress = RaceProgress(), continuing scan: QueryScan? = nil
  ) {
    self.query = query
    self.snapshot = snapshot.reading(with: snapshot.reader.yielding)
    self.progress = progress
    self.scan = scan
  }

  /// The rest after a page.
  init(_ position: QueryPosition, snapshot: Snapshot) {
    self.init(query: position.query, snapshot: snapshot, progress: position.progress, continuing: position.scan)
  }

  /// All results.
  func answer() async throws -> QueryAnswer {
    let size = snapshot.tuning.queries.wholePage
    var page = try await page(size)
    var answer = page.answer
    while case .after(let position) = page.rest {
      page = try await QueryRunner(position, snapshot: snapshot).page(size)
      answer.append(page.answer)
    }
    return answer
  }

  /// The first results, as many as a page has; all of them where the query has to be answered as a whole.
  func page(_ size: PageSize) async throws -> QueryPage {
    let page = try await nextPage(size)
    guard case .after(var position) = page.rest else { return page }
    position.progress.isContinued = true
    return QueryPage(answer: page.answer, rest: .after(position))
  }

  private func nextPage(_ size: PageSize) async throws -> QueryPage {
    try await snapshot.indexes?.check(query, in: snapshot.reader)
    let needs = QueryNeeds(query)
    // A query asks once for the indexes that it lacks, however many pages it has.
    let asks = !progress.isContinued
    if let needs, let plan = try await QueryRunner.plan(needs, in: snapshot, asking: asks) ?? documentsPlan(needs) {
      return try await page(by: plan, query.findNearest == nil ? size : .unlimited)
    }
    if query.collectionID == nil { return try await walk(size) }
    var scan = scan ?? QueryScan(query, in: snapshot)
    let read = try await scan.look(atMost: size.rows, in: snapshot)
    guard scan.isOver else {
      return QueryPage(answer: QueryAnswer(read: read), rest: .after(QueryPosition(in: scan, of: query, progress)))
    }
    let (documents, skipped) = scan.results()
    return QueryPage(answer: QueryAnswer(documents: documents, skipped: skipped, read: read), rest: .none)
  }

  /// The plan of a query, if its indexes are ready; missing ones are begun.
  ///
  /// - Parameter asking: Whether the query counts among the queries that lack the missing indexes.
  static func plan(_ needs: QueryNeeds, in snapshot: Snapshot, asking: Bool = true) async throws -> QueryPlan? {
    guard let keeper = snapshot.indexes else { return nil }
    let catalogue = try await keeper.catalogue(in: snapshot.reader)
    let outcome = QueryPlanner(needs, catalogue, isForbidden: keeper.declared.forbid).outcome()
    if asking { keeper.want(outcome.missing, catalogue) }
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
  private func page(by plan: QueryPlan, _ size: PageSize) async throws -> QueryPage {
    var walk = try OrderWalk(query, plan, size, progress, in: snapshot)
    guard !plan.isDirect, let keeper = snapshot.indexes else {
      guard let page = try await walk.page() else { throw FirestoreServiceError.damaged }
      return page
    }
    var race = RangeRace(query, progress, in: snapshot)
    var done = progress
    done.documentBytes = walk.documentBytes
    let page: QueryPage
    switch try await race.run({ rows in try await walk.page(lookingAt: rows) }) {
    case .walked(let walked):
      page = walked
      (done.budget, done.walked) = (race.budget, done.walked + walk.cost)
    case .range(let range):
      keeper.use(range, try await keeper.catalogue(in: snapshot.reader))
      let cost: Int
      (page, cost) = try await sorted(range, size)
      done.cost += cost
      (done.budget, done.walked) = (nil, 0)
    }
    done.cost += walk.cost + race.counted
    done.results += page.answer.documents.count + page.answer.skipped
    guard case .after(var position) = page.rest else {
      if !plan.isScan { try await race.learn(cost: done.cost, results: done.results) }
      return page
    }
    position.progress = done
    return QueryPage(answer: page.answer, rest: .after(position))
  }

  /// Reads the documents of a range, and puts the matches in order.
  func sorted(_ plan: QueryPlan, _ size: PageSize) async throws -> (QueryPage, cost: Int) {
    let tuning = snapshot.tuning.queries
    var source = PlannedDocuments(plan, wanted: .max, progress, in: snapshot)
    let needed = BestResults.needed(for: query, atMost: size.documents)
    var best = BestResults(query, wanted: needed, spare: tuning.spareResults)
    for document in try PastDocuments(of: query, in: snapshot).documents { best.take(document) }
    while true {
      let documents = try await source.next(min(tuning.largestBatch, source.fitting(size.bytes)), room: size.bytes)
      if documents.isEmpty { break }
      for case let document? in documents where query.matches(document) { best.take(document) }
      // Large documents make a page short.
      best.want(atMost: BestResults.needed(for: query, atMost: source.fitting(size.bytes)))
    }
    var sink = QuerySink(query)
    let results = best.results()
    for document in results where !sink.isFull { sink.take(document) }
    let answer = QueryAnswer(
      documents: sink.documents, skipped: sink.skipped, read: source.read, scanned: source.scanned, plan: plan)
    guard best.isCut, !sink.isFull, let last = results.last else {
      return (QueryPage(answer: answer, rest: .none), source.cost)
    }
    let position = QueryPosition(after: last, of: query, sink, RaceProgress())
    return (QueryPage(answer: answer, rest: .after(position)), source.cost)
  }
}
