import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Where a page of a query ends says nothing about whether results follow.
struct QueryPageTests {
  /// An engine with `count` documents of a kilobyte, and no automatic indexes.
  private static func filled(
    _ count: Int, _ change: (inout FirestoreServiceOptions) -> Void = { _ in }
  ) async throws -> FirestoreEngine {
    let engine = makeEngine {
      $0.automaticIndexUses = .max
      change(&$0)
    }
    for start in stride(from: 0, to: count, by: 100) {
      let writes = (start..<min(start + 100, count)).map { number in
        update(path(number), ["n": .integer(Int64(number)), "about": .string(String(repeating: "x", count: 1_000))])
      }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
    return engine
  }

  private static func path(_ number: Int) -> String { "people/p\(1_000 + number)" }

  private static func names(_ numbers: some Sequence<Int>) -> [String] { numbers.map { name(path($0)) } }

  private static func people(_ filter: Filter? = nil, offset: Int32 = 0, limit: Int32? = nil) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "people")], filter: filter, offset: offset, limit: limit)
  }

  /// Two more pages of bytes than the first one has are looked at before the only result.
  @Test func `a result after more documents than a page may look at is found`() async throws {
    let engine = try await Self.filled(700)
    let last: Filter = .field(path: "n", .equal, .integer(699))
    #expect(try await engine.query(Self.people(last)).map(\.name) == Self.names([699]))
    let ends: Filter = .field(path: "n", .in, .array([.integer(0), .integer(699)]))
    #expect(try await engine.query(Self.people(ends)).map(\.name) == Self.names([0, 699]))
    var turned = Self.people(.field(path: "n", .equal, .integer(0)))
    turned.orderBy = [.init(fieldPath: "__name__", .descending)]
    #expect(try await engine.query(turned).map(\.name) == Self.names([0]))
    #expect(try await engine.query(Self.people(offset: 690, limit: 5)).map(\.name) == Self.names(690..<695))
    let few: Filter = .field(path: "n", .lessThan, .integer(600))
    var ordered = Self.people(few, offset: 590)
    ordered.orderBy = [.init(fieldPath: "__name__")]
    #expect(try await engine.query(ordered).map(\.name) == Self.names(590..<600))
    ordered = Self.people(.field(path: "n", .greaterThanOrEqual, .integer(698)))
    ordered.orderBy = [.init(fieldPath: "__name__")]
    #expect(try await engine.query(ordered).map(\.name) == Self.names(698..<700))
    let everywhere = StructuredQuery(
      from: [.init(collectionID: "", allDescendants: true)],
      filter: .field(path: "__name__", .greaterThan, .reference(name(Self.path(100)))), offset: 500, limit: 3)
    #expect(try await engine.query(everywhere).map(\.name) == Self.names(601..<604))
  }

  @Test func `a result after more documents than a page may look at was found in the past too`() async throws {
    let engine = try await Self.filled(600)
    let time = try await engine.commit(update("other/x", [:])).commitTime
    for number in [3, 300, 598, 599] { try await engine.commit(.delete(name(Self.path(number)))) }
    for number in [5, 301, 597] { try await engine.commit(update(Self.path(number), ["n": .integer(-1)])) }
    let last: Filter = .field(path: "n", .greaterThanOrEqual, .integer(597))
    var query = Self.people(last)
    query.orderBy = [.init(fieldPath: "__name__")]
    #expect(try await engine.query(query, .readTime(time)).map(\.name) == Self.names(597..<600))
    #expect(try await engine.query(query).isEmpty)
    let offset = Self.people(offset: 590)
    #expect(try await engine.query(offset, .readTime(time)).map(\.name) == Self.names(590..<600))
  }

  /// A transaction that takes a name as long as no document has it.
  @Test func `a transaction that looks for a document finds it, however far away`() async throws {
    let engine = try await Self.filled(600)
    let last: Filter = .field(path: "n", .equal, .integer(599))
    for options in [TransactionOptions.readWrite(), .readWrite(concurrency: .optimistic), .readOnly()] {
      let id = try await engine.begin(options)
      #expect(try await engine.query(Self.people(last), .transaction(id)).count == 1)
      _ = try? await engine.commit(in: id)
    }
  }

  @Test func `what an offset leaves out is told once, whatever pages it takes`() async throws {
    let engine = try await Self.filled(40) {
      $0.tuning.queries.firstPage = PageSize(documents: 3, bytes: 1)
      $0.tuning.queries.nextPage = PageSize(documents: 2, bytes: 2_500)
    }
    let filter: Filter = .field(path: "n", .notEqual, .integer(7))
    var query = Self.people(filter, offset: 30, limit: 4)
    query.orderBy = [.init(fieldPath: "__name__")]
    var (skipped, found, empty) = ([Int32](), [String](), 0)
    try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) { response in
      if response.skippedResults > 0 { skipped.append(response.skippedResults) }
      if let document = response.document { found.append(document.name) } else { empty += 1 }
    }
    #expect(skipped == [30] && empty == 1)
    #expect(found == Self.names(31..<35))
    query = Self.people(.field(path: "n", .equal, .integer(-1)))
    var responses = 0
    try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) { response in
      #expect(response.document == nil && response.readTime != nil)
      responses += 1
    }
    #expect(responses == 1)
  }

  /// A page of a race begins where the page before it ended, with the budgets that it had.
  @Test func `a range that is shorter than the walk wins after many pages, too`() async throws {
    let engine = try await Self.filled(2_000) {
      $0.automaticIndexUses = 1
      $0.tuning.queries.firstPage = PageSize(documents: 5, bytes: 20_000)
      $0.tuning.queries.nextPage = PageSize(documents: 5, bytes: 20_000)
      $0.tuning.queries.raceBudget = 4
    }
    let base = try await engine.engine(database)
    _ = try await engine.query(
      StructuredQuery(from: [.init(collectionID: "people")], orderBy: [.init(fieldPath: "n")], limit: 1))
    await base.indexes.settle()
    var query = Self.people(.field(path: "n", .greaterThanOrEqual, .integer(1_900)))
    query.orderBy = [.init(fieldPath: "__name__")]
    let request = RunQueryRequest(parent: root, query: query, explain: ExplainOptions(analyze: true))
    var found: [String] = []
    var read: Value?
    try await engine.runQuery(request, context: owner) { response in
      if let document = response.document { found.append(document.name) }
      if let metrics = response.explainMetrics { read = metrics.executionStats?.debugStats["documents_scanned"] }
    }
    #expect(found == Self.names(1_900..<2_000))
    guard case .string(let text)? = read, let count = Int(text) else { return #expect(Bool(false)) }
    #expect(count < 1_900, "the walk alone would have read 2,000: \(count)")
  }

  /// A page is in memory for as long as its call waits for a slow caller: what is counted here are its bytes.
  @Test(arguments: [nil, "n"]) func `a page of large documents has no more than it has room for`(
    order: String?
  ) async throws {
    let (length, room, count) = (10_000, 20_000, 100)
    let store = HookedStore()
    let engine = makeEngine(on: store) {
      $0.tuning.queries.firstPage = PageSize(documents: 256, bytes: room)
      $0.tuning.queries.nextPage = PageSize(documents: 2_048, bytes: room)
    }
    for number in 0..<count {
      let text = Value.string(String(repeating: "x", count: length))
      try await engine.commit(update(Self.path(number), ["n": .integer(Int64(number)), "about": text]))
    }
    var query = Self.people()
    if let order { query.orderBy = [.init(fieldPath: order)] }
    query.limit = 1
    _ = try await engine.query(query)
    try await engine.engine(database).indexes.settle()
    query.limit = nil
    let start = store.counts
    var pages: [Int: Int] = [:]
    try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) { response in
      // Each page is one read of the store.
      if let document = response.document {
        guard case .string(let text)? = document.fields["about"] else { return #expect(Bool(false)) }
        pages[store.counts.reads, default: 0] += text.utf8.count
      }
    }
    #expect(pages.values.reduce(0, +) == count * length)
    #expect(pages.values.allSatisfy { $0 <= room + length }, "\(pages.values.sorted())")
    // The size that one page has learnt is the next one's: few documents are read twice.
    #expect(store.counts.rowsRead - start.rowsRead < 2 * count)
  }

  @Test func `a query counts once among the queries that lack an index, however many pages it has`() async throws {
    let engine = try await Self.filled(60) {
      $0.automaticIndexUses = 2
      $0.tuning.queries.firstPage = PageSize(documents: 1, bytes: 1)
      $0.tuning.queries.nextPage = PageSize(documents: 1, bytes: 1)
    }
    let base = try await engine.engine(database)
    let query = Self.people(.field(path: "n", .equal, .integer(59)))
    func indexes() async throws -> Int {
      await base.indexes.settle()
      return try await base.store.read { try await base.indexes.catalogue(in: $0).byShape.count }
    }
    #expect(try await engine.query(query).count == 1)
    #expect(try await indexes() == 0)
    #expect(try await engine.query(query).count == 1)
    #expect(try await indexes() == 1)
  }

  /// Documents of many sizes, random queries and small tunings, against a scan of all documents.
  @Test(arguments: UInt64(1)...8)
  func `pages of any size have the same results`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let tuning = EngineTuning.random(seed: seed)
    let engine = makeEngine {
      $0.tuning = tuning
      $0.automaticIndexUses = data.pick([1, 2, .max])
    }
    let base = try await engine.engine(database)
    var moments: [(Timestamp, [Document])] = []
    let all = StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])
    for round in 0..<4 {
      for _ in 0..<20 {
        var fields = data.richFields()
        if data.oneIn(3) { fields["about"] = .string(String(repeating: "x", count: data.pick([10, 300, 2_000]))) }
        let path = data.path() + data.pick(["", "", "1", "2"])
        try await engine.commit(data.oneIn(6) ? .delete(name(path)) : update(path, fields))
      }
      let time = try await engine.commit(update("end/x", ["n": .integer(Int64(round))])).commitTime
      moments.append((time, try await base.store.read { try await Self.scan(base, $0) }))
      var asked = 0
      while asked < 12 {
        var query = data.richQuery()
        if data.oneIn(5) {
          query = all
          query.offset = Int32(data.below(6))
          query.limit = data.pick([nil, 1, 7])
        }
        guard let normal = try? NormalQuery(query, parent: root), normal.findNearest == nil else { continue }
        asked += 1
        let (moment, documents) = data.pick(moments)
        let expected = normal.results(in: documents).documents.map(\.name)
        let found = try await engine.query(query, .readTime(moment)).map(\.name)
        #expect(found == expected, "seed \(seed), \(tuning): \(query)")
        let latest = try await engine.query(query).map(\.name)
        #expect(
          latest == normal.results(in: moments[round].1).documents.map(\.name), "seed \(seed), \(tuning): \(query)")
      }
      if data.oneIn(2) { await base.indexes.settle() }
    }
  }

  /// All documents, by their rows alone.
  private static func scan(_ base: DocumentDatabase, _ reader: any StoreReader) async throws -> [Document] {
    try await reader.entries(in: KeyRange(prefix: base.keys.documents)).map {
      try StoredDocument(pathKey: base.keys.pathKey(ofDocumentKey: $0.key), row: $0.value).document(in: base.name)
    }
  }
}
