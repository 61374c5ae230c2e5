import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// Listen and Write: the first request names the database.
extension CallTable {
  mutating func addStreams() {
    let tuning = tuning
    let listenForm = MessageForm<ListenResponse?>.schema(ListenResponseWire.self)
    let shared = SharedBatch<ListenResponse>(limit: tuning.batchBytes) { try listenForm.write($0) }
    duplex("Listen") { host, call, stream in
      let form = DuplexForm<ListenStreamRequest, ListenRequest, ListenResponse>(
        requests: .schema(ListenRequestWire.self), database: \.database, request: \.request,
        responses: { try shared.frames(of: $0) },
        isSmall: { shared.has($0) || ResponseSize.isSmall($0, upTo: tuning.batchBytes) })
      try await carry(host, call, stream, tuning, form) { try await $0.listen(database: $1, context: $2) }
    }
    let writeForm = MessageForm<WriteResponse>.schema(WriteResponseWire.self)
    duplex("Write") { host, call, stream in
      let form = DuplexForm(
        requests: .conversion(WriteRequestWire.self), database: \.request.database, request: { $0.request },
        responses: { GRPCFrames(try $0.map(writeForm.write)) })
      try await carry(host, call, stream, tuning, form) { try await $0.write(database: $1, context: $2) }
    }
  }
}

/// The forms of the messages of a duplex call.
struct DuplexForm<Message: Sendable, Request: Sendable, Response: Sendable>: Sendable {
  let requests: MessageForm<Message>
  /// The database that the first request names.
  let database: @Sendable (Message) -> String
  /// The request in a message; `nil` for a message that only opens the call.
  let request: @Sendable (Message) -> Request?
  /// Writes responses.
  let responses: @Sendable ([Response]) throws -> GRPCFrames
  /// Whether responses take so little time that they may be written where they are made.
  var isSmall: @Sendable ([Response]) -> Bool = { _ in true }
}

/// Carries the messages of a duplex call until it ends.
///
/// The call ends with success only after the caller has said that no request follows: clients that still need a stream
/// treat its success as a programming error, and connect again after `UNAVAILABLE`.
func carry<Message: Sendable, Request: Sendable, Response: Sendable>(
  _ host: any EndpointHost, _ call: GRPCContext, _ stream: GRPCServerCall, _ tuning: FirestoreEndpointTuning,
  _ form: DuplexForm<Message, Request, Response>,
  open: @Sendable (any FirestoreBackend, String, CallContext) async throws -> DuplexCall<Request, Response>
) async throws {
  guard let bytes = try await stream.requests.next() else { return }
  let first = try await served(bytes.count, upTo: tuning.loopBytes) {
    try reading { () throws(BytesError) in try form.requests.read(bytes) }
  }
  let project = try project(of: form.database(first))
  let backend = try host.backend((any FirestoreBackend).self, project: project)
  let (name, context) = (form.database(first), CallContext(grpc: call, project: project))
  let duplex = try await apart { try await open(backend, name, context) }
  defer { duplex.cancel() }
  let ending = Locked<Result<Void, any Error>?>(nil)
  try await withTaskCancellationHandler {
    // The responses need no separate task, as an open listener is to take little memory.
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        do {
          if let request = form.request(first) { duplex.send(request) }
          while let bytes = try await stream.requests.next() {
            let message = try await served(bytes.count, upTo: tuning.loopBytes) {
              try reading { () throws(BytesError) in try form.requests.read(bytes) }
            }
            try await duplex.ready(below: tuning.pendingRequests)
            if let request = form.request(message) { duplex.send(request) }
          }
          ending.withLock { $0 = .success(()) }
          duplex.finish()
        } catch {
          ending.withLock { $0 = .failure(error) }
          duplex.cancel()
          // The task may wait for a caller that reads no responses.
          if !Task.isCancelled { stream.fail(grpcError(error)) }
        }
      }
      // Where a batch is made while the caller keeps up, so that one for thousands of calls wakes no task of theirs;
      // otherwise by this task, which waits for the caller.
      @Sendable func take(_ batch: [Response]) -> Bool {
        guard batch.count <= tuning.inPlaceResponses, stream.keepsUp, form.isSmall(batch) else { return false }
        // An error is that of the task, which writes the batch once more.
        guard let frames = try? form.responses(batch) else { return false }
        stream.offer(frames)
        return true
      }
      while let batch = try await duplex.next(besides: take) {
        let frames = try await served(batch.count, upTo: tuning.loopResponses) { try form.responses(batch) }
        if stream.keepsUp { stream.offer(frames) } else { try await stream.send(frames) }
      }
      // Before the requests are cancelled: that is no failure of theirs.
      try ending.withLock { $0 }?.get()
      group.cancelAll()
    }
  } onCancel: {
    duplex.cancel()
  }
  guard case .success? = ending.withLock({ $0 }) else {
    throw ServiceStatus(.unavailable, "The stream has ended. Connect again, with resume tokens.")
  }
}

/// Runs the opening of a call in a child task.
///
/// A task keeps the memory that its calls have needed, for the next ones. The opening needs much, and the task that
/// carries the messages afterwards little, for as long as the call is open: so an open listener takes less memory.
private func apart<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
  async let result = body()
  return try await result
}
