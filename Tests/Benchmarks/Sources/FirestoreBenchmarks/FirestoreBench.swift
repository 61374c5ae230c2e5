import Foundation
import SQLiteBaseline
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreService
import VestaSQLite

/// An engine on a store in a separate folder, and SQLite by hand next to it; made when the first line needs it.
final class FirestoreBench: Sendable {
  let engine: FirestoreEngine
  let raw: RawSQLite
  private let directory: String
  private let rawTables = Locked([Int: RawSQLite]())
  private let databases = Locked(Set<String>())
  private let filling = SingleFlight<String, Bool>()

  private static let made = Locked<FirestoreBench?>(nil)
  private static let making = SingleFlight<Bool, FirestoreBench>()
  private static let owner = CallContext(caller: .owner)

  static func shared() async throws -> FirestoreBench {
    if let made = made.withLock({ $0 }) { return made }
    return try await making.value(for: true) {
      let bench = try await FirestoreBench()
      made.withLock { $0 = bench }
      return bench
    }
  }

  static func remove() async throws {
    guard let bench = made.withLock({ $0.take() }) else { return }
    try await bench.engine.close()
    try FileManager.default.removeItem(atPath: bench.directory)
  }

  /// How many documents SQLite by hand has.
  static let rawRows = 100_000

  private init() async throws {
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    directory = "\(base)/vesta-bench-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    engine = FirestoreEngine(store: try await SQLiteStore.open(named: "documents", in: directory))
    raw = Self.table(of: Self.rawRows, at: "\(directory)/raw.sqlite")
  }

  private static func table(of rows: Int, at path: String) -> RawSQLite {
    let table = RawSQLite(path: path)
    for first in stride(from: 0, to: rows, by: 1_000) {
      table.begin()
      for number in first..<min(first + 1_000, rows) {
        table.put(Workload.value(number, length: Items.rowLength), for: Workload.key(number))
      }
      table.commit()
    }
    return table
  }

  /// SQLite by hand with `rows` rows.
  func rawTable(of rows: Int) -> RawSQLite {
    rawTables.withLock { tables in
      if let table = tables[rows] { return table }
      let table = Self.table(of: rows, at: "\(directory)/raw-\(rows).sqlite")
      tables[rows] = table
      return table
    }
  }

  // MARK: Databases

  static func database(_ name: String) -> String { "projects/bench/databases/\(name)" }

  static func root(_ name: String) -> String { database(name) + "/documents" }

  /// Fills a database with `count` items, once.
  func fill(_ name: String, _ count: Int) async throws {
    guard !databases.withLock({ $0.contains(name) }) else { return }
    _ = try await filling.value(for: name) {
      for first in stride(from: 0, to: count, by: 500) {
        let numbers = first..<min(first + 500, count)
        try await self.commit(numbers.map { .update(Items.document($0, in: Self.root(name))) }, in: name)
      }
      self.databases.withLock { _ = $0.insert(name) }
      return true
    }
  }

  // MARK: Calls

  /// - Returns: The time of the commit.
  @discardableResult
  func commit(_ writes: [Write], in name: String, transaction: [UInt8]? = nil) async throws -> Timestamp {
    let request = CommitRequest(database: Self.database(name), writes: writes, transaction: transaction)
    return try await engine.commit(request, context: Self.owner).commitTime
  }

  func get(_ document: String, in name: String, consistency: ReadConsistency = .latest) async throws -> (
    document: Document?, transaction: [UInt8]?
  ) {
    var found: Document?
    var transaction: [UInt8]?
    let request = BatchGetDocumentsRequest(
      database: Self.database(name), documents: [document], consistency: consistency)
    try await engine.batchGet(request, context: Self.owner) { response in
      if let id = response.transaction { transaction = id }
      if case .found(let document)? = response.result { found = document }
    }
    return (found, transaction)
  }

  /// Reads documents by name in one transaction, which is then given up.
  func readTogether(_ documents: [String], in name: String) async throws {
    let database = Self.database(name)
    let transaction = try await engine.beginTransaction(
      BeginTransactionRequest(database: database, options: .readWrite()), context: Self.owner
    ).transaction
    let request = BatchGetDocumentsRequest(
      database: database, documents: documents, consistency: .transaction(transaction))
    try await engine.batchGet(request, context: Self.owner) { _ in }
    try await engine.rollback(RollbackRequest(database: database, transaction: transaction), context: Self.owner)
  }

  /// Reads documents by name, and counts the existing ones.
  func getAll(_ documents: [String], in name: String, consistency: ReadConsistency) async throws -> Int {
    var found = 0
    let request = BatchGetDocumentsRequest(
      database: Self.database(name), documents: documents, consistency: consistency)
    try await engine.batchGet(request, context: Self.owner) { if case .found? = $0.result { found += 1 } }
    return found
  }

  /// The time of a commit that changes nothing else.
  func commitTime(in name: String) async throws -> Timestamp {
    let write = Write.update(Document(name: "\(Self.root(name))/marks/one", fields: [:]))
    return try await commit([write], in: name)
  }

  /// Runs a query and counts its results.
  func run(_ query: StructuredQuery, in name: String) async throws -> Int {
    var count = 0
    try await engine.runQuery(RunQueryRequest(parent: Self.root(name), query: query), context: Self.owner) {
      if $0.document != nil { count += 1 }
    }
    return count
  }

  /// Runs a query over all items; each result waits for `receive`.
  func runAll(in name: String, receive: () async throws -> Void) async throws {
    let query = StructuredQuery(from: [.init(collectionID: Items.collection)])
    try await engine.runQuery(RunQueryRequest(parent: Self.root(name), query: query), context: Self.owner) {
      if $0.document != nil { try await receive() }
    }
  }

  func count(_ query: StructuredQuery, in name: String) async throws -> Int64 {
    let counting = StructuredAggregationQuery(query: query, aggregations: [Aggregation(.count(upTo: nil), alias: "n")])
    let request = RunAggregationQueryRequest(parent: Self.root(name), query: counting)
    guard case .integer(let count)? = try await engine.runAggregation(request, context: Self.owner).result?["n"] else {
      return -1
    }
    return count
  }

  /// Runs a query until its plan uses an index: the engine makes one after repeated use.
  ///
  /// It asks again and again: a backend reports its plan, and not when another one begins.
  func makeIndex(for query: StructuredQuery, in name: String) async throws {
    while try await !usesIndex(query, in: name) {
      _ = try await run(query, in: name)
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  private func usesIndex(_ query: StructuredQuery, in name: String) async throws -> Bool {
    var uses = false
    let request = RunQueryRequest(parent: Self.root(name), query: query, explain: ExplainOptions())
    try await engine.runQuery(request, context: Self.owner) {
      if let metrics = $0.explainMetrics {
        uses = !metrics.indexesUsed.isEmpty && metrics.indexesUsed.allSatisfy { $0["state"] == nil }
      }
    }
    return uses
  }

  func listen(_ query: StructuredQuery, in name: String) async throws -> ListenCall {
    let call = try await engine.listen(database: Self.database(name), context: Self.owner)
    call.send(.addTarget(Target(id: 1, .query(parent: Self.root(name), query))))
    return call
  }
}
