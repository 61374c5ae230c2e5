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
    switch path {
    case "/google.firestore.v1.Firestore/Listen/channel": "Listen"
    case "/google.firestore.v1.Firestore/Write/channel": "Write"
    default: nil
    }
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
    do {
      switch try WebChannelRequest(method: request.method.name, query: String(request.query ?? "")) {
      case .open(let database, _):
        let body = try WebChannelBody(request.body.bytes ?? [])
        return .response(try open(call, database ?? "", body, request))
      case .forward(let place, let confirmed):
        guard let session = session(place) else { return Self.unknown }
        let response = try session.forward(try WebChannelBody(request.body.bytes ?? []), confirmed: confirmed)
        return .response(Self.response(.bytes(response)))
      case .back(let place, let confirmed, let kind):
        guard let session = session(place) else { return Self.unknown }
        return .response(Self.response(.stream(try session.back(kind, confirmed: confirmed))))
      case .terminate(let place):
        session(place)?.terminate()
        return .response(Self.response(.empty))
      }
    } catch {
      let status = status(of: (error as? BytesError).map { BytesFailure(message: $0.message) } ?? error)
      return .response(RESTResponse.failure(status))
    }
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
        .schema(ListenRequestWire.self), .schema(ListenResponseWire.self), request: \.request, response: { $0 }
      ) { try await backend.listen(database: database, context: context) }
    }
    return start(
      .conversion(WriteRequestWire.self), .schema(WriteResponseWire.self), request: { $0.request }, response: { $0 }
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
  private func start<Message, Request, Response, Reply>(
    _ requests: MessageForm<Message>, _ responses: MessageForm<Reply>,
    request: @escaping @Sendable (Message) -> Request?, response: @escaping @Sendable (Response) -> Reply,
    open: @escaping @Sendable () async throws -> DuplexCall<Request, Response>
  ) -> (WebChannelSession, begin: @Sendable () -> Void) {
    let source = WebChannelSource<Request, Response>()
    let session = WebChannelSession(host.clock, tuning) { json in
      if let request = request(try requests.readJSON(json)) { source.send(request) }
    } onGone: { [weak self] session in
      source.cancel()
      self?.state.withLock { $0.sessions[session.id] = nil }
    }
    let carry: @Sendable () async -> Void = { [weak session] in
      do {
        let call = try await open()
        source.set(call)
        for try await batch in call.responses {
          let messages = try batch.map { try JSONValue(json: responses.writeJSON(response($0)), limits: .large) }
          session?.send(messages)
        }
        session?.fail(ServiceStatus(.unavailable, "The stream has ended. Connect again, with resume tokens."))
      } catch {
        session?.fail(status(of: error))
      }
    }
    return (session, { source.run(carry) })
  }
}

extension JSONLimits {
  fileprivate static let large = WebChannelFrames.limits
}

/// The backend's stream of a session: earlier messages wait for its opening.
private final class WebChannelSource<Request: Sendable, Response: Sendable>: Sendable {
  private struct State {
    var call: DuplexCall<Request, Response>?
    var early: [Request] = []
    var task: Task<Void, Never>?
    var isOver = false
  }

  private let state = Locked(State())

  func run(_ work: @escaping @Sendable () async -> Void) {
    let task = Task { await work() }
    let isOver = state.withLock { state in
      state.task = task
      return state.isOver
    }
    if isOver { task.cancel() }
  }

  func set(_ call: DuplexCall<Request, Response>) {
    while true {
      let early = state.withLock { state -> [Request] in
        defer { state.early = [] }
        if state.early.isEmpty || state.isOver { state.call = call }
        return state.early
      }
      if early.isEmpty { break }
      for request in early { call.send(request) }
    }
    if state.withLock({ $0.isOver }) { call.cancel() }
  }

  func send(_ request: Request) {
    let call = state.withLock { state in
      if state.call == nil { state.early.append(request) }
      return state.call
    }
    call?.send(request)
  }

  func cancel() {
    let (call, task) = state.withLock { state in
      state.isOver = true
      defer { state.task = nil }
      return (state.call, state.task)
    }
    call?.cancel()
    task?.cancel()
  }
}
