public import VestaTransportInterop

/// A client whose connections are lost after each request was sent: the call may have happened.
public struct CutClient: HTTPClient {
  /// A client.
  public init() {}

  /// Throws, as after the loss of a connection.
  public func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    throw TransportError(.closed, "The connection was cut.", mayHaveBeenProcessed: true)
  }

  /// Throws: there is no connection.
  public func openWebSocket(
    _ request: HTTPRequest, subprotocols: [String], timeout: Duration?
  ) async throws -> WebSocket {
    throw TransportError(.closed, "The connection was cut.")
  }

  /// Does nothing.
  public func close() async {}
}
