import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Answers a query by a plan, in the order of its results; it can stop after a number of rows, and continue.
struct OrderWalk {
  private let query: NormalQuery
  private let plan: QueryPlan
  private let size: PageSize
  private let hasPast: Bool
  private let largestBatch: Int
  private var source: PlannedDocuments
  private var sink: QuerySink
  /// The documents changed since the version of the snapshot, as they were then: indexes are of the latest version.
  private var past: ArraySlice<Document>
  private var batch: Int
  /// The documents that were looked at since others have run.
  private var looked = 0
  /// The last document that was looked at, a result or not.
  private var last: Document?

  init(
    _ query: NormalQuery, _ plan: QueryPlan, _ size: PageSize, _ progress: RaceProgress, in snapshot: Snapshot
  ) throws {
    self.query = query
    self.plan = plan
    self.size = size
    let tuning = snapshot.tuning.queries
    largestBatch = tuning.largestBatch
    batch = min(tuning.firstBatch, tuning.largestBatch)
    hasPast = !snapshot.past.isEmpty
    // A walk with a filter does not know how many documents to read.
    let wanted = min(BestResults.needed(for: query), plan.isDirect ? .max : tuning.likelyEntries)
    source = PlannedDocuments(plan, wanted: wanted, progress, in: snapshot)
    sink = QuerySink(query)
    past = try PastDocuments(of: query, in: snapshot).documents[...]
  }

  /// The number of rows that were read.
  var cost: Int { source.cost }

  /// The bytes of a document on average.
  var documentBytes: Int { source.documentBytes }

  /// Continues until the page is full or has cost enough, or the results are at their end.
  ///
  /// - Parameter rows: How many rows may be read in all.
  /// - Returns: `nil` when that was not enough; the next call continues.
  mutating func page(lookingAt rows: Int = .max) async throws -> QueryPage? {
    source.allow(rows)
    if plan.isDecided, !hasPast {
      // Skipped documents need not be read.
      while sink.isSkipping, try await source.skip() { sink.skip() }
      if source.isPaused { return nil }
    }
    while !sink.isFull {
      if let last, sink.count >= size.documents || source.bytes >= size.bytes { return page(endingAfter: last) }
      let left = rows - source.cost
      if left <= 0 { return nil }
      // Large documents are read few at a time, so that a page does not outgrow its size by much.
      let room = size.bytes - source.bytes
      let fitting = min(source.fitting(room), left)
      let wanted = plan.isDecided ? min(sink.room, largestBatch, max(1, size.documents - sink.count)) : batch
      // Others run between two batches: taking documents apart costs more than reading them.
      // A query of few documents is answered without a pause, on the thread that asked.
      if looked >= largestBatch {
        looked = 0
        await Task.yield()
      }
      let documents = try await source.next(min(wanted, fitting), room: room)
      looked += documents.count
      if documents.isEmpty {
        if source.isPaused { return nil }
        break
      }
      take(documents)
      batch = min(batch * 2, largestBatch)
    }
    for document in past { sink.take(document) }
    return QueryPage(answer: answer, rest: .none)
  }

  private mutating func take(_ documents: [Document?]) {
    // A page never ends before it began, whatever the bounds of its scans. The documents are in order.
    if case let document?? = documents.last(where: { $0 != nil }), query.begins(before: document) { last = document }
    for case let document? in documents {
      guard plan.isDecided || query.matches(document) else { continue }
      takePast(before: document)
      sink.take(document)
    }
  }

  private mutating func takePast(before document: Document) {
    while let first = past.first, query.compare(first, document) < 0 { sink.take(past.removeFirst()) }
  }

  /// Ends the page after a document; the earlier results then belong to this page.
  private mutating func page(endingAfter document: Document) -> QueryPage {
    takePast(before: document)
    if sink.isFull { return QueryPage(answer: answer, rest: .none) }
    let progress = RaceProgress(documentBytes: documentBytes)
    return QueryPage(answer: answer, rest: .after(QueryPosition(after: document, of: query, sink, progress)))
  }

  private var answer: QueryAnswer {
    QueryAnswer(
      documents: sink.documents, skipped: sink.skipped, read: source.read, scanned: source.scanned,
      plan: plan.isScan ? nil : plan)
  }
}
