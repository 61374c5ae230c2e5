import VestaTransportInterop

extension ServerConnection {
  func upgrade(_ request: HTTPRequest, _ service: WebSocketService) {
    guard let key = WebSocketHandshake.key(of: request) else {
      return respond(HTTPResponse(426, fields: [.upgrade: "websocket", "sec-websocket-version": "13"]))
    }
    let offered = WebSocketHandshake.subprotocols(of: request)
    let agreed = service.subprotocol.flatMap { offered.contains($0) ? $0 : nil }
    let fields = WebSocketHandshake.fields(accepting: key, subprotocol: agreed, and: service.fields)
    MessageWriter.head(
      HTTPResponse(101, fields: fields), .none, .upgrade, date: loop.dateLine, into: &output.tail)
    let socket = WebSocket(subprotocol: agreed, limit: tuning.backlogBytes)
    let session = WebSocketSession(self, socket, .server, messageLimit: service.messageLimit)
    phase = .webSocket(session)
    deadline = .max
    session.start()
    task = Task(executorPreference: loop) { await Self.serve(socket, service) }
  }

  private static func serve(_ socket: WebSocket, _ service: WebSocketService) async {
    do {
      try await service.serve(socket)
      socket.close()
    } catch {
      socket.close(WebSocketClose(.internalError))
    }
  }
}
