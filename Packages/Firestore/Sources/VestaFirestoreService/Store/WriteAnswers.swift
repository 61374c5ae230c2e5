import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// The answers to the requests of one queue: by them a request of a write call applies once.
///
/// A client whose connection or process ends cannot know whether the requests without an answer have been served. It
/// sends them again under their old identifiers. The answer is a row that the commit writes too: either both are
/// there, and the answer is returned again, or neither is, and the writes are applied now.
///
/// A refusal is a row as well, written after the transaction that was refused. Without it, a client that had received
/// a refusal and crashed before it noted so would send the request once more, and the request might succeed. If the
/// process of the engine ends between the refusal and its row, no client has received the refusal.
///
/// A queue has a ring of `WriteRequestID.window` rows, so what it costs is bounded. A client waits for the answers of
/// fewer requests than the ring has slots. Only after a crash can it return with an earlier one: when it had the
/// answer, and had not noted so yet. Then the row has a later number. Requests of a queue are served in
/// order, so the earlier one has been served.
///
/// Worked example, with a window of 16: requests 1 to 20 of a queue are served, and the ring has 5 to 20. Request 18,
/// sent again, gets its answer. Request 4 is refused with `ALREADY_EXISTS`, because the row in its slot is of 20.
struct WriteAnswers: Sendable {
  /// The answer to a request that was served before and is a refusal; nothing has to be kept for it.
  struct KnownRefusal: Error {
    let refusal: FirestoreServiceError
  }

  private let id: WriteRequestID
  private let key: [UInt8]

  /// The answers to a request.
  ///
  /// - Throws: `INVALID_ARGUMENT` for an identifier that no client makes.
  init(of id: WriteRequestID, _ keys: DocumentDatabaseKeys) throws(FirestoreServiceError) {
    guard (8...64).contains(id.queue.count), id.number > 0 else {
      throw FirestoreServiceError.refused(
        "The identifier of a write request needs a queue of 8 to 64 bytes and a number from 1 on.")
    }
    self.id = id
    key = keys.answer(to: id)
  }

  /// The answer from before; `nil` when the request has not been served.
  ///
  /// - Throws: `KnownRefusal` when it was refused; with `ALREADY_EXISTS` when it was served and the answer was deleted,
  ///   and with `INVALID_ARGUMENT` for other writes than it had.
  func answer(to plan: CommitPlan, in transaction: any StoreTransaction) async throws -> CommitResponse? {
    guard let row = try await known(in: transaction) else { return nil }
    guard row.number == id.number else {
      throw KnownRefusal(
        refusal: FirestoreServiceError(
          .alreadyExists, "The write request \(id.number) has been served, and later ones have been."))
    }
    switch try row.outcome {
    case .failure(let refusal): throw KnownRefusal(refusal: refusal)
    case .success(let answer):
      guard answer.writeResults.count == plan.writes.count else {
        throw KnownRefusal(
          refusal: .refused("The write request \(id.number) has been served, and had other writes."))
      }
      return answer
    }
  }

  /// The row of this request or of a later one.
  private func known(in transaction: any StoreTransaction) async throws -> AnswerRow? {
    guard let row = try await transaction.get(key).map({ try AnswerRow(row: $0) }), row.number >= id.number else {
      return nil
    }
    return row
  }

  /// Keeps an answer together with its commit.
  func keep(_ answer: CommitResponse, in transaction: any StoreTransaction) async throws {
    let time = answer.commitTime.microseconds ?? 0
    try await transaction.put(
      AnswerRow(time: time, number: id.number, outcome: .success(answer)).fieldBytes(), for: key)
  }

  /// Keeps a refusal, unless another call has served the request in between.
  ///
  /// - Returns: The answer to the request.
  func keep(
    _ refusal: FirestoreServiceError, at time: Int64, in transaction: any StoreTransaction
  ) async throws -> Result<CommitResponse, FirestoreServiceError> {
    if let row = try await known(in: transaction) {
      return row.number == id.number ? try row.outcome : .failure(refusal)
    }
    try await transaction.put(
      AnswerRow(time: time, number: id.number, outcome: .failure(refusal)).fieldBytes(), for: key)
    return .failure(refusal)
  }
}

/// The answer to a request of a write call, with the request's number in its queue.
struct AnswerRow: FieldRecord, Equatable {
  /// The time of the answer in microseconds; the commit time of a commit.
  var time: Int64 = 0
  var number: Int64 = 0
  private var results: [StoredWriteResult] = []
  private var message = ""
  /// The code of the refusal; `nil` for a commit.
  private var code: ServiceCode?

  /// The answer.
  var outcome: Result<CommitResponse, FirestoreServiceError> {
    get throws {
      if let code { return .failure(FirestoreServiceError(code, message)) }
      return .success(
        CommitResponse(writeResults: try results.map { try $0.result }, commitTime: Timestamp(microseconds: time)))
    }
  }

  init() {}

  init(time: Int64, number: Int64, outcome: Result<CommitResponse, FirestoreServiceError>) {
    self.time = time
    self.number = number
    switch outcome {
    case .success(let answer): results = answer.writeResults.map(StoredWriteResult.init)
    case .failure(let refusal): (code, message) = (refusal.code, refusal.message)
    }
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &time)
    try visitor.field(2, &number)
    try visitor.field(3, &results)
    try visitor.field(4, &message)
    // One for a commit, and above it the codes: a row that was cut has none of them.
    var outcome = 1 + (code?.rawValue ?? 0)
    try visitor.field(5, &outcome)
    guard outcome > 0 else { throw FirestoreServiceError.damaged }
    code = outcome == 1 ? nil : ServiceCode(wire: outcome - 1)
  }

  /// The time of the answer in a row.
  static func time(of row: [UInt8]) throws(FirestoreServiceError) -> Int64 { try AnswerTime(row: row).time }

  private struct AnswerTime: FieldRecord {
    var time: Int64 = 0

    mutating func visit(_ visitor: inout some RecordVisitor) throws { try visitor.field(1, &time) }
  }
}

/// The result of one write in an answer that is kept.
private struct StoredWriteResult: FieldRecord, Equatable {
  private var updateTime: Int64?
  /// The values of the transforms as the row of one array; empty for none.
  private var transforms: [UInt8] = []

  init() {}

  init(_ result: WriteResult) {
    updateTime = result.updateTime.map { $0.microseconds ?? 0 }
    if result.transformResults.isEmpty { return }
    var writer = RowWriter()
    writer.write(value: .array(result.transformResults))
    transforms = writer.bytes
  }

  var result: WriteResult {
    get throws(FirestoreServiceError) {
      let time = updateTime.map { Timestamp(microseconds: $0) }
      if transforms.isEmpty { return WriteResult(updateTime: time) }
      var reader = RowReader(transforms)
      guard case .array(let values) = try reader.value(), reader.isAtEnd else { throw .damaged }
      return WriteResult(updateTime: time, transformResults: values)
    }
  }

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &updateTime)
    try visitor.field(2, &transforms)
  }
}
