import VestaBytes
public import VestaServiceInterop

/// Serves a REST API: the floor under the endpoints of every product that speaks JSON.
///
/// - Bodies reach the product whole and decompressed. Whether one is compressed is seen by its first bytes: browsers
///   announce gzip and send JSON.
/// - Every failure, also of the transport, is a response of the product; nothing of an unknown error is sent but its
///   type.
/// - Pages of other origins are answered by the rules.
///
/// ```swift
/// let handler = RESTHandler(bodyLimit: 1 << 20) { request in
///   .json(try PageWire.body(of: try await backend.page(request.body)))
/// }
/// ```
public struct RESTHandler: HTTPHandler {
  private let bodyLimit: Int
  private let compression: TransportCompression?
  private let failure: @Sendable (any Error, HTTPRequest) -> HTTPResponse
  private let serve: @Sendable (RESTRequest) async throws -> HTTPResponse

  /// A handler.
  ///
  /// - Parameters:
  ///   - bodyLimit: The most bytes of a body, also when it is decompressed.
  ///   - compression: The way to decompress bodies; bodies of gzip are refused without it.
  ///   - rules: The rules for pages of other origins.
  ///   - failure: The response for an error that is none of the transport's; the envelope of its status unless given.
  ///   - serve: Makes the response to a request.
  /// - Returns: The handler, behind the rules.
  public static func make(
    bodyLimit: Int, compression: TransportCompression? = nil, rules: CrossOriginRules = CrossOriginRules(),
    failure: @escaping @Sendable (any Error, HTTPRequest) -> HTTPResponse = { error, _ in .failure(for: error) },
    serve: @escaping @Sendable (RESTRequest) async throws -> HTTPResponse
  ) -> any HTTPHandler {
    CrossOriginHandler(
      rules: rules, RESTHandler(bodyLimit: bodyLimit, compression: compression, failure: failure, serve: serve))
  }

  private init(
    bodyLimit: Int, compression: TransportCompression?,
    failure: @escaping @Sendable (any Error, HTTPRequest) -> HTTPResponse,
    serve: @escaping @Sendable (RESTRequest) async throws -> HTTPResponse
  ) {
    self.bodyLimit = bodyLimit
    self.compression = compression
    self.failure = failure
    self.serve = serve
  }

  /// Whole bodies up to the limit.
  public func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: bodyLimit) }

  /// Serves a request in a task.
  public func reply(to request: HTTPRequest) -> HTTPReply {
    .task {
      do {
        return try await serve(RESTRequest(request, body: try decompressed(request.body.bytes ?? [])))
      } catch {
        return failure(error, request)
      }
    }
  }

  /// The envelope of a body that is too large.
  public func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    .failure(ServiceStatus(.invalidArgument, "The body has more than \(limit) bytes."), httpStatus: .contentTooLarge)
  }

  private func decompressed(_ body: [UInt8]) throws -> [UInt8] {
    guard body.starts(with: [0x1F, 0x8B]) else { return body }
    guard let compression, compression.name == "gzip" else {
      throw ServiceStatus(.invalidArgument, "The body is compressed by gzip, which this server does not read.")
    }
    do {
      return try compression.decompress(body, bodyLimit)
    } catch {
      throw ServiceStatus(
        .invalidArgument, "The body is not compressed by gzip, or has more than \(bodyLimit) bytes.")
    }
  }
}

/// A request of a REST API with its whole body.
public struct RESTRequest: Sendable {
  /// The request.
  public let http: HTTPRequest

  /// The body, decompressed.
  public let body: [UInt8]

  init(_ http: HTTPRequest, body: [UInt8]) { (self.http, self.body) = (http, body) }
}

extension HTTPResponse {
  /// A response with JSON.
  ///
  /// - Parameters:
  ///   - body: The JSON.
  ///   - status: The status.
  ///   - fields: Further fields.
  public static func json(_ body: [UInt8], status: HTTPStatus = .ok, fields: HTTPFields = [:]) -> HTTPResponse {
    var all: HTTPFields = [.contentType: "application/json; charset=utf-8"]
    all.append(contentsOf: fields)
    return HTTPResponse(status, fields: all, body: .bytes(body))
  }

  /// A failure in its envelope.
  ///
  /// - Parameters:
  ///   - status: The failure.
  ///   - httpStatus: The status of HTTP; that of the code unless given.
  ///   - body: The body; the envelope of the status unless given.
  public static func failure(
    _ status: ServiceStatus, httpStatus: HTTPStatus? = nil, body: [UInt8]? = nil
  ) -> HTTPResponse {
    let http = httpStatus ?? HTTPStatus(status.code.httpStatus)
    var fields: HTTPFields = [:]
    if let pause = status.retryAfter {
      let microseconds = min(pause.microseconds, .max - 999_999)
      fields.append("retry-after", "\((microseconds + 999_999) / 1_000_000)")
    }
    return .json(
      body ?? ((try? status.envelope(httpStatus: http.code).object.json()) ?? []), status: http, fields: fields)
  }

  /// The failure for any error; of an unknown one only its type is passed on.
  public static func failure(for error: any Error) -> HTTPResponse {
    switch error {
    case let status as ServiceStatus: failure(status)
    case let error as any ServiceFailure: failure(error.status)
    case is CancellationError: failure(ServiceStatus(.cancelled, "The call was cancelled."))
    default: failure(ServiceStatus(.internal, "The service failed unexpectedly (\(type(of: error)))."))
    }
  }
}
