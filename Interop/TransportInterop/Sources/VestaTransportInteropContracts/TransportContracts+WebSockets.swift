import VestaConcurrency
import VestaTesting
import VestaTransportInterop

extension TransportContracts {
  /// A handler that opens a WebSocket for every request.
  private static func open(
    subprotocol: String? = nil, limit: Int = 1 << 20, _ serve: @escaping @Sendable (WebSocket) async throws -> Void
  ) -> @Sendable (HTTPRequest) -> HTTPReply {
    { _ in .webSocket(WebSocketService(subprotocol: subprotocol, messageLimit: limit, serve: serve)) }
  }

  private static func echo(_ socket: WebSocket) async throws {
    for try await message in socket.messages { try await socket.send(message) }
  }

  private static func connect(_ subject: TransportSubject, _ authority: String) async throws -> WebSocket {
    try await subject.client.openWebSocket(
      HTTPRequest(.get, "/", authority: authority), subprotocols: [], timeout: nil)
  }

  static let webSockets: [Contract<TransportSubject>] = [
    Contract("messages of a WebSocket keep their kind, content and order") { subject in
      try await subject.serving(open(echo)) { authority in
        let socket = try await connect(subject, authority)
        let messages: [WebSocketMessage] = [
          .text("a"), .binary([]), .text(""), .text("ä€😀"), .binary([UInt8](repeating: 7, count: 125)),
          .binary([UInt8](repeating: 8, count: 126)), .binary([UInt8](repeating: 9, count: 70_000)),
        ]
        for message in messages { socket.offer(message) }
        for message in messages {
          let echoed = try await socket.messages.next()
          try expect(echoed == message, "a message of \(message.byteCount) bytes came back changed")
        }
        socket.close(WebSocketClose(.normal))
        _ = await socket.closed()
      }
    },
    Contract("the code and the reason of a close reach the other end, both ways") { subject in
      let seen = Log<WebSocketClose>()
      let serve: @Sendable (WebSocket) async throws -> Void = { socket in
        guard case .text("you") = try await socket.messages.next() else {
          seen.add(await socket.closed())
          return
        }
        socket.close(WebSocketClose(4001, "done"))
        _ = await socket.closed()
      }
      try await subject.serving(open(serve)) { authority in
        let first = try await connect(subject, authority)
        first.close(WebSocketClose(4002, "bye"))
        try expect(await seen.wait(for: 1), equals: [WebSocketClose(4002, "bye")], "what the server saw")
        let second = try await connect(subject, authority)
        second.offer(.text("you"))
        try expect(try await second.messages.next() == nil, "a message after the close")
        try expect(await second.closed(), equals: WebSocketClose(4001, "done"), "what the client saw")
      }
    },
    Contract("a service that returns closes with 1000, one that throws with 1011") { subject in
      struct Failure: Error {}
      let serve: @Sendable (WebSocket) async throws -> Void = { socket in
        if case .text("fail") = try await socket.messages.next() { throw Failure() }
      }
      try await subject.serving(open(serve)) { authority in
        for (text, code) in [("fail", WebSocketClose.Code.internalError), ("return", .normal)] {
          let socket = try await connect(subject, authority)
          // The service may have closed before a writer that waits for room is resumed.
          socket.offer(.text(text))
          try expect(await socket.closed().code, equals: code, "the code after \(text)")
        }
      }
    },
    Contract("a message beyond the limit closes with 1009") { subject in
      try await subject.serving(open(limit: 1_000, echo)) { authority in
        let socket = try await connect(subject, authority)
        socket.offer(.binary([UInt8](repeating: 0, count: 1_000)))
        try expect(try await socket.messages.next()?.byteCount, equals: 1_000, "a message at the limit")
        socket.offer(.binary([UInt8](repeating: 0, count: 1_001)))
        try expect(await socket.closed().code, equals: .messageTooBig, "the code")
      }
    },
    Contract("a protocol that both know is agreed on, and no other") { subject in
      try await subject.serving(open(subprotocol: "b", echo)) { authority in
        for (offered, agreed) in [(["a", "b"], "b"), (["a"], nil), ([], nil)] as [([String], String?)] {
          let socket = try await subject.client.openWebSocket(
            HTTPRequest(.get, "/", authority: authority), subprotocols: offered, timeout: nil)
          try expect(socket.subprotocol, equals: agreed, "the protocol of \(offered)")
          socket.close()
          _ = await socket.closed()
        }
      }
    },
    Contract("a server that opens no WebSocket is an error with its status") { subject in
      try await subject.serving { _ in
        .response(HTTPResponse(403))
      } _: { authority in
        let error = try await expectThrows(TransportError.self, "opening") {
          try await connect(subject, authority)
        }
        try expect(error.code == .refused && error.status == 403, "the error is \(error)")
      }
    },
  ]

  static let ends: [Contract<TransportSubject>] = [
    Contract("an address where nothing listens is an error that is safe to repeat") { subject in
      let authority = try await subject.serving { _ in
        .response(HTTPResponse())
      } _: {
        $0
      }
      let error = try await expectThrows(TransportError.self, "sending") {
        try await subject.client.send(HTTPRequest(.post, "/", authority: authority), timeout: nil)
      }
      try expect(error.code == .cannotConnect && !error.mayHaveBeenProcessed, "the error is \(error)")
    },
    Contract("an address is listened at once, and again after the end") { subject in
      let handler = HTTPClosureHandler { _ in .response(HTTPResponse()) }
      var failure: (any Error)?
      // The system may give the number to a connection of another program in between, but not each time.
      for _ in 1...5 {
        let first = try await subject.server.listen(at: subject.address, handler: handler)
        try await expectThrows(TransportError.self, "listening twice") {
          try await subject.server.listen(at: first.address, handler: handler)
        }
        await first.shutDown(within: .zero)
        do {
          let second = try await subject.server.listen(at: first.address, handler: handler)
          return await second.shutDown(within: .zero)
        } catch {
          failure = error
        }
      }
      if let failure { throw failure }
    },
    Contract("a server that shuts down lets exchanges end, closes WebSockets, and takes no more") { subject in
      let (begun, gate) = (Log<String>(), Gate())
      let handler = HTTPClosureHandler { request in
        if request.target == "/socket" {
          return .webSocket(
            WebSocketService { socket in
              begun.add("socket")
              for try await _ in socket.messages {}
            })
        }
        return .task {
          begun.add("call")
          try await gate.pass()
          return HTTPResponse(body: .text("late"))
        }
      }
      let listener = try await subject.server.listen(at: subject.address, handler: handler)
      let authority = listener.address.description
      let call = Task {
        try await text(of: subject.client.send(HTTPRequest(.get, "/", authority: authority), timeout: nil))
      }
      let socket = try await subject.client.openWebSocket(
        HTTPRequest(.get, "/socket", authority: authority), subprotocols: [], timeout: nil)
      await begun.wait(for: 2)
      let shutdown = Task { await listener.shutDown(within: .seconds(60)) }
      try expect(await socket.closed().code, equals: .goingAway, "the code of the socket")
      gate.open()
      try expect(try await call.value, equals: "late", "the response")
      await shutdown.value
      try await expectThrows(TransportError.self, "sending after the end") {
        try await subject.client.send(HTTPRequest(.get, "/", authority: authority), timeout: nil)
      }
    },
    Contract("a client that is closed ends what is under way, and sends nothing more") { subject in
      let (begun, gate) = (Log<Void>(), Gate())
      try await subject.serving { _ in
        .task {
          begun.add(())
          try await gate.pass()
          return HTTPResponse()
        }
      } _: { authority in
        let request = HTTPRequest(.get, "/", authority: authority)
        let call = Task { try await subject.client.send(request, timeout: nil) }
        await begun.wait(for: 1)
        await subject.client.close()
        let error = try await expectThrows(TransportError.self, "the call") { try await call.value }
        try expect(error.code == .closed, "the error is \(error)")
        let second = try await expectThrows(TransportError.self, "a later call") {
          try await subject.client.send(request, timeout: nil)
        }
        try expect(second.code == .closed && !second.mayHaveBeenProcessed, "the error is \(second)")
        gate.open()
      }
    },
  ]
}
