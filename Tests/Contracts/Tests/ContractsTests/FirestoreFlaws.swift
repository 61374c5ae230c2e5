import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendContracts

/// Something that a backend does wrong on purpose, and the promises that this breaks.
struct FirestoreFlaw: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let broken: Set<String>
  /// Promises that it breaks when tasks get in each other's way, and keeps otherwise.
  let atRisk: Set<String>
  private let change: @Sendable (inout FlawedBackend) -> Void

  init(
    _ name: String, breaks broken: String..., risks: [String] = [],
    change: @escaping @Sendable (inout FlawedBackend) -> Void
  ) {
    testDescription = name
    self.broken = Set(broken)
    atRisk = Set(risks)
    self.change = change
  }

  func applied(to backend: any FirestoreBackend) -> any FirestoreBackend {
    var flawed = FlawedBackend(backend: backend)
    change(&flawed)
    return flawed
  }

  static let all: [FirestoreFlaw] = [
    FirestoreFlaw(
      "ignores times in conditions",
      breaks: "a condition on the time of change lets only that version through",
      "a verification changes nothing and can stop a commit"
    ) {
      $0.onCommit = { request in
        for index in request.writes.indices {
          if case .updateTime? = request.writes[index].precondition {
            request.writes[index].precondition = .exists(true)
          }
        }
      }
    },
    FirestoreFlaw(
      "takes an empty selection for the names", breaks: "an empty selection returns all fields, as none does"
    ) { $0.onQuery = { if $0.query.select == [] { $0.query.select = ["__name__"] } } },
    FirestoreFlaw("does not verify", breaks: "a verification changes nothing and can stop a commit") {
      $0.onCommit = { request in
        request.writes.removeAll { write in
          if case .verify = write.operation { return true }
          return false
        }
      }
    },
    FirestoreFlaw(
      "takes an empty mask for none", breaks: "an empty mask keeps the fields, and makes what is missing"
    ) {
      $0.onCommit = { request in
        for index in request.writes.indices {
          guard case .update(let document, .some(let mask), let transforms) = request.writes[index].operation,
            mask.fieldPaths.isEmpty
          else { continue }
          request.writes[index].operation = .update(document, mask: nil, transforms: transforms)
        }
      }
    },
    FirestoreFlaw(
      "keeps the results of transforms to itself",
      breaks: "transforms of numbers give the new values", "transforms of arrays take values as equal that are",
      "the server's time is that of the commit, to the millisecond", "later writes of a commit see earlier ones"
    ) {
      $0.onCommitted = { response in
        for index in response.writeResults.indices { response.writeResults[index].transformResults = [] }
      }
    },
    FirestoreFlaw(
      "commits outside of the transaction",
      breaks: "what a transaction has read must still be so when it commits",
      "what a query of a transaction would find now must be what it found",
      "a read-only transaction keeps its read time, and cannot write", "a read can begin a transaction",
      "optimistic transactions that meet have the results of one after another",
      risks: [
        "of 16 clients that count at once, each is counted",
        "transactions of all kinds at once have the results of one after another",
      ]
    ) { $0.forgetsTransactions = true },
    FirestoreFlaw(
      "forgets what comes before an offset", breaks: "limit and offset take a part of the results"
    ) { $0.onQuery = { $0.query.offset = 0 } },
    FirestoreFlaw(
      "takes every cursor for one before its values",
      breaks: "cursors are positions before or after their values"
    ) {
      $0.onQuery = { request in
        request.query.startAt?.before = true
        request.query.endAt?.before = true
      }
    },
    FirestoreFlaw("ignores limits of counts", breaks: "figures count what the query finds") {
      $0.onAggregation = { request in
        for index in request.query.aggregations.indices {
          if case .count = request.query.aggregations[index].operation {
            request.query.aggregations[index].operation = .count(upTo: nil)
          }
        }
      }
    },
    FirestoreFlaw(
      "reads names twice", breaks: "documents are read by name: each once, found or missing"
    ) { $0.readsTwice = true },
    FirestoreFlaw(
      "begins every target anew",
      breaks: "a target that resumes gets what it has missed, and no more",
      "a listener that expects too many documents gets the number",
      "with a token that is none a target starts over"
    ) { $0.onTarget = { $0.resume = nil } },
    FirestoreFlaw("never counts for listeners", breaks: "a listener that expects too many documents gets the number") {
      $0.onListened = { responses in
        responses.removeAll { response in
          if case .filter = response { return true }
          return false
        }
      }
    },
    FirestoreFlaw("keeps targets for once", breaks: "a target for once goes when it is current") {
      $0.onTarget = { $0.once = false }
    },
    FirestoreFlaw(
      "tells removals twice", breaks: "a target that was removed says so once, and its number is free",
      "a target that cannot be followed ends alone, with the cause"
    ) {
      $0.onListened = { responses in
        responses = responses.flatMap { response in
          guard case .targetChange(let change) = response, change.kind == .remove else { return [response] }
          return [response, response]
        }
      }
    },
    FirestoreFlaw(
      "hides deletions from listeners",
      breaks: "what no longer matches or has been deleted leaves its targets",
      "a limited query gets the new results together with the removed ones",
      "documents can be followed by name, also those that are not there yet",
      "a target that resumes gets what it has missed, and no more",
      risks: [
        "a listener that begins beside writers misses nothing, and gets nothing twice",
        "each snapshot of a listener is what its queries find at that time, while others write",
      ]
    ) {
      $0.onListened = { responses in
        responses.removeAll { response in
          if case .documentDelete = response { return true }
          return false
        }
      }
    },
    FirestoreFlaw(
      "drops what a receiver leaves", breaks: "a receiver and the task besides it get every batch once, in order"
    ) { $0.dropsLeftBatches = true },
    FirestoreFlaw(
      "gives the task what a receiver takes",
      breaks: "a receiver and the task besides it get every batch once, in order"
    ) { $0.repeatsTakenBatches = true },
    FirestoreFlaw("gives write calls no tokens", breaks: "a write call answers each request in turn") {
      $0.onWritten = { $0.streamToken = [] }
    },
    FirestoreFlaw(
      "applies what is sent again",
      breaks: "a request that is sent again is applied once and gets its first answer",
      "a request that is sent again does not undo what came after it", "a request that was refused is refused again",
      "a request before the window is refused and changes nothing", "an identifier that no client makes is refused"
    ) { $0.onWrite = { $0.id = nil } },
    FirestoreFlaw(
      "takes all queues for one", breaks: "the numbers of different queues have nothing to do with each other",
      "an identifier that no client makes is refused"
    ) { $0.onWrite = { $0.id?.queue = [1, 2, 3, 4, 5, 6, 7, 8] } },
  ]
}

/// A backend that hands everything on, and changes some of it on the way.
struct FlawedBackend: ForwardingFirestoreBackend {
  let backend: any FirestoreBackend
  var onCommit: @Sendable (inout CommitRequest) -> Void = { _ in }
  var onCommitted: @Sendable (inout CommitResponse) -> Void = { _ in }
  var onQuery: @Sendable (inout RunQueryRequest) -> Void = { _ in }
  var onAggregation: @Sendable (inout RunAggregationQueryRequest) -> Void = { _ in }
  var readsTwice = false
  var forgetsTransactions = false
  var dropsLeftBatches = false
  var repeatsTakenBatches = false
  var onTarget: @Sendable (inout Target) -> Void = { _ in }
  var onListened: @Sendable (inout [ListenResponse]) -> Void = { _ in }
  var onWrite: @Sendable (inout WriteRequest) -> Void = { _ in }
  var onWritten: @Sendable (inout WriteResponse) -> Void = { _ in }

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { backend }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await backend.batchGet(request, context: context) { response in
      try await receive(response)
      if readsTwice {
        try await receive(BatchGetDocumentsResponse(result: response.result, readTime: response.readTime))
      }
    }
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    var request = request
    onQuery(&request)
    try await backend.runQuery(request, context: context, receive: receive)
  }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    var request = request
    onAggregation(&request)
    return try await backend.runAggregation(request, context: context)
  }

  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    var request = request
    onCommit(&request)
    if forgetsTransactions, let id = request.transaction {
      try await backend.rollback(RollbackRequest(database: request.database, transaction: id), context: context)
      request.transaction = nil
    }
    var response = try await backend.commit(request, context: context)
    onCommitted(&response)
    return response
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    let call = try await backend.listen(database: database, context: context)
    let (responses, continuation) = AsyncThrowingStream.makeStream(
      of: [ListenResponse].self, throwing: (any Error).self)
    let task = Task {
      do {
        for try await batch in call.responses {
          var batch = batch
          onListened(&batch)
          continuation.yield(batch)
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return ListenCall(
      responses: responses,
      next: { take in
        for try await batch in responses {
          let isTaken = take(batch)
          if repeatsTakenBatches || (!isTaken && !dropsLeftBatches) { return batch }
        }
        return nil
      },
      send: { request in
        guard case .addTarget(var target) = request else { return call.send(request) }
        onTarget(&target)
        call.send(.addTarget(target))
      },
      finish: { call.finish() },
      cancel: {
        call.cancel()
        continuation.finish()
      })
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    let call = try await backend.write(database: database, context: context)
    let (responses, continuation) = AsyncThrowingStream.makeStream(of: [WriteResponse].self, throwing: (any Error).self)
    let task = Task {
      do {
        for try await var batch in call.responses {
          for index in batch.indices { onWritten(&batch[index]) }
          continuation.yield(batch)
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return WriteCall(
      responses: responses,
      send: { request in
        var request = request
        onWrite(&request)
        call.send(request)
      }, finish: { call.finish() }, cancel: { call.cancel() })
  }
}
