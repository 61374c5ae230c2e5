import VestaConcurrency
import VestaServiceInterop
import VestaTesting
import VestaTransport
import VestaTransportInterop

/// Endpoints on a socket of this machine, which a test cuts and opens again.
final class SocketServer: Sendable {
  private let handler: any HTTPHandler
  private let server: VestaTransportServer
  private let listener = Locked<(any HTTPListener)?>(nil)
  let port: Int

  init(_ provider: any EndpointProvider, in host: any EndpointHost) async throws {
    guard let port = FreePort.find() else { throw TransportError(.cannotListen, "All ports are in use.") }
    self.port = port
    server = try VestaTransportServer(loops: 1)
    handler = provider.handler(in: host)
    try await listen()
  }

  /// A service that reaches it.
  func service(_ client: any HTTPClient, _ options: RESTOptions = RESTOptions()) throws -> RESTService {
    try RESTService(client, at: "http://127.0.0.1:\(port)", options: options)
  }

  /// Listens at its port, also after it was cut.
  func listen() async throws {
    let made = try await server.listen(at: .internet(host: "127.0.0.1", port: port), handler: handler)
    listener.withLock { $0 = made }
  }

  /// Cuts all connections, and refuses further ones.
  func cut() async { await listener.withLock { $0 }?.shutDown(within: .zero) }

  func stop() async {
    await cut()
    await server.stop()
  }
}
