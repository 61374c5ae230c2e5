import VestaFirestoreBackend
import VestaTesting

/// Runs a transaction against a backend, step by step, and keeps what it was answered.
struct HistoryClient {
  enum Kind {
    case optimistic
    case pessimistic
    case readOnly
  }

  /// The state of the transaction after a step.
  enum Outcome {
    case open
    case committed(TransactionHistory.Transaction)
    case aborted
  }

  static let collection = "items"
  static let names = ["a", "b", "c", "d"]

  private let subject: FirestoreSubject
  private let kind: Kind
  private var id: [UInt8]?
  private var transaction = TransactionHistory.Transaction()
  private var readTime = Timestamp(seconds: 0)
  private var stepsLeft: Int

  init(_ subject: FirestoreSubject, _ kind: Kind, _ random: inout SplitMix) {
    self.subject = subject
    self.kind = kind
    stepsLeft = 1 + random.below(3)
  }

  /// Begins, reads something, or commits.
  mutating func step(_ random: inout SplitMix) async throws -> Outcome {
    do {
      guard let id else {
        id = try await subject.begin(kind.options)
        return .open
      }
      guard stepsLeft > 0 else { return .committed(try await commit(id, &random)) }
      stepsLeft -= 1
      transaction.reads.append(try await random.oneIn(3) ? readQuery(id, &random) : readDocument(id, &random))
      return .open
    } catch let error as FirestoreServiceError where error.code == .aborted {
      return .aborted
    }
  }

  /// Runs to the end.
  ///
  /// - Returns: `nil` for a transaction that was aborted.
  mutating func run(_ random: inout SplitMix) async throws -> TransactionHistory.Transaction? {
    while true {
      switch try await step(&random) {
      case .open: await Task.yield()
      case .committed(let transaction): return transaction
      case .aborted: return nil
      }
    }
  }

  private mutating func readDocument(_ id: [UInt8], _ random: inout SplitMix) async throws -> TransactionHistory.Read {
    let path = random.pick(HistoryClient.names)
    var found: Document?
    var time = readTime
    let request = BatchGetDocumentsRequest(
      database: subject.database, documents: [subject.name("\(HistoryClient.collection)/\(path)")],
      consistency: .transaction(id))
    try await subject.backend.batchGet(request, context: subject.context) { response in
      time = response.readTime ?? time
      if case .found(let document)? = response.result { found = document }
    }
    readTime = time
    return .document(path, found.map(HistoryClient.number))
  }

  private mutating func readQuery(_ id: [UInt8], _ random: inout SplitMix) async throws -> TransactionHistory.Read {
    let bound = random.pick([0, 300, 700])
    var query = StructuredQuery.all(HistoryClient.collection)
    var limit: Int?
    if bound > 0 {
      query.filter = .field(path: "n", .greaterThanOrEqual, .integer(Int64(bound)))
      query.orderBy = [.init(fieldPath: "n")]
    } else if random.oneIn(3) {
      // The checker knows the order by name, so only a query without a bound is asked with a limit.
      limit = 2
      query.limit = 2
    }
    var found: [String: Int] = [:]
    var time = readTime
    let request = RunQueryRequest(parent: subject.root, query: query, consistency: .transaction(id))
    try await subject.backend.runQuery(request, context: subject.context) { response in
      time = response.readTime ?? time
      guard let document = response.document else { return }
      found[String(document.name.split(separator: "/").last ?? "")] = HistoryClient.number(document)
    }
    readTime = time
    return .query(atLeast: bound, limit: limit, found)
  }

  private mutating func commit(
    _ id: [UInt8], _ random: inout SplitMix
  ) async throws -> TransactionHistory.Transaction {
    if case .readOnly = kind {
      let request = CommitRequest(database: subject.database, writes: [], transaction: id)
      _ = try await subject.backend.commit(request, context: subject.context)
      transaction.version = readTime.microseconds ?? 0
      return transaction
    }
    for _ in 0..<random.pick([0, 1, 1, 2, 3]) {
      let number = random.oneIn(4) ? nil : random.below(1_000)
      transaction.writes.updateValue(number, forKey: random.pick(HistoryClient.names))
    }
    let writes = transaction.writes.map { path, number in
      let path = "\(HistoryClient.collection)/\(path)"
      // The second field makes every write a change.
      return number.map { subject.set(path, ["n": .integer(Int64($0)), "by": .bytes(id)]) }
        ?? .delete(subject.name(path))
    }
    let request = CommitRequest(database: subject.database, writes: writes, transaction: id)
    transaction.version =
      try await subject.backend.commit(request, context: subject.context).commitTime.microseconds ?? 0
    return transaction
  }

  static func number(_ document: Document) -> Int {
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
