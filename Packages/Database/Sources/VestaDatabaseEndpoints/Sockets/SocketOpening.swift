import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaTransportInterop

/// A request that opens a connection: `GET /.ws?v=5&ns=…`.
struct SocketOpening: Sendable {
  private let opening: ConnectionOpening
  private let authority: String
  private let host: any EndpointHost
  private let tuning: DatabaseEndpointsTuning

  /// - Throws: `BytesError` for another version of the protocol; `ServiceStatus` for a database that cannot be.
  init(_ http: HTTPRequest, _ host: any EndpointHost, _ tuning: DatabaseEndpointsTuning) throws {
    opening = try ConnectionOpening(try DatabaseOpening(query: String(http.query ?? "")), http, host)
    (authority, self.host, self.tuning) = (http.authority, host, tuning)
  }

  func service() -> WebSocketService {
    WebSocketService(messageLimit: tuning.wire.maximumMessageBytes) { socket in
      let machine = ServingMachine(host: authority, tuning: tuning)
      let session = SocketSession(socket, opening.backend, opening.request, machine, tuning)
      let pulse = Pulse(host.clock, every: tuning.keepAlive) { if socket.backlog == 0 { socket.ping() } }
      pulse.begin()
      defer { pulse.end() }
      await session.run()
    }
  }
}
