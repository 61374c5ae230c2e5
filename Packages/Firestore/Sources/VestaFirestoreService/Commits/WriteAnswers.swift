import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

/// The answers to the requests of one queue: what makes a request of a write call apply once.
///
/// A client whose connection or process ends cannot know whether the requests without an answer have been served. It
/// sends them again under their old identifiers. The answer is a row that the commit writes too: either both are
/// there, and the answer is returned again, or neither is, and the writes are applied now.
///
/// A refusal is a row as well, written after the transaction that was refused. Without it, a client that was told of
/// a refusal and crashed before it noted so would send the request once more, and the request might succeed. If the
/// process of the engine ends between the refusal and its row, nobody was told of the refusal.
///
/// A queue has a ring of `WriteRequestID.window` rows, so what it costs is bounded. A client waits for the answers of
/// fewer requests than the ring has places. Only after a crash can it come back with an earlier one: when it had the
/// answer, and had not noted so yet. Then a later number stands in its place. Requests of a queue are served in
/// order, so the earlier one has been served.
///
/// Worked example, with a window of 16: requests 1 to 20 of a queue are served, and the ring has 5 to 20. Request 18,
/// sent again, gets its answer. Request 4 is refused with `ALREADY_EXISTS`, because the row in its place is of 20.
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
  init(of id: WriteRequestID, _ keys: DatabaseKeys) throws(FirestoreServiceError) {
    guard (8...64).contains(id.queue.count), id.number > 0 else {
      throw FirestoreServiceError.refused(
        "The identifier of a write request needs a queue of 8 to 64 bytes and a number from 1 on.")
    }
    self.id = id
    key = keys.answer(to: id)
  }

  /// The answer from before; `nil` when the request has not been served.
  ///
  /// - Throws: `KnownRefusal` when it was refused; with `ALREADY_EXISTS` when it was served and the answer is gone, and
  ///   with `INVALID_ARGUMENT` for other writes than it had.
  func answer(to plan: CommitPlan, in transaction: any StoreTransaction) async throws -> CommitResponse? {
    guard let row = try await known(in: transaction) else { return nil }
    guard row.number == id.number else {
      throw KnownRefusal(
        refusal: FirestoreServiceError(
          .alreadyExists, "The write request \(id.number) has been served, and later ones have been."))
    }
    switch row.outcome {
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
    guard let row = try await transaction.get(key).map(AnswerRow.init), row.number >= id.number else { return nil }
    return row
  }

  /// Keeps an answer together with its commit.
  func keep(_ answer: CommitResponse, in transaction: any StoreTransaction) async throws {
    let time = answer.commitTime.microseconds ?? 0
    try await transaction.put(AnswerRow(time: time, number: id.number, outcome: .success(answer)).bytes, for: key)
  }

  /// Keeps a refusal, unless another call has served the request meanwhile.
  ///
  /// - Returns: The answer to the request.
  func keep(
    _ refusal: FirestoreServiceError, at time: Int64, in transaction: any StoreTransaction
  ) async throws -> Result<CommitResponse, FirestoreServiceError> {
    if let row = try await known(in: transaction) { return row.number == id.number ? row.outcome : .failure(refusal) }
    try await transaction.put(AnswerRow(time: time, number: id.number, outcome: .failure(refusal)).bytes, for: key)
    return .failure(refusal)
  }
}

/// The answer to a request of a write call, with the request's number in its queue.
struct AnswerRow: Sendable, Equatable {
  /// When it was given, in microseconds; the commit time of a commit.
  var time: Int64
  var number: Int64
  var outcome: Result<CommitResponse, FirestoreServiceError>

  init(time: Int64, number: Int64, outcome: Result<CommitResponse, FirestoreServiceError>) {
    self.time = time
    self.number = number
    self.outcome = outcome
  }

  var bytes: [UInt8] {
    var writer = RowWriter()
    writer.write(int: time)
    writer.write(int: number)
    switch outcome {
    case .success(let answer):
      writer.write(count: 0)
      writer.write(results: answer.writeResults)
    case .failure(let refusal):
      writer.write(count: refusal.code.rawValue)
      writer.write(text: refusal.message)
    }
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(FirestoreServiceError) {
    var reader = RowReader(bytes)
    time = try reader.int()
    number = try reader.int()
    let code = try reader.count()
    if code == 0 {
      outcome = .success(
        CommitResponse(writeResults: try reader.results(), commitTime: Timestamp(microseconds: time)))
    } else {
      outcome = .failure(FirestoreServiceError(ServiceCode(wire: code), try reader.text()))
    }
  }

  /// When the answer of a row was given.
  static func time(of row: [UInt8]) throws(FirestoreServiceError) -> Int64 {
    var reader = RowReader(row)
    return try reader.int()
  }
}

extension RowWriter {
  fileprivate mutating func write(results: [WriteResult]) {
    write(count: results.count)
    for result in results {
      write(byte: result.updateTime == nil ? 0 : 1)
      if let time = result.updateTime { write(int: time.microseconds ?? 0) }
      write(count: result.transformResults.count)
      for value in result.transformResults { write(value: value) }
    }
  }
}

extension RowReader {
  fileprivate mutating func results() throws(FirestoreServiceError) -> [WriteResult] {
    var results: [WriteResult] = []
    for _ in 0..<(try count()) {
      let updateTime = try byte() == 0 ? nil : Timestamp(microseconds: try int())
      var values: [Value] = []
      for _ in 0..<(try count()) { values.append(try value()) }
      results.append(WriteResult(updateTime: updateTime, transformResults: values))
    }
    return results
  }
}
