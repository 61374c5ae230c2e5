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
}

/// Answers queries: from indexes where they are ready, else by looking at the documents while the indexes are made.
struct QueryRunner {
  let query: NormalQuery
  let snapshot: Snapshot

  private static let largestBatch = 256

  func answer() async throws -> QueryAnswer {
    try await snapshot.indexes?.check(query, snapshot)
    if let needs = QueryNeeds(query), let plan = try await QueryRunner.plan(needs, in: snapshot) {
      return try await run(plan)
    }
    if query.collectionID == nil { return try await walk() }
    let (documents, skipped, read) = try await QueryScan(query: query, snapshot: snapshot).results()
    return QueryAnswer(documents: documents, skipped: skipped, read: read)
  }

  /// The plan of a query, if its indexes are ready; those that are missing are begun.
  static func plan(_ needs: QueryNeeds, in snapshot: Snapshot) async throws -> QueryPlan? {
    guard let keeper = snapshot.indexes else { return nil }
    let catalogue = try await keeper.catalogue(snapshot.head, snapshot.reader)
    let outcome = QueryPlanner(needs, catalogue, isForbidden: keeper.declared.forbid).outcome()
    keeper.want(outcome.missing, catalogue)
    for case let shape? in outcome.plan?.shapes ?? [] {
      if let index = catalogue.byShape[shape] { keeper.use(index) }
    }
    return outcome.plan
  }

  private func run(_ plan: QueryPlan) async throws -> QueryAnswer {
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
    while !sink.isFull {
      let size = plan.isDecided ? min(sink.room, QueryRunner.largestBatch) : batch
      let documents = try await next(size, of: &entries)
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
      documents: sink.documents, skipped: sink.skipped, read: read, scanned: entries.scanned, plan: plan)
  }

  /// The documents of the next entries, read together.
  private func next(_ count: Int, of entries: inout EntryUnion) async throws -> [Document?] {
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
      return try StoredDocument(place: place, row: row).document(in: snapshot.name)
    }
  }
}
