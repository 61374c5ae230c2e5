import FirestoreInterop
import FirestoreModel
import StoreInterop

/// What a query came to.
struct QueryAnswer {
  var documents: [Document]
  var skipped: Int
  /// How many documents were read.
  var read: Int
  /// How many entries of indexes were looked at.
  var scanned = 0
  /// The plan; `nil` where the documents themselves were looked at.
  var plan: QueryPlan?
}

/// Answers queries: from indexes where they are ready, else by looking at the documents while the indexes are made.
struct QueryRunner {
  let query: NormalQuery
  let snapshot: Snapshot

  private static let batch = 128

  func answer() async throws -> QueryAnswer {
    if let plan = QueryPlan(query), let keeper = snapshot.indexes, snapshot.past.isEmpty {
      let catalogue = try await keeper.catalogue(snapshot.head, snapshot.reader)
      let indexes = plan.shapes.map { catalogue.byShape[$0] }
      if indexes.allSatisfy({ $0?.row.isReady == true }) {
        for case let index? in indexes { keeper.use(index) }
        return try await run(plan, catalogue)
      }
      for (shape, index) in zip(plan.shapes, indexes) where index?.row.isReady != true { keeper.build(shape) }
    }
    let (documents, skipped, read) = try await QueryScan(query: query, snapshot: snapshot).results()
    return QueryAnswer(documents: documents, skipped: skipped, read: read)
  }

  private func run(_ plan: QueryPlan, _ catalogue: IndexCatalogue) async throws -> QueryAnswer {
    var joins = zip(plan.alternatives, plan.bounds).map { scans, bounds in
      EntryJoin(
        scans.map { scan in
          EntryStream(
            reader: snapshot.reader,
            prefix: snapshot.keys.entries(ofIndex: catalogue.byShape[scan.shape]?.id ?? 0) + scan.prefix,
            bounds: bounds, order: plan.order)
        }, plan.order)
    }
    var answer = QueryAnswer(documents: [], skipped: 0, read: 0, plan: plan)
    let wanted = query.limit.map { $0 + query.offset } ?? .max
    var matched = 0
    while matched < wanted {
      let places = try await next(min(wanted - matched, QueryRunner.batch), of: &joins, plan.order)
      if places.isEmpty { break }
      answer.read += places.count
      for case let stored? in try await snapshot.documents(at: places) {
        let document = stored.document(in: snapshot.name)
        guard query.matches(document) else { continue }
        matched += 1
        if matched > query.offset { answer.documents.append(document) }
      }
    }
    answer.skipped = min(matched, query.offset)
    answer.scanned = joins.reduce(0) { $0 + $1.scanned }
    if let search = query.findNearest { answer.documents = NearestVectors(search).nearest(in: answer.documents) }
    return answer
  }

  /// The next places in the order of the query, each once though several alternatives have it.
  private func next(_ count: Int, of joins: inout [EntryJoin], _ order: ScanOrder) async throws -> [Place] {
    var places: [Place] = []
    while places.count < count {
      var first: EntryStream.Entry?
      var heads: [EntryStream.Entry?] = []
      for index in joins.indices {
        let head = try await joins[index].head()
        heads.append(head)
        guard let head else { continue }
        if let known = first, !EntryStream.isBefore(head.suffix, known.suffix, order) { continue }
        first = head
      }
      guard let first else { break }
      places.append(first.place)
      for index in joins.indices where heads[index]?.suffix == first.suffix { joins[index].advance() }
    }
    return places
  }
}
