import VestaConcurrency
import VestaServiceInterop
import VestaTransport
import VestaTransportInterop

/// Endpoints on a socket of this machine, which a test cuts and opens again.
final class SocketServer: Sendable {
  private let handler: any HTTPHandler
  private let server: VestaTransportServer
  private let listener = Locked<(any HTTPListener)?>(nil)

  init(_ provider: any EndpointProvider, in host: any EndpointHost) async throws {
    server = try VestaTransportServer(loops: 1)
    handler = provider.handler(in: host)
    try await listen()
  }

  var port: Int { listener.withLock { $0 }?.address.port ?? 0 }

  /// A service that reaches it.
  func service(_ client: any HTTPClient, _ options: RESTOptions = RESTOptions()) throws -> RESTService {
    try RESTService(client, at: "http://127.0.0.1:\(port)", options: options)
  }

  /// Listens at a port; a free one unless given.
  func listen(at port: Int = 0) async throws {
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
