import VestaBytes
import VestaConcurrency
public import VestaServiceInterop

/// Calls a REST API of a product over an ``HTTPClient``: the floor under every remote backend that speaks JSON.
///
/// - The context of a call becomes fields; its deadline limits the exchange as a whole and is sent along.
/// - Answers of networks and proxies in the place of the service are `UNAVAILABLE`; longer ones than the limit are
///   refused; an unreadable answer is `INTERNAL`.
/// - Every error leaves as the product's type. A lost connection is `UNAVAILABLE` where the call may be made again, and
///   `DEADLINE_EXCEEDED` where it may have had its effect and must not be repeated unseen.
///
/// Tokens are refreshed and calls repeated by `BackendCaller` above, not here.
///
/// ```swift
/// let rest = RESTChannel<RemoteConfigServiceError>(service) { RemoteConfigErrorWire.error($0.failure) }
/// let page = try await rest.call(RESTCall(.get, target), context: context) { try TemplateWire.page($0.body) }
/// ```
public struct RESTChannel<Failure: ServiceFailure>: Sendable {
  private let service: RESTService
  private let failure: @Sendable (RESTAnswer) -> Failure

  /// A way to an API.
  ///
  /// - Parameters:
  ///   - service: The server.
  ///   - failure: The product's failure for an answer that is no success.
  public init(
    _ service: RESTService, failure: @escaping @Sendable (RESTAnswer) -> Failure = { Failure($0.failure) }
  ) {
    self.service = service
    self.failure = failure
  }

  /// Makes a call, and waits for the whole answer.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - context: Who calls, and until when.
  ///   - decode: Reads an answer that is a success.
  /// - Returns: The result of `decode`.
  /// - Throws: The product's failure.
  public func call<Value>(
    _ call: RESTCall, context: CallContext, _ decode: (RESTAnswer) throws -> Value
  ) async throws(Failure) -> Value {
    do {
      let answer = try await decided(call, context)
      guard answer.status.isSuccess || call.acceptedStatuses.contains(answer.status) else { throw failure(answer) }
      return try decode(answer)
    } catch {
      throw self.failure(error, of: call)
    }
  }

  /// Makes a call whose answer is a stream, and waits for its head.
  ///
  /// The deadline of the context limits the wait for the head alone. Cancel the stream to leave it.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - context: Who calls.
  /// - Returns: The body of the answer.
  /// - Throws: The product's failure.
  public func stream(_ call: RESTCall, context: CallContext) async throws(Failure) -> ByteStream {
    try await open(call, context: context).body
  }

  /// Makes a call whose answer is read afterwards, and waits for its head.
  ///
  /// The deadline of the context limits the wait for the head alone.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - context: Who calls.
  /// - Returns: The head, and the body.
  /// - Throws: The product's failure.
  public func open(_ call: RESTCall, context: CallContext) async throws(Failure) -> RESTStream {
    do {
      let timeout = try remaining(until: deadline(of: context, call))
      let request = try await request(call, context, timeout: nil)
      let response = try await service.client.send(request, timeout: timeout)
      if let foreign = RESTAnswer.foreign(response.status, response.fields, to: call, isWhole: false) {
        response.body.stream.cancel()
        throw foreign
      }
      if response.status.isSuccess {
        return RESTStream(
          status: response.status, fields: response.fields, length: response.body.length, body: response.body.stream)
      }
      throw failure(try await whole(response, of: call, until: service.clock.now() + timeout.microseconds))
    } catch {
      throw self.failure(error, of: call)
    }
  }

  /// The product's failure for any error of a call, also of its stream.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - call: The call; `nil` for one that may be repeated.
  public func failure(_ error: any Error, of call: RESTCall? = nil) -> Failure {
    switch error {
    case let error as Failure: return error
    case let status as ServiceStatus: return Failure(status)
    case let error as TransportError: return Failure(error.status(isRepeatable: call?.isRepeatable ?? true))
    case is CancellationError: return Failure(.cancelled, "The call was cancelled.")
    case let error as BytesError: return Failure(.internal, "The answer of the service cannot be read: \(error)")
    default: return Failure(.unknown, "The call has failed (\(type(of: error))).")
    }
  }

  // MARK: The exchange

  /// Waits for the answer, after a cancellation too, for as long as the call wants.
  private func decided(_ call: RESTCall, _ context: CallContext) async throws -> RESTAnswer {
    guard call.answerGrace > .zero else { return try await answer(to: call, context) }
    try Task.checkCancellation()
    let exchange = Task { try await answer(to: call, context) }
    let timer = Locked<ListenerRegistration?>(nil)
    defer { timer.withLock { $0 }?.cancel() }
    return try await withTaskCancellationHandler {
      try await exchange.value
    } onCancel: { [clock = service.clock] in
      let end = clock.schedule(after: call.answerGrace) { exchange.cancel() }
      timer.withLock { $0 = end }
    }
  }

  private func answer(to call: RESTCall, _ context: CallContext) async throws -> RESTAnswer {
    let deadline = deadline(of: context, call)
    let request = try await request(call, context, timeout: remaining(until: deadline))
    let response = try await service.client.send(request, timeout: remaining(until: deadline))
    return try await whole(response, of: call, until: deadline)
  }

  private func deadline(of context: CallContext, _ call: RESTCall) -> Int64 {
    context.limited(to: call.timeout ?? service.options.timeout, by: service.clock).deadline ?? .max
  }

  private func remaining(until deadline: Int64) throws(ServiceStatus) -> Duration {
    let microseconds = deadline.subtractingReportingOverflow(service.clock.now()).partialValue
    guard microseconds > 0 else { throw Self.late }
    return .microseconds(microseconds)
  }

  private func request(_ call: RESTCall, _ context: CallContext, timeout: Duration?) async throws -> HTTPRequest {
    var fields = try await RESTIdentity(service).fields(for: context, timeout: timeout, hasToken: call.hasToken)
    if let compression = service.options.compression, timeout != nil {
      fields.append(.acceptEncoding, compression.name)
    }
    fields.append(contentsOf: call.fields)
    if !call.body.isEmpty, !fields.contains(.contentType) { fields.append(.contentType, "application/json") }
    return HTTPRequest(
      call.method, call.target, scheme: service.origin.isSecure ? "https" : "http", authority: service.origin.authority,
      fields: fields, body: call.body.isEmpty ? .empty : .bytes(call.body))
  }

  /// Reads an answer to its end, until the deadline.
  private func whole(_ response: HTTPResponse, of call: RESTCall, until deadline: Int64) async throws -> RESTAnswer {
    let stream = response.body.stream
    defer { stream.cancel() }
    if let foreign = RESTAnswer.foreign(response.status, response.fields, to: call, isWhole: true) {
      throw foreign
    }
    let timer = service.clock.schedule(at: deadline) { stream.cancel() }
    defer { timer.cancel() }
    do {
      let bytes = try await HTTPBody.stream(stream, length: response.body.length).collect(
        upTo: service.options.maximumAnswer)
      return RESTAnswer(
        status: response.status, fields: response.fields, body: try decompressed(bytes, response.fields))
    } catch is CancellationError where !Task.isCancelled {
      throw Self.late
    }
  }

  private func decompressed(_ bytes: [UInt8], _ fields: HTTPFields) throws -> [UInt8] {
    guard let name = fields.first(.contentEncoding), name != "identity", !bytes.isEmpty else { return bytes }
    guard let compression = service.options.compression, compression.name == name else {
      throw ServiceStatus(.internal, "The answer is compressed by \(name), which was not asked for.")
    }
    return try compression.decompress(bytes, service.options.maximumAnswer)
  }

  private static var late: ServiceStatus {
    ServiceStatus(.deadlineExceeded, "The service did not answer within the deadline of the call.")
  }
}
