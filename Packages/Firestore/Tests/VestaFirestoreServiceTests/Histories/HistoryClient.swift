import VestaFirestoreBackend
import VestaTesting

/// Runs transactions against an engine, step by step, and keeps the answers.
struct HistoryClient {
  enum Kind {
    case optimistic
    case pessimistic
    case readOnly
  }

  /// The state of the transaction.
  enum Outcome {
    case open
    case committed(History.Transaction)
    case aborted
  }

  static let names = ["a", "b", "c", "d"]

  private let engine: any FirestoreBackend
  private let kind: Kind
  private var id: [UInt8]?
  private var transaction = History.Transaction()
  private var readTime = Timestamp(seconds: 0)
  private var stepsLeft: Int

  init(_ engine: any FirestoreBackend, _ kind: Kind, _ data: inout SplitMix) {
    self.engine = engine
    self.kind = kind
    stepsLeft = data.pick([1, 2, 3])
  }

  /// Begins, reads something, or commits.
  mutating func step(_ data: inout SplitMix) async throws -> Outcome {
    do {
      guard let id else {
        id = try await engine.begin(kind.options)
        return .open
      }
      guard stepsLeft > 0 else { return .committed(try await commit(id, &data)) }
      stepsLeft -= 1
      transaction.reads.append(try await read(id, &data))
      return .open
    } catch let error as FirestoreServiceError where error.code == .aborted {
      return .aborted
    }
  }

  /// Runs to the end.
  mutating func run(_ data: inout SplitMix) async throws -> History.Transaction? {
    while true {
      switch try await step(&data) {
      case .open: await Task.yield()
      case .committed(let transaction): return transaction
      case .aborted: return nil
      }
    }
  }

  private mutating func read(_ id: [UInt8], _ data: inout SplitMix) async throws -> History.Read {
    if data.pick([true, true, false]) {
      let path = data.pick(HistoryClient.names)
      var found: Document?
      let request = BatchGetDocumentsRequest(
        database: database, documents: [name("items/\(path)")], consistency: .transaction(id))
      var time = readTime
      try await engine.batchGet(request, context: owner) { response in
        time = response.readTime ?? time
        if case .found(let document)? = response.result { found = document }
      }
      readTime = time
      return .document(path, found.map(HistoryClient.number))
    }
    let (bound, limit) = (data.pick([0, 300, 700]), data.pick([nil, nil, 2] as [Int?]))
    var query = StructuredQuery.all("items")
    if bound > 0 {
      query.filter = .field(path: "n", .greaterThanOrEqual, .integer(Int64(bound)))
      query.orderBy = [.init(fieldPath: "n")]
    }
    // The first by name is what the model knows, so a bounded query is asked without a limit.
    if bound == 0 { query.limit = limit.map { Int32($0) } }
    var found: [String: Int] = [:]
    var time = readTime
    let request = RunQueryRequest(parent: root, query: query, consistency: .transaction(id))
    try await engine.runQuery(request, context: owner) { response in
      time = response.readTime ?? time
      guard let document = response.document else { return }
      found[String(document.name.split(separator: "/").last ?? "")] = HistoryClient.number(document)
    }
    readTime = time
    return .query(atLeast: bound, limit: bound == 0 ? limit : nil, found)
  }

  private mutating func commit(_ id: [UInt8], _ data: inout SplitMix) async throws -> History.Transaction {
    if case .readOnly = kind {
      _ = try await engine.commit(CommitRequest(database: database, writes: [], transaction: id), context: owner)
      transaction.version = readTime.microseconds ?? 0
      return transaction
    }
    for _ in 0..<data.pick([0, 1, 1, 2, 3]) {
      let number = data.pick([true, true, true, false]) ? Int.random(in: 0..<1000, using: &data) : nil
      transaction.writes.updateValue(number, forKey: data.pick(HistoryClient.names))
    }
    let writes = transaction.writes.map { path, number in
      // The second field makes every write a change.
      number.map { update("items/\(path)", ["n": .integer(Int64($0)), "by": .bytes(id)]) }
        ?? .delete(name("items/\(path)"))
    }
    let request = CommitRequest(database: database, writes: writes, transaction: id)
    transaction.version = try await engine.commit(request, context: owner).commitTime.microseconds ?? 0
    return transaction
  }

  private static func number(_ document: Document) -> Int {
    if case .integer(let number)? = document.fields["n"] { return Int(number) }
    return -1
  }
}

extension HistoryClient.Kind {
  fileprivate var options: TransactionOptions {
    switch self {
    case .optimistic: .readWrite(concurrency: .optimistic)
    case .pessimistic: .readWrite(concurrency: .pessimistic)
    case .readOnly: .readOnly()
    }
  }
}
