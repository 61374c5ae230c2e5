import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Connections of a client that lead nowhere, and requests that had not left when theirs ended.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2ClientFaultTests {
  typealias Frame = HTTP2Frame

  private static func request(_ authority: String, _ body: HTTPBody = .bytes([1])) -> HTTPRequest {
    var request = HTTPRequest(.post, "/", authority: authority, body: body)
    request.version = .http2
    return request
  }

  private static func run(
    _ change: (inout TransportTuning) -> Void, _ serve: @escaping @Sendable (HTTP2Peer, Int) -> Void,
    _ body: (VestaTransportClient, _ authority: String) async throws -> Void
  ) async throws {
    let server = try FrameServer(serve)
    var tuning = TransportTuning()
    tuning.sweepInterval = .milliseconds(10)
    change(&tuning)
    let client = try VestaTransportClient(tuning: tuning)
    do { try await body(client, server.authority) } catch { Issue.record(error) }
    await client.close()
    withExtendedLifetime(server) {}
  }

  /// Each request ends before a sign of life is asked for, and the next one must not begin the wait anew.
  @Test func `a connection that has died is left, also where each request has less time than a ping`() async throws {
    try await Self.run {
      $0.clientPingInterval = .milliseconds(200)
      $0.http2PingTimeout = .milliseconds(20)
    } _: { peer, number in
      peer.send(.settings())
      while let frame = peer.next() {
        if number > 0, HTTP2ClientTests.isRequest(frame) { peer.send(HTTP2ClientTests.answer(frame.stream)) }
      }
    } _: { client, authority in
      var served: Int?
      for attempt in 0..<50 where served == nil {
        let response = try? await client.send(Self.request(authority), timeout: .milliseconds(50))
        if response != nil { served = attempt }
      }
      let attempt = try #require(served, "never served")
      #expect(attempt > 0)
    }
  }

  @Test func `a request that waits behind a long body when the server leaves is sent elsewhere`() async throws {
    let (isFull, mayRead) = (Gate(), Gate())
    try await Self.run {
      // The peer is silent, and reads nothing, for as long as the turns below take: longer than a ping's time on a busy
      // machine, and than a peer may keep a client from writing.
      ($0.clientPingInterval, $0.writeTimeout) = (.seconds(600), .seconds(600))
      ($0.bodyTimeout, $0.responseTimeout) = (.seconds(600), .seconds(600))
    } _: { peer, number in
      guard number == 0 else {
        while let frame = peer.next() {
          if HTTP2ClientTests.isRequest(frame) { peer.send(.settings(), HTTP2ClientTests.answer(frame.stream)) }
        }
        return
      }
      // Room for all of the body, so that it fills the socket, which is not read.
      peer.send(.settings([(4, 0x7FFF_FFFF)]), .window(0, 0x7FFF_0000))
      while let frame = peer.next(), !HTTP2ClientTests.isRequest(frame) {}
      isFull.open()
      #expect(mayRead.passes(within: .seconds(500)))
      peer.send(Frame(.goAway, 0, on: 0, Frame.number(1) + Frame.number(0)))
      while let frame = peer.next() {
        if frame.kind == 0, frame.flags & Frame.endStream != 0 { peer.send(HTTP2ClientTests.answer(1)) }
      }
    } _: { client, authority in
      let long = Self.request(authority, .bytes([UInt8](repeating: 1, count: 40_000_000)))
      let first = Task { try await client.send(long, timeout: .seconds(500)) }
      await isFull.wait()
      let body = ByteStream(limit: 10)
      let others = [HTTPBody.bytes([1]), .stream(body)].map { body in
        Task { try await client.send(Self.request(authority, body), timeout: .seconds(500)) }
      }
      for _ in 0..<1_000 { await Task.yield() }
      mayRead.open()
      for other in others { #expect(try await other.value.status == .ok) }
      // The writer of the body still has a reader.
      try await body.write([1, 2])
      #expect(try await first.value.status == .ok)
    }
  }

  @Test func `a request that found no stream in its time has certainly not been processed`() async throws {
    try await Self.run { _ in
    } _: { peer, _ in
      peer.send(.settings([(3, 1)]))
      while peer.next() != nil {}
    } _: { client, authority in
      let holding = Task { try await client.send(Self.request(authority), timeout: .seconds(60)) }
      let isOf: (Bool) -> @Sendable (Result<HTTPResponse, any Error>) -> Bool = { wanted in
        { outcome in
          guard case .failure(let error as TransportError) = outcome else { return false }
          return error.code == .timedOut && error.mayHaveBeenProcessed == wanted
        }
      }
      // The first ones may begin before the settings of the server arrive.
      var last = false
      for _ in 0..<20 where !last {
        let waiting = Task { try await client.send(Self.request(authority), timeout: .milliseconds(50)) }
        last = isOf(false)(await waiting.result)
      }
      #expect(last)
      holding.cancel()
      _ = await holding.result
    }
  }
}
