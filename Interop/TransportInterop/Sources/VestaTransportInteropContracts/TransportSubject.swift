public import VestaTransportInterop

/// A server and a client that can reach each other, held to the contracts.
public struct TransportSubject: Sendable {
  /// The server.
  public let server: any HTTPServer

  /// The client.
  public let client: any HTTPClient

  /// The address at which to listen; port 0 lets the system choose.
  public let address: TransportAddress

  /// How many bytes may lie between a writer and a reader who does not read: in both streams and in buffers between.
  public let slack: Int

  /// A subject.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - client: The client.
  ///   - address: The address at which to listen.
  ///   - slack: How many bytes may lie between a writer and a reader who does not read.
  public init(
    server: any HTTPServer, client: any HTTPClient,
    address: TransportAddress = .internet(host: "127.0.0.1", port: 0), slack: Int = 16 << 20
  ) {
    self.server = server
    self.client = client
    self.address = address
    self.slack = slack
  }

  /// Listens with the handler while the body runs.
  func serving<Value>(
    _ handler: any HTTPHandler, _ body: (_ authority: String) async throws -> Value
  ) async throws -> Value {
    let listener = try await server.listen(at: address, handler: handler)
    do {
      let value = try await body(listener.address.description)
      await listener.shutDown(within: .zero)
      return value
    } catch {
      await listener.shutDown(within: .zero)
      throw error
    }
  }

  /// Listens with a handler made of a closure while the body runs.
  func serving<Value>(
    body delivery: HTTPBodyDelivery = .collected(upTo: 1 << 20),
    _ reply: @escaping @Sendable (HTTPRequest) -> HTTPReply, _ body: (_ authority: String) async throws -> Value
  ) async throws -> Value {
    try await serving(HTTPClosureHandler(body: delivery, reply), body)
  }
}
