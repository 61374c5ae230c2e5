import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// The connection of a backend that a client asks for, by a WebSocket or by polling.
struct ConnectionOpening: Sendable {
  let backend: any DatabaseBackend
  let request: DatabaseConnectRequest
  let place: DatabasePlace

  /// - Throws: `ServiceStatus` for a database that cannot be.
  init(_ opening: DatabaseOpening, _ http: HTTPRequest, _ host: any EndpointHost) throws {
    guard opening.movedSession == nil else {
      throw ServiceStatus(.failedPrecondition, "A session does not move to another connection.")
    }
    place = try DatabasePlace(opening.namespace, at: http.authority, in: host)
    var context = CallContext(http, project: place.project, clock: host.clock)
    // Clients sign in by a request, whose reply says what is wrong with a token; a field says nothing else.
    context.caller = .nobody
    if let token = opening.appCheckToken { context.appCheck = .token(token) }
    backend = try host.backend((any DatabaseBackend).self, project: place.project)
    request = DatabaseConnectRequest(
      namespace: place.namespace, lastSession: opening.lastSession,
      userAgent: http.fields.first("user-agent") ?? "", context: context)
  }
}
