import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2ClientTests {
  typealias Frame = HTTP2Frame

  /// The status 200 without a body.
  static func answer(_ stream: UInt32) -> Frame { Frame(.headers, 5, on: stream, [0x88]) }

  static func isRequest(_ frame: Frame) -> Bool { frame.kind == Frame.Kind.headers.rawValue }

  private func isServed(_ response: HTTPResponse) { #expect(response.status == .ok) }

  private func run(
    _ serve: @escaping @Sendable (HTTP2Peer, Int) -> Void,
    _ body: (_ send: @escaping @Sendable (HTTPMethod, HTTPBody) async throws -> HTTPResponse) async throws -> Void
  ) async throws { try await run({ _ in }, serve, body) }

  private func run(
    _ change: (inout TransportTuning) -> Void, _ serve: @escaping @Sendable (HTTP2Peer, Int) -> Void,
    _ body: (_ send: @escaping @Sendable (HTTPMethod, HTTPBody) async throws -> HTTPResponse) async throws -> Void
  ) async throws {
    let server = try FrameServer(serve)
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    change(&tuning)
    let client = try VestaTransportClient(tuning: tuning)
    let authority = server.authority
    do {
      try await body { method, content in
        var request = HTTPRequest(method, "/", authority: authority, body: content)
        request.version = .http2
        return try await client.send(request, timeout: .seconds(30))
      }
    } catch { Issue.record(error) }
    await client.close()
    withExtendedLifetime(server) {}
  }

  @Test func `a request that the server has not looked at is sent again elsewhere, whatever its method`() async throws {
    for refusal in [Frame(.goAway, 0, on: 0, [UInt8](repeating: 0, count: 8)), .reset(1, .refusedStream)] {
      let seen = Log<Int>()
      try await run { peer, number in
        peer.send(.settings())
        while let frame = peer.next() {
          guard Self.isRequest(frame) else { continue }
          seen.add(number)
          peer.send(seen.entries.count == 1 ? refusal : Self.answer(frame.stream))
        }
      } _: { send in
        try await isServed(send(.post, .bytes([1])))
        #expect(seen.entries.count == 2)
      }
    }
  }

  @Test func `a request that a server refuses for a moment is served after it`() async throws {
    let seen = Log<Int>()
    try await run { peer, number in
      peer.send(.settings())
      while let frame = peer.next() {
        guard Self.isRequest(frame) else { continue }
        seen.add(number)
        peer.send(seen.entries.count < 5 ? .reset(frame.stream, .refusedStream) : Self.answer(frame.stream))
      }
    } _: { send in
      try await isServed(send(.post, .bytes([1])))
      #expect(seen.entries == [0, 0, 0, 0, 0])
    }
  }

  @Test func `a client that is closed while a request waits to be sent again ends it`() async throws {
    let (refusals, continuation) = AsyncStream.makeStream(of: Void.self)
    let server = try FrameServer { peer, _ in
      peer.send(.settings())
      while let frame = peer.next() {
        guard Self.isRequest(frame) else { continue }
        peer.send(.reset(frame.stream, .refusedStream))
        continuation.yield()
      }
    }
    var tuning = TransportTuning()
    tuning.http2RefusalPause = .seconds(1_000)
    let client = try VestaTransportClient(tuning: tuning)
    let call = Task {
      var request = HTTPRequest(.get, "/", authority: server.authority)
      request.version = .http2
      return try await client.send(request, timeout: .seconds(2_000))
    }
    for await _ in refusals.prefix(1) {}
    await client.close()
    let error = await #expect(throws: TransportError.self) { try await call.value }
    #expect(error?.code == .closed)
  }

  /// Where the connection ends before the first is written, the others must not be left there.
  @Test func `requests whose connection ends at any point end too, or are sent elsewhere`() async throws {
    for round in 0..<80 {
      // Half of the connections end without a word.
      let frames = round % 2 == 0 ? 0 : round % 13
      try await run { peer, number in
        guard number > 0 || frames > 0 else { return }
        peer.send(.settings())
        var seen = 0
        while number > 1 || seen < frames, let frame = peer.next() {
          seen += 1
          if Self.isRequest(frame) { peer.send(Self.answer(frame.stream)) }
        }
      } _: { send in
        let failures = await withTaskGroup(of: (any Error)?.self) { group in
          for number in 0..<8 {
            group.addTask {
              do {
                let body = ByteStream(whole: [1, 2, 3])
                _ = try await send(.post, number % 2 == 0 ? .bytes([1]) : .stream(body))
              } catch {
                return error
              }
              return nil
            }
          }
          return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
        for failure in failures { #expect((failure as? TransportError)?.code == .connectionLost, "round \(round)") }
      }
    }
  }

  @Test func `a request that is refused again and again fails, and one with a stream at once`() async throws {
    let seen = Log<Int>()
    try await run {
      $0.requestAttempts = 4
    } _: { peer, number in
      peer.send(.settings())
      while let frame = peer.next() {
        guard Self.isRequest(frame) else { continue }
        seen.add(number)
        peer.send(.reset(frame.stream, .refusedStream))
      }
    } _: { send in
      for (body, attempts) in [(HTTPBody.bytes([1]), 4), (.stream(ByteStream(whole: [1])), 5)] {
        let error = await #expect(throws: TransportError.self) { try await send(.post, body) }
        #expect(error?.mayHaveBeenProcessed == false && seen.entries.count == attempts)
      }
    }
  }

  @Test func `a request that may have had an effect is not sent again`() async throws {
    for end in [HTTP2Code.cancel, .internalError, nil] {
      let seen = Log<Int>()
      try await run { peer, number in
        peer.send(.settings())
        while let frame = peer.next() {
          guard Self.isRequest(frame) else { continue }
          seen.add(number)
          guard let end else { return peer.peer.reset() }
          peer.send(.reset(frame.stream, end))
        }
      } _: { send in
        let error = await #expect(throws: TransportError.self) { try await send(.post, .bytes([1])) }
        #expect(error?.mayHaveBeenProcessed == true && seen.entries.count == 1)
      }
    }
  }

  @Test func `a call that is cancelled resets its stream, and the connection serves on`() async throws {
    let seen = Log<String>()
    try await run { peer, number in
      peer.send(.settings())
      while let frame = peer.next() {
        if Self.isRequest(frame) {
          seen.add("request \(frame.stream) on \(number)")
          if frame.stream > 1 { peer.send(Self.answer(frame.stream)) }
        }
        if let code = frame.code { seen.add("\(code) of \(frame.stream)") }
      }
    } _: { send in
      let call = Task { try await send(.get, .empty) }
      await seen.wait(for: 1)
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
      await seen.wait(for: 2)
      try await isServed(send(.get, .empty))
      #expect(seen.entries == ["request 1 on 0", "CANCEL of 1", "request 3 on 0"])
    }
  }

  @Test func `no more streams are open than the server accepts`() async throws {
    let seen = Log<UInt32>()
    try await run { peer, _ in
      peer.send(.settings([(3, 2)]))
      var open: [UInt32] = []
      while let frame = peer.next() {
        guard Self.isRequest(frame) else { continue }
        seen.add(frame.stream)
        open.append(frame.stream)
        // The first request arrives before the settings are known, and is answered alone.
        if open == [1] || open.count == 2 {
          peer.send(open.map(Self.answer))
          open = []
        }
      }
    } _: { send in
      try await isServed(send(.get, .empty))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { try await isServed(send(.get, .empty)) } }
        try await group.waitForAll()
      }
      #expect(seen.entries.count == 9)
    }
  }

  @Test func `a server that answers no ping is left, and a request without an effect is sent elsewhere`() async throws {
    try await run {
      $0.clientPingInterval = .milliseconds(20)
      $0.http2PingTimeout = .milliseconds(20)
    } _: { peer, number in
      peer.send(.settings())
      var pings = 0
      while let frame = peer.next() {
        if frame.kind == Frame.Kind.ping.rawValue { pings += 1 }
        if Self.isRequest(frame), number > 0 { peer.send(Self.answer(frame.stream)) }
      }
      if number == 0 { #expect(pings == 1) }
    } _: { send in
      let error = await #expect(throws: TransportError.self) { try await send(.post, .bytes([1])) }
      #expect(error?.code == .connectionLost)
      try await isServed(send(.post, .bytes([1])))
    }
  }

  @Test func `a server that speaks something else is an error`() async throws {
    try await run { peer, _ in
      peer.peer.send("HTTP/1.1 400 Bad Request\r\n\r\n")
      while peer.next() != nil {}
    } _: { send in
      let error = await #expect(throws: TransportError.self) { try await send(.post, .bytes([1])) }
      #expect(error != nil)
    }
  }
}
