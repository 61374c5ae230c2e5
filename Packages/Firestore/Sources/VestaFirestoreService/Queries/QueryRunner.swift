import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// What a query came to.
struct QueryAnswer {
  var documents: [Document] = []
  var skipped = 0
  /// How many documents were read.
  var read = 0
  /// How many entries of indexes were looked at.
  var scanned = 0
  /// The plan; `nil` where all documents were looked at.
  var plan: QueryPlan?
  /// Whether no results follow.
  var isLast = true
}

/// How much a page of results has at most; it has one result at least.
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

  private static let largestBatch = 256

  /// All results.
  func answer() async throws -> QueryAnswer { try await page(.all) }

  /// The first results, as many as a page has; all of them where the query has to be answered as a whole.
  func page(_ size: PageSize) async throws -> QueryAnswer {
    try await snapshot.indexes?.check(query, snapshot)
    let needs = QueryNeeds(query)
    if let needs, let plan = try await QueryRunner.plan(needs, in: snapshot) ?? documentsPlan(needs) {
      return try await run(plan, query.findNearest == nil ? size : .all)
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
    for case let shape? in outcome.plan?.shapes ?? [] {
      if let index = catalogue.byShape[shape] { keeper.use(index) }
    }
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

  private func run(_ plan: QueryPlan, _ page: PageSize) async throws -> QueryAnswer {
    var entries = EntryUnion(plan, wanted: query.limit.map { $0 + query.offset } ?? .max, in: snapshot)
    var sink = QuerySink(query)
    var read = 0
    // Indexes are of the present. What has changed since the moment of the snapshot is put in from the log.
    var past = try PastDocuments(of: query, in: snapshot).documents[...]
    if plan.isDecided, snapshot.past.isEmpty {
      // What is left out need not be read.
      while sink.isSkipping, try await entries.next() != nil { sink.skip() }
    }
    var batch = 32
    var bytes = 0
    while !sink.isFull {
      let room = page.documents - sink.count
      if room <= 0 || bytes >= page.bytes {
        return QueryAnswer(
          documents: sink.documents, skipped: sink.skipped, read: read, scanned: entries.scanned,
          plan: plan.isScan ? nil : plan, isLast: false)
      }
      // Large documents come few at a time, so that a page does not outgrow its size by much.
      let each = read == 0 ? 0 : bytes / read
      let fitting = each == 0 ? batch : max(1, (page.bytes - bytes) / each)
      let size = min(plan.isDecided ? min(sink.room, QueryRunner.largestBatch) : batch, fitting)
      let documents = try await next(size, of: &entries, &bytes)
      if documents.isEmpty { break }
      read += documents.count
      for case let document? in documents where plan.isDecided || query.matches(document) {
        while let first = past.first, query.compare(first, document) < 0 { sink.take(past.removeFirst()) }
        sink.take(document)
      }
      batch = min(batch * 2, QueryRunner.largestBatch)
    }
    for document in past { sink.take(document) }
    return QueryAnswer(
      documents: sink.documents, skipped: sink.skipped, read: read, scanned: entries.scanned,
      plan: plan.isScan ? nil : plan)
  }

  /// The documents of the next entries, read together.
  private func next(_ count: Int, of entries: inout EntryUnion, _ bytes: inout Int) async throws -> [Document?] {
    var places: [Place] = []
    var rows: [[UInt8]?] = []
    while places.count < count, let (entry, branch) = try await entries.next() {
      let (place, row) = entries.document(entry, branch)
      if !snapshot.past.isEmpty, snapshot.past[place] != nil { continue }
      places.append(place)
      rows.append(row)
    }
    let absent = places.indices.filter { rows[$0] == nil }
    if !absent.isEmpty {
      for (index, row) in zip(absent, try await snapshot.rows(at: absent.map { places[$0] })) { rows[index] = row }
    }
    return try zip(places, rows).map { place, row in
      guard let row else { return nil }
      bytes += row.count
      return try StoredDocument(place: place, row: row).document(in: snapshot.name)
    }
  }
}
