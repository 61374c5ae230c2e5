import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// Serves Listen and Write to browsers, over WebChannel.
final class WebChannelHandler: Sendable {
  private struct State {
    var sessions: [String: WebChannelSession] = [:]
    var isEnding = false
  }

  private let host: any EndpointHost
  private let tuning: FirestoreEndpointTuning
  private let state = Locked(State())

  init(_ host: any EndpointHost, _ tuning: FirestoreEndpointTuning) {
    self.host = host
    self.tuning = tuning
  }

  /// The call of a path such as `/google.firestore.v1.Firestore/Listen/channel`; `nil` for another path.
  static func call(at path: Substring) -> String? {
    guard let name = FirestoreService.names.first(where: { path.utf8.starts(with: $0.utf8) }) else { return nil }
    return switch path.dropFirst(name.count) {
    case "Listen/channel": "Listen"
    case "Write/channel": "Write"
    default: nil
    }
  }

  /// How the body of a large POST of writes is delivered; `nil` for other requests.
  ///
  /// Browsers have no use for a refusal of the request: they send it again without end. So it is read message by
  /// message, and a message that is too large is refused in the stream, as any other write.
  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery? {
    guard head.method == .post, let length = head.fields.first("content-length").flatMap({ Int($0) }),
      length > tuning.requestBytes, length <= tuning.channelBodyBytes
    else { return nil }
    let parts = head.target.split(separator: "?", maxSplits: 1)
    guard parts.count == 2, Self.call(at: parts[0]) == "Write",
      case .forward(let place, _)? = try? WebChannelRequest(method: "POST", query: String(parts[1])),
      session(place) != nil
    else { return nil }
    return .streamed
  }

  /// Ends all sessions with `UNAVAILABLE`, and refuses new ones.
  func endStreams() {
    let sessions = state.withLock { state in
      state.isEnding = true
      return Array(state.sessions.values)
    }
    for session in sessions { session.fail(Self.ending) }
  }

  private static let ending = ServiceStatus(.unavailable, "The server shuts down.")

  func reply(to request: HTTPRequest, _ call: String) -> HTTPReply {
    let count = request.body.length ?? 0
    guard count > tuning.loopBytes else { return replyInPlace(to: request, call) }
    return .task { [self] in
      try await served(count, upTo: tuning.loopBytes) {
        switch replyInPlace(to: request, call) {
        case .response(let response): return response
        case .task(let work): return try await work()
        case .webSocket: return HTTPResponse(.badRequest)
        }
      }
    }
  }

  private func replyInPlace(to request: HTTPRequest, _ call: String) -> HTTPReply {
    do {
      switch try WebChannelRequest(method: request.method.name, query: String(request.query ?? "")) {
      case .open(let database, _):
        let body = try WebChannelBody(request.body.bytes ?? [])
        return .response(try open(call, database ?? "", body, request))
      case .forward(let place, let confirmed):
        guard let session = session(place) else { return Self.unknown }
        if case .stream(let body, _) = request.body { return .task { await Self.take(body, session, confirmed) } }
        let body = try WebChannelBody(request.body.bytes ?? [])
        // The next request of the browser waits for the response to this one.
        if session.isCrowded { return .task { await Self.take(body, session, confirmed) } }
        return .response(Self.response(.bytes(try session.forward(body, confirmed: confirmed))))
      case .back(let place, let confirmed, let kind):
        guard let session = session(place), let stream = try session.back(kind, confirmed: confirmed) else {
          return Self.unknown
        }
        return .response(Self.response(.stream(stream)))
      case .terminate(let place):
        session(place)?.terminate()
        return .response(Self.response(.empty))
      }
    } catch {
      return .response(Self.failure(error))
    }
  }

  private static func take(_ body: ByteStream, _ session: WebChannelSession, _ confirmed: Int) async -> HTTPResponse {
    do {
      return response(.bytes(try await session.forward(body, confirmed: confirmed)))
    } catch {
      return failure(error)
    }
  }

  private static func take(
    _ body: WebChannelBody, _ session: WebChannelSession, _ confirmed: Int
  ) async -> HTTPResponse {
    do {
      try await session.waitForRoom()
      return response(.bytes(try session.forward(body, confirmed: confirmed)))
    } catch {
      return failure(error)
    }
  }

  private static func failure(_ error: any Error) -> HTTPResponse {
    RESTResponse.failure(status(of: (error as? BytesError).map { BytesFailure(message: $0.message) } ?? error))
  }

  private static var unknown: HTTPReply {
    .response(HTTPResponse(.badRequest, fields: fields, body: .text("Error: Unknown SID\n")))
  }

  private static let fields: HTTPFields = [
    .contentType: "text/plain; charset=utf-8", "x-content-type-options": "nosniff",
    "cache-control": "no-cache, no-store, max-age=0, must-revalidate",
  ]

  private static func response(_ body: HTTPBody) -> HTTPResponse { HTTPResponse(fields: fields, body: body) }

  private func session(_ place: WebChannelRequest.Session) -> WebChannelSession? {
    guard let session = state.withLock({ $0.sessions[place.id] }) else { return nil }
    return place.httpID ?? session.httpID == session.httpID ? session : nil
  }

  // MARK: Opening

  private func open(
    _ call: String, _ database: String, _ body: WebChannelBody, _ request: HTTPRequest
  ) throws -> HTTPResponse {
    let project = try project(of: database)
    let backend = try host.backend((any FirestoreBackend).self, project: project)
    var request = request
    for header in body.headers {
      if let name = HTTPFieldName(header.name) { request.fields.set(name, header.value) }
    }
    let context = CallContext(request, project: project, clock: host.clock)
    let (session, begin) = start(call, database, backend, context)
    let opening: [UInt8]
    do {
      try keep(session)
      opening = try session.open(body)
    } catch {
      session.terminate()
      throw error
    }
    // The responses of the backend follow the opening, also when it refuses the call at once.
    begin()
    var response = Self.response(.bytes(opening))
    response.fields.append("x-http-session-id", session.httpID)
    return response
  }

  private func start(
    _ call: String, _ database: String, _ backend: any FirestoreBackend, _ context: CallContext
  ) -> (WebChannelSession, begin: @Sendable () -> Void) {
    if call == "Listen" {
      return start(
        .schema(ListenRequestWire.self), .schema(ListenResponseWire.self), isAnswered: false, request: \.request,
        response: { $0 }
      ) { try await backend.listen(database: database, context: context) }
    }
    return start(
      .conversion(WriteRequestWire.self), .schema(WriteResponseWire.self), isAnswered: true, request: { $0.request },
      response: { $0 }
    ) { try await backend.write(database: database, context: context) }
  }

  private func keep(_ session: WebChannelSession) throws(ServiceStatus) {
    let isFull = state.withLock { state in
      guard !state.isEnding, state.sessions.count < tuning.webChannels else { return true }
      state.sessions[session.id] = session
      return false
    }
    if isFull { throw ServiceStatus(.unavailable, "The server has as many channels as it may, or shuts down.") }
  }

  /// A session and what starts the stream of the backend; messages of the browser wait until it is there.
  ///
  /// - Parameter isAnswered: Whether each request has one response, in their order.
  private func start<Message, Request, Response, Reply>(
    _ requests: MessageForm<Message>, _ responses: MessageForm<Reply>, isAnswered: Bool,
    request: @escaping @Sendable (Message) -> Request?, response: @escaping @Sendable (Response) -> Reply,
    open: @escaping @Sendable () async throws -> DuplexCall<Request, Response>
  ) -> (WebChannelSession, begin: @Sendable () -> Void) {
    let source = WebChannelSource<Request, Response>(isAnswered: isAnswered)
    let session = WebChannelSession(host.clock, tuning) { text in
      source.take(text) { json in request(try requests.readJSON(json)) }
    } waitingBytes: {
      source.waitingBytes
    } onGone: { [weak self] session in
      source.cancel()
      self?.state.withLock { $0.sessions[session.id] = nil }
    }
    let carry: @Sendable () async -> Void = { [weak session] in
      do {
        let call = try await open()
        source.set(call)
        for try await batch in call.responses {
          let messages = try batch.map {
            try JSONValue(json: responses.writeJSON(response($0)), limits: WebChannelFrames.limits)
          }
          session?.send(messages)
          if let refusal = source.answered(messages.count) { throw refusal }
        }
        session?.fail(ServiceStatus(.unavailable, "The stream has ended. Connect again, with resume tokens."))
      } catch {
        session?.fail(status(of: error))
      }
    }
    return (session, { source.run(carry) })
  }
}
