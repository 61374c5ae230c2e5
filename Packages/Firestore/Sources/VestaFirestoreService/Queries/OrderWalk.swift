import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Answers a query by a plan, in the order of its results; it can stop after a number of rows, and go on.
struct OrderWalk {
  static let largestBatch = 256

  private let query: NormalQuery
  private let plan: QueryPlan
  private let page: PageSize
  private let hasPast: Bool
  private var source: PlannedDocuments
  private var sink: QuerySink
  /// The documents changed since the version of the snapshot, as they were then: indexes are of the latest version.
  private var past: ArraySlice<Document>
  private var batch = 32

  init(_ query: NormalQuery, _ plan: QueryPlan, _ page: PageSize, in snapshot: Snapshot) throws {
    self.query = query
    self.plan = plan
    self.page = page
    hasPast = !snapshot.past.isEmpty
    // A walk with a filter does not know how many documents to read.
    let wanted = min(BestResults.needed(for: query), plan.isDirect ? .max : 64)
    source = PlannedDocuments(plan, wanted: wanted, in: snapshot)
    sink = QuerySink(query)
    past = try PastDocuments(of: query, in: snapshot).documents[...]
  }

  /// The number of rows that were read.
  var cost: Int { source.cost }

  /// Goes on until the page is full, or the results are at their end.
  ///
  /// - Parameter rows: How many rows may be read in all.
  /// - Returns: `nil` when that was not enough; the next call goes on.
  mutating func answer(lookingAt rows: Int = .max) async throws -> QueryAnswer? {
    source.allow(rows)
    if plan.isDecided, !hasPast {
      // Skipped documents need not be read.
      while sink.isSkipping, try await source.skip() { sink.skip() }
      if source.isPaused { return nil }
    }
    while !sink.isFull {
      let room = page.documents - sink.count
      if room <= 0 || source.bytes >= page.bytes { return answer(isLast: false) }
      let left = rows - source.cost
      if left <= 0 { return nil }
      // Large documents come few at a time, so that a page does not outgrow its size by much.
      let fitting = min(source.fitting(page.bytes - source.bytes), left)
      let documents = try await source.next(
        min(plan.isDecided ? min(sink.room, OrderWalk.largestBatch) : batch, fitting))
      if documents.isEmpty {
        if source.isPaused { return nil }
        break
      }
      take(documents)
      batch = min(batch * 2, OrderWalk.largestBatch)
    }
    for document in past { sink.take(document) }
    return answer(isLast: true)
  }

  private mutating func take(_ documents: [Document?]) {
    for case let document? in documents where plan.isDecided || query.matches(document) {
      while let first = past.first, query.compare(first, document) < 0 { sink.take(past.removeFirst()) }
      sink.take(document)
    }
  }

  private func answer(isLast: Bool) -> QueryAnswer {
    QueryAnswer(
      documents: sink.documents, skipped: sink.skipped, read: source.read, scanned: source.scanned,
      plan: plan.isScan ? nil : plan, isLast: isLast)
  }
}
