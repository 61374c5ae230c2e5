import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire
import VestaServiceInterop
import VestaTransportInterop

/// A request that opens a connection: `GET /.ws?v=5&ns=…`.
struct SocketOpening: Sendable {
  private let opening: ConnectionOpening
  private let authority: String
  private let host: any EndpointHost
  private let names: DatabaseNames
  private let tuning: DatabaseEndpointsTuning

  /// - Throws: `BytesError` for another version of the protocol; `ServiceStatus` for a database that cannot be.
  init(_ http: HTTPRequest, _ host: any EndpointHost, _ names: DatabaseNames, _ tuning: DatabaseEndpointsTuning) throws
  {
    opening = try ConnectionOpening(try DatabaseOpening(query: String(http.query ?? "")), http, host)
    (authority, self.host, self.names, self.tuning) = (http.authority, host, names, tuning)
  }

  func service() -> WebSocketService {
    WebSocketService(messageLimit: tuning.wire.maximumMessageBytes) { socket in
      guard await isThere(socket) else { return }
      let machine = ServingMachine(host: authority, tuning: tuning)
      let session = SocketSession(socket, opening.backend, opening.request, machine, tuning)
      let pulse = Pulse(host.clock, every: tuning.keepAlive) { if socket.backlog == 0 { socket.ping() } }
      pulse.begin()
      defer { pulse.end() }
      await session.run()
    }
  }

  /// Whether there is the database; a client is told otherwise, and does not connect again then.
  private func isThere(_ socket: WebSocket) async -> Bool {
    do {
      try await names.check(opening.place, for: opening.request.context)
      return true
    } catch {
      if (error as? ServiceStatus)?.code == .notFound,
        let frame = try? DatabaseServerWire.bytes(
          of: .shutdown(reason: DatabaseNames.refusal(of: opening.place.namespace)))
      {
        try? await socket.send(.text(String(decoding: frame, as: UTF8.self)))
      }
      socket.close()
      return false
    }
  }
}
