import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// A request that opens a connection: `GET /.ws?v=5&ns=…`.
struct SocketOpening: Sendable {
  private let backend: any DatabaseBackend
  private let request: DatabaseConnectRequest
  private let authority: String
  private let host: any EndpointHost
  private let tuning: DatabaseEndpointsTuning

  /// - Throws: `BytesError` for another version of the protocol; `ServiceStatus` for a database that cannot be.
  init(
    _ http: HTTPRequest, _ host: any EndpointHost, _ tuning: DatabaseEndpointsTuning
  ) throws {
    let opening = try DatabaseOpening(query: String(http.query ?? ""))
    guard opening.movedSession == nil else {
      throw ServiceStatus(.failedPrecondition, "A session does not move to another connection.")
    }
    let place = try DatabasePlace(opening.namespace, at: http.authority, in: host)
    var context = CallContext(http, project: place.project, clock: host.clock)
    // Clients sign in by a request, whose reply says what is wrong with a token; the field says nothing else.
    context.caller = .nobody
    if let token = opening.appCheckToken { context.appCheck = .token(token) }
    backend = try host.backend((any DatabaseBackend).self, project: place.project)
    request = DatabaseConnectRequest(
      namespace: place.namespace, lastSession: opening.lastSession,
      userAgent: http.fields.first("user-agent") ?? "", context: context)
    (authority, self.host, self.tuning) = (http.authority, host, tuning)
  }

  func service() -> WebSocketService {
    WebSocketService(messageLimit: tuning.wire.maximumMessageBytes) { socket in
      let session = SocketSession(
        socket, backend, request, ServingMachine(host: authority, tuning: tuning), tuning)
      let pulse = Pulse(host.clock, every: tuning.keepAlive) { if socket.backlog == 0 { socket.ping() } }
      pulse.begin()
      defer { pulse.end() }
      await session.run()
    }
  }
}
