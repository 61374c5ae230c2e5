import VestaBytes
import VestaConcurrency
public import VestaServiceInterop

/// Calls a product's service over gRPC: the floor under every remote backend that speaks it.
///
/// - The context of a call becomes fields, as with ``RESTChannel``; its deadline limits the call as a whole and is sent
///   along.
/// - Every error leaves as the product's type. A lost connection is `UNAVAILABLE` where the call may be made again, and
///   `DEADLINE_EXCEEDED` where it may have had its effect and must not be repeated unseen.
/// - Identity travels with each call, so that one connection serves all callers of a program.
///
/// Tokens are refreshed and calls repeated by the client above, not here.
///
/// ```swift
/// let channel = GRPCServiceChannel<FirestoreServiceError>(service)
/// let call = GRPCCall("/google.firestore.v1.Firestore/Commit", isRepeatable: false)
/// let response = try await channel.unary(call, context: context) { try write(request) } decode: { try read($0) }
/// ```
public struct GRPCServiceChannel<Failure: ServiceFailure>: Sendable {
  private let service: RESTService
  private let identity: RESTIdentity
  private let channel: GRPCChannel

  /// A way to a service.
  ///
  /// - Parameters:
  ///   - service: The server.
  ///   - grpc: The limits of messages.
  public init(_ service: RESTService, grpc: GRPCOptions = GRPCOptions()) {
    self.service = service
    identity = RESTIdentity(service)
    channel = GRPCChannel(
      service.client, authority: service.origin.authority, scheme: service.origin.isSecure ? "https" : "http",
      options: grpc, clock: service.clock)
  }

  /// The executor on which responses arrive; see ``HTTPClient/executor(for:)``.
  public var executor: (any TaskExecutor)? { channel.executor }

  // MARK: One request

  /// Makes a call with one request and one response.
  ///
  /// - Parameters:
  ///   - call: The method.
  ///   - context: Who calls, and until when.
  ///   - encode: Writes the request.
  ///   - decode: Reads the response.
  /// - Throws: The product's failure.
  public func unary<Value>(
    _ call: GRPCCall, context: CallContext, _ encode: () throws -> [UInt8], decode: ([UInt8]) throws -> Value
  ) async throws(Failure) -> Value {
    let message = try encoded(encode)
    do {
      let timeout = try timeout(of: call, context)
      let response = try await channel.unary(
        call.path, message, metadata: fields(of: call, context), timeout: timeout, isRepeatable: call.isRepeatable)
      return try decode(response.message)
    } catch {
      throw failure(error)
    }
  }

  /// Makes a call with one request and a stream of responses, which ends when `receive` has had all of them.
  ///
  /// - Parameters:
  ///   - call: The method.
  ///   - context: Who calls, and until when.
  ///   - encode: Writes the request.
  ///   - decode: Reads a response.
  ///   - receive: Takes the responses, one by one; it may end the call by throwing.
  /// - Throws: The product's failure, or what `receive` threw.
  public func stream<Value>(
    _ call: GRPCCall, context: CallContext, _ encode: () throws -> [UInt8], decode: ([UInt8]) throws -> Value,
    receive: (Value) async throws -> Void
  ) async throws {
    let message = try encoded(encode)
    let reader = try await opened(call, message, context)
    defer { reader.cancel() }
    while let batch = try await batch(of: reader) {
      for bytes in batch {
        let value: Value
        do { value = try decode(bytes) } catch { throw failure(error) }
        try await receive(value)
      }
    }
  }

  private func opened(_ call: GRPCCall, _ message: [UInt8], _ context: CallContext) async throws(Failure) -> GRPCReader
  {
    do {
      let timeout = try timeout(of: call, context)
      return try await channel.responses(
        call.path, message, metadata: fields(of: call, context), timeout: timeout, isRepeatable: call.isRepeatable)
    } catch {
      throw failure(error)
    }
  }

  private func batch(of reader: GRPCReader) async throws(Failure) -> [[UInt8]]? {
    do { return try await reader.nextBatch() } catch { throw failure(error) }
  }

  // MARK: Streams of requests

  /// Begins a call with a stream of requests and one of responses.
  ///
  /// Only a deadline of the context limits it. A service that ends it with success although the caller has not said
  /// that no request follows has failed: that is `UNAVAILABLE`.
  ///
  /// - Parameters:
  ///   - call: The method.
  ///   - context: Who calls.
  ///   - encode: Writes a request; an error ends the call.
  ///   - decode: Reads a response; `nil` for one to pass over, an error ends the call.
  /// - Throws: The product's failure when the call cannot be begun; later ones end the responses.
  public func duplex<Request: Sendable, Response: Sendable>(
    _ call: GRPCCall, context: CallContext, encode: @escaping @Sendable (Request) throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Response?
  ) async throws(Failure) -> DuplexCall<Request, Response> {
    do {
      let timeout = try context.deadline.map(remaining)
      let fields = try await fields(of: call, context)
      return GRPCDuplex(channel.open(call.path, metadata: fields, timeout: timeout), encode) { failure($0) }.call(
        decode)
    } catch {
      throw failure(error)
    }
  }

  // MARK: Context and failures

  private func fields(of call: GRPCCall, _ context: CallContext) async throws -> HTTPFields {
    var fields = try await identity.fields(for: context, timeout: nil, hasToken: false)
    fields.append(contentsOf: call.metadata)
    return fields
  }

  private func timeout(of call: GRPCCall, _ context: CallContext) throws(ServiceStatus) -> Duration {
    let timeout = call.timeout ?? service.options.timeout
    guard let deadline = context.deadline else { return timeout }
    return try min(timeout, remaining(until: deadline))
  }

  private func remaining(until deadline: Int64) throws(ServiceStatus) -> Duration {
    let microseconds = deadline.subtractingReportingOverflow(service.clock.now()).partialValue
    guard microseconds > 0 else { throw ServiceStatus(.deadlineExceeded, "The deadline of the call has passed.") }
    return .microseconds(microseconds)
  }

  private func encoded(_ encode: () throws -> [UInt8]) throws(Failure) -> [UInt8] {
    do { return try encode() } catch { throw Failure(ServiceStatus(.invalidArgument, "Invalid request: \(error)")) }
  }

  /// The product's failure for any error of a call.
  private func failure(_ error: any Error) -> Failure {
    switch error {
    case let error as Failure: error
    case let error as GRPCError: Failure(error.status)
    case let status as ServiceStatus: Failure(status)
    case let error as TransportError: Failure(error.status(isRepeatable: true))
    case is CancellationError: Failure(ServiceStatus(.cancelled, "The call was cancelled."))
    case let error as BytesError:
      Failure(ServiceStatus(.internal, "The response of the service cannot be read: \(error)"))
    default: Failure(ServiceStatus(.unknown, "The call has failed (\(type(of: error)))."))
    }
  }
}

/// One call of a service over gRPC: the parts that are sent in addition to the identity of the caller.
public struct GRPCCall: Sendable {
  /// The method: `/package.Service/Method`.
  public var path: String

  /// The product's own fields.
  public var metadata: HTTPFields

  /// The time for a call whose context has no earlier deadline; that of the service's options unless given.
  ///
  /// Calls with a stream of requests have no limit but the context's.
  public var timeout: Duration?

  /// Whether the same call may be made twice without a second effect; see ``RESTCall/isRepeatable``.
  public var isRepeatable: Bool

  /// A call.
  ///
  /// - Parameters:
  ///   - path: The method.
  ///   - metadata: The product's own fields.
  ///   - timeout: The time for a call whose context has no earlier deadline.
  ///   - isRepeatable: Whether the same call may be made twice without a second effect.
  public init(_ path: String, metadata: HTTPFields = [:], timeout: Duration? = nil, isRepeatable: Bool = true) {
    self.path = path
    self.metadata = metadata
    self.timeout = timeout
    self.isRepeatable = isRepeatable
  }
}
