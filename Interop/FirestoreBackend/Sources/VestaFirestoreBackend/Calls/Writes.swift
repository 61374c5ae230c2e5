/// Writes, all or nothing.
public struct CommitRequest: Sendable, Hashable {
  /// The database, `projects/{p}/databases/{d}`.
  public var database: String

  /// The writes, in order; later ones see earlier ones, also of the same document.
  public var writes: [Write]

  /// The transaction that this ends; `nil` for a commit by itself.
  public var transaction: [UInt8]?

  /// A commit.
  public init(database: String, writes: [Write], transaction: [UInt8]? = nil) {
    self.database = database
    self.writes = writes
    self.transaction = transaction
  }
}

/// A commit that has happened.
public struct CommitResponse: Sendable, Hashable {
  /// One result for each write, in order.
  public var writeResults: [WriteResult]

  /// The commit time in whole microseconds, later than that of every commit before it.
  public var commitTime: Timestamp

  /// A commit that has happened.
  public init(writeResults: [WriteResult], commitTime: Timestamp) {
    self.writeResults = writeResults
    self.commitTime = commitTime
  }
}

/// Writes, each by itself and in any order.
public struct BatchWriteRequest: Sendable, Hashable {
  /// The database, `projects/{p}/databases/{d}`.
  public var database: String

  /// The writes; no two of one document.
  public var writes: [Write]

  /// A batch of writes.
  public init(database: String, writes: [Write]) {
    self.database = database
    self.writes = writes
  }
}

/// The results of a batch of writes.
public struct BatchWriteResponse: Sendable, Hashable {
  /// One result for each write, in the order of the request: done, or refused.
  public var results: [Result<WriteResult, FirestoreServiceError>]

  /// The result of each write.
  public init(results: [Result<WriteResult, FirestoreServiceError>]) { self.results = results }
}

/// A request of a write call.
///
/// The first request opens the stream and has no writes; the response has the stream and a token. Each later one is a
/// commit by itself, answered by one response, in order; several may be under way. A request without writes gets a
/// response too. The first write that fails ends the call with its error, after the responses before it.
public struct WriteRequest: Sendable, Hashable {
  /// The database, `projects/{p}/databases/{d}`; needed in the first request only.
  public var database: String

  /// The writes, all or nothing.
  public var writes: [Write]

  /// The token of the latest response; empty in the first request.
  public var streamToken: [UInt8]

  /// The identifier of the writes, in this call and in later ones; `nil` for writes that are never sent again.
  public var id: WriteRequestID?

  /// A request of a write call.
  public init(
    database: String = "", writes: [Write] = [], streamToken: [UInt8] = [], id: WriteRequestID? = nil
  ) {
    self.database = database
    self.writes = writes
    self.streamToken = streamToken
    self.id = id
  }
}

/// The identifier of a request to write, so that it can be sent again when its answer was lost.
///
/// A backend that keeps its answers applies the writes of an identifier once: sent again, they get the first answer,
/// also when it was a refusal. It keeps the answers to the last `window` numbers of a queue, for a bounded time (30
/// days in the embedded engine). A request whose number is before those is refused with `ALREADY_EXISTS`: it has been
/// served, and its answer was deleted. Other backends do not look at identifiers.
///
/// Failures that another attempt may not meet, such as `UNAVAILABLE` and `ABORTED`, are no answers, and are not kept.
public struct WriteRequestID: Sendable, Hashable {
  /// The maximum number of requests of one queue that are without an answer at a time.
  public static let window: Int64 = 16

  /// A name that no other queue has: 16 random bytes.
  public var queue: [UInt8]

  /// The place in the queue, from 1 on; a later request has a larger number, and is sent after the earlier ones.
  public var number: Int64

  /// An identifier.
  public init(queue: [UInt8], number: Int64) {
    self.queue = queue
    self.number = number
  }
}

/// A response of a write call.
public struct WriteResponse: Sendable, Hashable {
  /// The name of the stream; in the first response only.
  public var streamID: String

  /// The token to send with the next request; opaque.
  public var streamToken: [UInt8]

  /// One result for each write of the request, in order.
  public var writeResults: [WriteResult]

  /// The commit time of the writes; `nil` in the first response.
  public var commitTime: Timestamp?

  /// A response of a write call.
  public init(
    streamID: String = "", streamToken: [UInt8], writeResults: [WriteResult] = [], commitTime: Timestamp? = nil
  ) {
    self.streamID = streamID
    self.streamToken = streamToken
    self.writeResults = writeResults
    self.commitTime = commitTime
  }
}
