import VestaConcurrency
public import VestaServiceInterop

/// Serves the methods of a ``GRPCService`` as the handler of a listener, or of the requests that are of gRPC.
///
/// A call whose deadline has passed ends with `DEADLINE_EXCEEDED`, whether its method has noticed or not. Before a
/// listener shuts down, ``endStreams()`` lets clients know that they should call again elsewhere.
public final class GRPCHandler: HTTPHandler {
  private struct State: Sendable {
    var calls: [ObjectIdentifier: GRPCServerCall] = [:]
    var isEnding = false
  }

  private let service: any GRPCService
  private let options: GRPCOptions
  private let clock: ServiceClock
  /// Clients send a deadline of a minute with every call: a timer for each would stay until then.
  private let deadlines: ServiceDeadlines
  private let head: HTTPFields
  private let state = Locked(State())

  /// A handler.
  ///
  /// - Parameters:
  ///   - service: The methods.
  ///   - options: The limits.
  ///   - clock: The time of deadlines.
  public init(_ service: any GRPCService, options: GRPCOptions = GRPCOptions(), clock: ServiceClock = .system) {
    self.service = service
    self.options = options
    self.clock = clock
    deadlines = ServiceDeadlines(clock)
    head = GRPCWire.head(options.compression)
  }

  /// Whether a request is one of gRPC, by its content type.
  public static func isGRPC(_ head: HTTPRequestHead) -> Bool { GRPCWire.isGRPC(head.fields) }

  /// The number of calls with streams that run.
  public var streamCount: Int { state.withLock { $0.calls.count } }

  /// Ends all calls with streams with `UNAVAILABLE`, and refuses new ones so.
  public func endStreams() {
    let calls = state.withLock { state in
      state.isEnding = true
      return Array(state.calls.values)
    }
    for call in calls { call.end(Self.ending, cancelsTask: true) }
  }

  private static let ending = GRPCError(.unavailable, "The server shuts down.")

  // MARK: HTTP

  /// One message is gathered, streams are read on arrival.
  public func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery {
    if case .stream = service.method(at: head.target) { return .streamed }
    return .collected(upTo: options.messageBytes + 5)
  }

  /// A message beyond the limit fails its call with `RESOURCE_EXHAUSTED`.
  public func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    failed(GRPCError(.resourceExhausted, "A message is larger than \(options.messageBytes) bytes."))
  }

  /// Serves a call.
  public func reply(to request: HTTPRequest) -> HTTPReply {
    guard GRPCWire.isGRPC(request.fields), request.method == .post else { return .response(HTTPResponse(415)) }
    let context: GRPCContext
    let encoding: TransportCompression?
    do {
      encoding = try compression(of: request.fields)
      context = try makeContext(request)
    } catch {
      return .response(failed(GRPCError(error)))
    }
    switch service.method(at: request.target) {
    case nil: return .response(failed(GRPCError(.unimplemented, "There is no method \(request.target).")))
    case .unary(let placement, let serve): return unary(request, context, encoding, placement, serve)
    case .stream(let placement, let serve): return stream(request, context, encoding, placement, serve)
    }
  }

  private func makeContext(_ request: HTTPRequest) throws -> GRPCContext {
    var context = GRPCContext(path: request.target, metadata: request.fields, peer: request.peer)
    if let text = request.fields.first(GRPCWire.timeoutName) {
      guard let timeout = GRPCWire.timeout(text) else {
        throw GRPCError(.internal, "The time-out '\(text)' is none.")
      }
      let (deadline, overflows) = clock.now().addingReportingOverflow(timeout.microseconds)
      context.deadline = overflows ? nil : deadline
    }
    return context
  }

  private func compression(of fields: HTTPFields) throws -> TransportCompression? {
    guard let name = fields.first(GRPCWire.encodingName), name != "identity" else { return nil }
    guard let compression = options.compression, compression.name == name else {
      let accepted = options.compression.map { "identity,\($0.name)" } ?? "identity"
      throw GRPCError(
        .unimplemented, "Messages compressed by \(name) are not accepted.", trailers: ["grpc-accept-encoding": accepted]
      )
    }
    return compression
  }

  private func failed(_ error: GRPCError) -> HTTPResponse {
    var fields: HTTPFields = [.contentType: GRPCWire.contentType]
    fields.append(contentsOf: GRPCWire.trailers(error))
    return HTTPResponse(fields: fields)
  }

  private static let late = GRPCError(.deadlineExceeded, "The deadline has passed.")

  // MARK: One message each

  private func unary(
    _ request: HTTPRequest, _ context: GRPCContext, _ encoding: TransportCompression?, _ placement: GRPCPlacement?,
    _ serve: @Sendable (GRPCContext, [UInt8]) -> GRPCReply
  ) -> HTTPReply {
    do {
      let message = try GRPCMessages.only(request.body.bytes ?? [], options.messageBytes, encoding)
      switch serve(context, message) {
      case .response(let response): return .response(try made(response))
      case .failure(let error): return .response(failed(error))
      case .task(let work):
        guard let placement else { return task(context, request.peer?.executor, work) }
        // Before the task begins: of calls that arrive together, each is placed with the ones before it counted.
        let place = placement.place()
        return task(context, place.executor ?? request.peer?.executor) {
          try await withTaskExecutorPreference(place.executor) { try await work() }
        }
      }
    } catch {
      return .response(failed(GRPCError(error)))
    }
  }

  private func task(
    _ context: GRPCContext, _ executor: (any TaskExecutor)?, _ work: @escaping @Sendable () async throws -> GRPCResponse
  ) -> HTTPReply {
    .task { [self] in
      do {
        return try made(try await limited(context, executor, work))
      } catch {
        return failed(GRPCError(error))
      }
    }
  }

  private func made(_ response: GRPCResponse) throws -> HTTPResponse {
    var fields = head
    if !response.metadata.isEmpty { fields.append(contentsOf: response.metadata) }
    return HTTPResponse(
      fields: fields,
      body: .bytes(try GRPCMessages.frame(response.message)),
      trailers: GRPCWire.trailers(nil, response.trailers))
  }

  /// Runs the work until the deadline; work that continues nevertheless is cancelled, and not awaited.
  private func limited(
    _ context: GRPCContext, _ executor: (any TaskExecutor)?, _ work: @escaping @Sendable () async throws -> GRPCResponse
  ) async throws -> GRPCResponse {
    guard let deadline = context.deadline else { return try await work() }
    guard deadline > clock.now() else { throw Self.late }
    let tasks = Locked<Task<Void, Never>?>(nil)
    let outcome = Turn<GRPCResponse>()
    let timer = deadlines.add(at: deadline) {
      outcome.begin()?.resume(throwing: Self.late)
      tasks.withLock { $0 }?.cancel()
    }
    defer { timer.cancel() }
    return try await outcome.wait { turn in
      let task = Task(executorPreference: executor) {
        do {
          let response = try await work()
          turn.begin()?.resume(returning: response)
        } catch {
          turn.begin()?.resume(throwing: error)
        }
      }
      tasks.withLock { $0 = task }
      if turn.isOver { task.cancel() }
    } onCancel: { _ in
      tasks.withLock { $0 }?.cancel()
    }
  }

  // MARK: Streams

  private func stream(
    _ request: HTTPRequest, _ context: GRPCContext, _ encoding: TransportCompression?, _ placement: GRPCPlacement?,
    _ serve: @escaping @Sendable (GRPCContext, GRPCServerCall) async throws -> Void
  ) -> HTTPReply {
    if let deadline = context.deadline, deadline <= clock.now() { return .response(failed(Self.late)) }
    let body = request.body.stream
    let call = GRPCServerCall(
      GRPCMessages(body, limit: options.messageBytes, compression: encoding), options)
    let key = ObjectIdentifier(call)
    let isEnding = state.withLock { state in
      if !state.isEnding { state.calls[key] = call }
      return state.isEnding
    }
    if isEnding { return .response(failed(Self.ending)) }
    let timer = context.deadline.map { deadline in
      deadlines.add(at: deadline) { [weak call] in call?.end(Self.late, cancelsTask: true) }
    }
    let place = placement?.place()
    call.start(on: place?.executor ?? request.peer?.executor) { [weak self] in
      timer?.cancel()
      self?.state.withLock { $0.calls[key] = nil }
    } _: { call in
      defer { withExtendedLifetime(place) {} }
      try await serve(context, call)
    }
    return .task { try await call.response() }
  }
}
