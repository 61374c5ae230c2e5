/// How the body of a request reaches its handler.
public enum HTTPBodyDelivery: Sendable, Hashable {
  /// The handler is called when the whole body is there; a larger one than the limit is refused with 413.
  case collected(upTo: Int)
  /// The handler is called as soon as the head is there, and reads the body as a stream.
  case streamed
}

/// The head of a request before its body is received, by which a handler says how it wants the body.
public struct HTTPRequestHead: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// The path and the query, percent-encoded.
  public var target: String
  /// The fields.
  public var fields: HTTPFields

  /// A head.
  @inlinable
  public init(method: HTTPMethod, target: String, fields: HTTPFields) {
    self.method = method
    self.target = target
    self.fields = fields
  }
}

/// The reply of a handler to a request.
public enum HTTPReply: Sendable {
  /// The response, made in place: no task was needed.
  case response(HTTPResponse)
  /// The response is made by a task. It begins on the event loop of the connection, and is cancelled when the peer
  /// leaves; work that blocks belongs elsewhere.
  case task(@Sendable () async throws -> HTTPResponse)
  /// The connection becomes a WebSocket, if the request asks for one; it is refused with 426 otherwise.
  case webSocket(WebSocketService)
}

/// How a server serves a WebSocket.
public struct WebSocketService: Sendable {
  /// The protocol to agree on; one that the client has offered.
  public var subprotocol: String?

  /// Further fields of the response with 101.
  public var fields: HTTPFields

  /// The largest message that is accepted; a larger one closes the socket with 1009.
  public var messageLimit: Int

  /// Serves the socket in a task on the event loop of the connection, which is cancelled when the connection ends.
  ///
  /// When it returns the socket is closed with 1000, when it throws with 1011.
  public var serve: @Sendable (WebSocket) async throws -> Void

  /// A service.
  public init(
    subprotocol: String? = nil, fields: HTTPFields = [:], messageLimit: Int = 1 << 20,
    serve: @escaping @Sendable (WebSocket) async throws -> Void
  ) {
    self.subprotocol = subprotocol
    self.fields = fields
    self.messageLimit = messageLimit
    self.serve = serve
  }
}

/// An object that serves the requests of a listener.
///
/// The transport calls it on the event loop of the connection, and waits for it: ``reply(to:)`` never blocks. An answer
/// that is at hand is returned in place, without a task or a hop between threads; anything else is a `.task`.
///
/// ```swift
/// struct Hello: HTTPHandler {
///   func reply(to request: HTTPRequest) -> HTTPReply { .response(HTTPResponse(body: .text("hello"))) }
/// }
/// ```
public protocol HTTPHandler: Sendable {
  /// Says how the body is wanted. Not called for a request without one.
  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery

  /// Replies to a request.
  ///
  /// An error that a task of the reply throws becomes a response with 500, or ends the connection when a part of the
  /// response was sent.
  func reply(to request: HTTPRequest) -> HTTPReply

  /// The response to a request whose body is larger than the limit of its ``HTTPBodyDelivery/collected(upTo:)``.
  func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse
}

extension HTTPHandler {
  /// The status 413.
  public func refusal(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
    HTTPResponse(.contentTooLarge, fields: [.contentType: "text/plain"], body: .text("more than \(limit) bytes\n"))
  }

  /// Whole bodies of up to a mebibyte.
  public func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: 1 << 20) }
}

/// A handler made of a closure.
public struct HTTPClosureHandler: HTTPHandler {
  private let delivery: HTTPBodyDelivery
  private let respond: @Sendable (HTTPRequest) -> HTTPReply

  /// A handler.
  ///
  /// - Parameters:
  ///   - delivery: How bodies reach it.
  ///   - respond: Replies to a request, without blocking.
  public init(
    body delivery: HTTPBodyDelivery = .collected(upTo: 1 << 20),
    _ respond: @escaping @Sendable (HTTPRequest) -> HTTPReply
  ) {
    self.delivery = delivery
    self.respond = respond
  }

  /// The delivery that was given.
  public func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { delivery }

  /// Calls the closure.
  public func reply(to request: HTTPRequest) -> HTTPReply { respond(request) }
}
