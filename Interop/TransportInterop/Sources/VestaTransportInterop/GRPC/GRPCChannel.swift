import VestaConcurrency
public import VestaServiceInterop

/// Calls the methods of a server over an ``HTTPClient``.
///
/// ```swift
/// let channel = GRPCChannel(client, authority: "localhost:50051")
/// let response = try await channel.unary("/greet.Greeter/Hello", request, timeout: .seconds(5))
/// ```
public struct GRPCChannel: Sendable {
  private let client: any HTTPClient
  private let authority: String
  private let scheme: String
  private let options: GRPCOptions
  private let clock: ServiceClock
  /// Calls take microseconds and have limits of minutes: a timer for each would cost more than the call.
  private let deadlines: ServiceDeadlines

  /// A way to a server.
  ///
  /// - Parameters:
  ///   - client: Sends the requests.
  ///   - authority: The host and the port.
  ///   - scheme: `http` or `https`.
  ///   - options: The limits.
  ///   - clock: The time of deadlines.
  public init(
    _ client: any HTTPClient, authority: String, scheme: String = "http", options: GRPCOptions = GRPCOptions(),
    clock: ServiceClock = .system
  ) {
    self.client = client
    self.authority = authority
    self.scheme = scheme
    self.options = options
    self.clock = clock
    deadlines = ServiceDeadlines(clock)
  }

  /// The executor on which responses arrive; see ``HTTPClient/executor(for:)``.
  var executor: (any TaskExecutor)? { client.executor(for: authority) }

  /// Longer than any call: a call without a deadline waits for its server.
  private static let noDeadline = Duration.seconds(3_000_000_000)

  /// Calls a method with one request and one response.
  ///
  /// - Parameters:
  ///   - path: The method: `/package.Service/Method`.
  ///   - message: The request.
  ///   - metadata: Further fields of the request.
  ///   - timeout: How long the caller waits; the timeout is sent to the server.
  ///   - isRepeatable: Whether the call may be made twice without a second effect. A connection that was lost is
  ///     `UNAVAILABLE` then, and `DEADLINE_EXCEEDED` otherwise if the server may have acted.
  /// - Returns: The response.
  /// - Throws: ``GRPCError``; `CancellationError`.
  public func unary(
    _ path: String, _ message: [UInt8], metadata: HTTPFields = [:], timeout: Duration? = nil,
    isRepeatable: Bool = true
  ) async throws -> GRPCResponse {
    let body = HTTPBody.bytes(try GRPCMessages.frame(message))
    let deadline = timeout.map { clock.now() + min($0, Self.noDeadline).microseconds }
    do {
      // Where the response arrives: its head, its body and its end would otherwise wake the caller's thread each.
      return try await withTaskExecutorPreference(executor) {
        let response = try await client.send(
          request(path, metadata, timeout, body), timeout: timeout ?? Self.noDeadline)
        return try await answer(response, deadline)
      }
    } catch let error as TransportError {
      throw GRPCError(error, isRepeatable: isRepeatable)
    }
  }

  /// Calls a method with one request and a stream of responses, and waits for the head.
  func responses(
    _ path: String, _ message: [UInt8], metadata: HTTPFields, timeout: Duration, isRepeatable: Bool
  ) async throws -> GRPCReader {
    let body = HTTPBody.bytes(try GRPCMessages.frame(message))
    let deadline = clock.now().addingReportingOverflow(timeout.microseconds)
    do {
      let response = try await client.send(request(path, metadata, timeout, body), timeout: timeout)
      try Self.check(response)
      let reader = GRPCReader(response, options, try compression(of: response), isRepeatable: isRepeatable)
      if !deadline.overflow { reader.limit(until: deadline.partialValue, by: deadlines) }
      return reader
    } catch let error as TransportError {
      throw GRPCError(error, isRepeatable: isRepeatable)
    }
  }

  private func answer(_ response: HTTPResponse, _ deadline: Int64?) async throws -> GRPCResponse {
    try Self.check(response)
    let body = response.body.stream
    let timer = deadline.map { deadline in
      deadlines.add(at: deadline) { body.cancel() }
    }
    defer { timer?.cancel() }
    let bytes: [UInt8]
    do {
      bytes = try await response.body.collect(upTo: options.messageBytes + 5)
    } catch TransportError.Code.tooLarge {
      throw GRPCError(.resourceExhausted, "The response is larger than \(options.messageBytes) bytes.")
    } catch is CancellationError where !Task.isCancelled {
      throw GRPCError(.deadlineExceeded, "The deadline has passed.")
    }
    let trailers = GRPCWire.hasStatus(response.fields) ? response.fields : body.trailers
    if let error = GRPCWire.error(trailers) { throw error }
    let message = try GRPCMessages.only(bytes, options.messageBytes, try compression(of: response))
    return GRPCResponse(message, metadata: response.fields, trailers: trailers)
  }

  /// Begins a call with a stream of requests, of responses, or of both.
  ///
  /// - Parameters:
  ///   - path: The method: `/package.Service/Method`.
  ///   - metadata: Further fields of the request.
  ///   - timeout: How long the whole call may take; the timeout is sent to the server.
  /// - Returns: The call, which is sent at once.
  public func open(_ path: String, metadata: HTTPFields = [:], timeout: Duration? = nil) -> GRPCClientCall {
    let upload = ByteStream(limit: options.streamBytes)
    let request = request(path, metadata, timeout, .stream(upload))
    let call = GRPCClientCall(upload, options) { [self] in try compression(of: $0) }
    call.start(request, on: client, timeout: timeout ?? Self.noDeadline)
    if let timeout {
      call.end(with: clock.schedule(after: timeout) { [weak call] in call?.expire() })
    }
    return call
  }

  private func request(
    _ path: String, _ metadata: HTTPFields, _ timeout: Duration?, _ body: HTTPBody
  ) -> HTTPRequest {
    var fields: HTTPFields = [.contentType: GRPCWire.contentType, "te": "trailers"]
    if let timeout { fields.append("grpc-timeout", GRPCWire.text(of: timeout)) }
    if let compression = options.compression { fields.append("grpc-accept-encoding", "identity,\(compression.name)") }
    fields.append(contentsOf: metadata)
    var request = HTTPRequest(.post, path, scheme: scheme, authority: authority, fields: fields, body: body)
    request.version = .http2
    return request
  }

  /// Whether a head is that of a response of gRPC.
  static func check(_ response: HTTPResponse) throws {
    guard !GRPCWire.hasStatus(response.fields) else { return }
    guard !HTTPFields.isPage(response.fields) else {
      response.body.stream.cancel()
      // The refusal of a network in between says nothing about the call, which may be made again.
      throw GRPCError(.unavailable, "The answer (\(response.status)) is a page, and not the service's.")
    }
    guard response.status == .ok else {
      response.body.stream.cancel()
      throw GRPCWire.error(response.status)
    }
    guard GRPCWire.isGRPC(response.fields) else {
      response.body.stream.cancel()
      throw GRPCError(.unknown, "The response is none of gRPC.")
    }
  }

  private func compression(of response: HTTPResponse) throws -> TransportCompression? {
    guard let name = response.fields.first("grpc-encoding"), name != "identity" else { return nil }
    guard let compression = options.compression, compression.name == name else {
      throw GRPCError(.internal, "The server compresses by \(name), which was not offered.")
    }
    return compression
  }
}
