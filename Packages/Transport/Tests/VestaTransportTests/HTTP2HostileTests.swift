import Testing
import VestaConcurrency
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2HostileTests {
  typealias Frame = HTTP2Frame

  @Test func `rapid resets end the connection, and no more handlers run than allowed`() async throws {
    try await TestServer.run {
      $0.http2Resets = 50
      $0.http2ResetsPerSecond = 0
    } _: { server in
      let peer = try HTTP2Peer(server)
      for index in 0..<200 as Range<UInt32> { peer.send(.get(2 * index + 1, "/never"), .reset(2 * index + 1)) }
      #expect(peer.error() == .enhanceYourCalm)
      await server.waitForConnections(0)
      #expect(try server.isAlive())
    }
  }

  @Test func `a peer that makes the server reset its streams is counted as one that resets them`() async throws {
    try await TestServer.run {
      $0.http2Resets = 50
      $0.http2ResetsPerSecond = 0
    } _: { server in
      let peer = try HTTP2Peer(server)
      // Malformed: a name in upper case.
      for index in 0..<200 as Range<UInt32> { peer.send(.get(2 * index + 1, "/", [("X-A", "b")])) }
      #expect(peer.frames { $0.code == .enhanceYourCalm }.last?.code == .enhanceYourCalm)
      #expect(try server.isAlive())
    }
  }

  @Test(arguments: [
    Frame(.ping, 0, on: 0, [UInt8](repeating: 1, count: 8)), .settings(), .settings([(4, 100_000)]), .window(0, 1),
    Frame(.data, 0, on: 1, []), Frame(.data, Frame.padded, on: 1, [3, 0, 0, 0]),
  ]) func `floods of frames that carry nothing end the connection`(frame: Frame) async throws {
    try await TestServer.run {
      $0.http2ControlFrames = 100
      $0.http2ControlFramesPerSecond = 0
    } _: { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, "/stream", method: "POST", ends: false))
      peer.send([Frame](repeating: frame, count: 300))
      #expect(peer.error() == .enhanceYourCalm, "\(frame)")
      await server.waitForConnections(0)
      #expect(try server.isAlive())
    }
  }

  @Test func `a flood of continuations ends the connection`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(Frame(.headers, Frame.endStream, on: 1, Frame.block([(":method", "GET")])))
      peer.send([Frame](repeating: Frame(.continuation, 0, on: 1, []), count: 10_000))
      #expect(peer.frames { _ in false }.last?.code != nil || peer.next() == nil)
      await server.waitForConnections(0)
      #expect(try server.isAlive())
    }
  }

  @Test func `a head that is late ends the connection`() async throws {
    try await TestServer.run {
      $0.headTimeout = .milliseconds(50)
    } _: { server in
      let peer = try HTTP2Peer(server)
      peer.send(Frame(.headers, Frame.endStream, on: 1, Frame.block([(":method", "GET")])))
      #expect(peer.error() == .enhanceYourCalm)
      let silent = try HTTP2Peer(server, preface: false)
      silent.peer.send(HTTP2Preface.bytes)
      #expect(silent.error() == .protocolError)
      await server.waitForConnections(0)
    }
  }

  @Test func `fields that grow when they are unpacked are refused at the limit`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      // One entry of 4,000 bytes in the table, then references to it of one byte each.
      let name = Array("x-bomb".utf8)
      let value = [UInt8](repeating: 97, count: 4_000)
      let entry: [UInt8] = [0x40, UInt8(name.count)] + name + [127] + [0xA1, 0x1E] + value
      let pseudo = Frame.block([(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "h")])
      peer.send(Frame(.headers, 5, on: 1, pseudo + entry + [UInt8](repeating: 0xBE, count: 100)))
      let frames = peer.frames { $0.stream == 1 && $0.flags & 1 != 0 }
      #expect(frames.last?.kind == Frame.Kind.headers.rawValue)
      // 431 as the library packs it: a reference to `:status` and a literal.
      #expect(
        frames.last.map { String(decoding: $0.payload, as: UTF8.self).contains("431") || $0.payload.count > 3 } == true)
      peer.send(Frame(.headers, 5, on: 3, pseudo + [UInt8](repeating: 0xBE, count: 16_000)))
      #expect(peer.error() == .enhanceYourCalm)
      #expect(try server.isAlive())
    }
  }

  @Test func `more streams than allowed are refused, and the others are served`() async throws {
    try await TestServer.run {
      $0.http2Streams = 4
    } _: { server in
      let peer = try HTTP2Peer(server)
      for index in 0..<6 as Range<UInt32> { peer.send(.get(2 * index + 1, "/never")) }
      let refused = peer.frames { $0.stream == 11 && $0.code != nil }.filter { $0.code == .refusedStream }
      #expect(refused.map(\.stream) == [9, 11])
      peer.send(.reset(1))
      peer.send(.get(13, "/served"))
      #expect(peer.body(of: 13) == "/served")
    }
  }

  @Test func `a peer that opens no window is left, stream by stream, and others are served at the same time`()
    async throws
  {
    try await TestServer.run {
      $0.writeTimeout = .milliseconds(100)
    } _: { server in
      let peer = try HTTP2Peer(server, settings: [(4, 0)])
      for index in 0..<20 as Range<UInt32> { peer.send(.get(2 * index + 1, "/large")) }
      #expect(try server.isAlive())
      var left = 20
      let frames = peer.frames { frame in
        left -= frame.code == .cancel ? 1 : 0
        return left == 0
      }
      #expect(left == 0)
      #expect(frames.filter { $0.kind == 0 }.isEmpty)
    }
  }

  @Test func `windows that open byte by byte, and shrink below nothing, are kept`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server, settings: [(4, 3)])
      peer.send(.get(1, "/abcdefghij"))
      var text =
        peer.frames { $0.kind == 0 && $0.stream == 1 }.last.map { String(decoding: $0.payload, as: UTF8.self) } ?? ""
      #expect(text == "/ab")
      peer.send(.settings([(4, 0)]))
      // The window is three below nothing now.
      peer.send(.window(1, 3))
      peer.send(.window(1, 1))
      while text.utf8.count < 11, let frame = peer.next() {
        guard frame.kind == 0, frame.stream == 1 else { continue }
        #expect(frame.payload.count == 1)
        text += String(decoding: frame.payload, as: UTF8.self)
        peer.send(.window(1, 1))
      }
      #expect(text == "/abcdefghij")
    }
  }

  @Test func `a handler that does not read holds up the peer at the window, and no other stream`() async throws {
    try await TestServer.run {
      $0.http2StreamWindow = 10_000
    } _: { server in
      let peer = try HTTP2Peer(server)
      // The window is that of the settings once they are acknowledged.
      peer.send(Frame(.settings, Frame.acknowledged))
      peer.send(.get(1, "/hold", method: "POST", ends: false))
      // The window, and what the stream holds beyond what is consumed.
      for _ in 0..<10 { peer.send(Frame(.data, 0, on: 1, [UInt8](repeating: 1, count: 1_000))) }
      peer.send(.get(3, "/other"))
      #expect(peer.body(of: 3) == "/other")
      var granted = 0
      peer.send(Frame(.ping, 0, on: 0, [UInt8](repeating: 1, count: 8)))
      for frame in peer.frames(until: { $0.kind == Frame.Kind.ping.rawValue && $0.flags == 1 })
      where frame.kind == Frame.Kind.window.rawValue && frame.stream == 1 {
        granted += Int(Frame.number(frame.payload[...]))
      }
      #expect(granted <= 5_000)
      let rest = 1 + granted
      peer.send(Frame(.data, 0, on: 1, [UInt8](repeating: 1, count: rest)))
      #expect(peer.error(on: 1) == .flowControlError)
    }
  }

  @Test func `a peer whose body is too large has time to read the answer before it is told to stop`() async throws {
    for delay in [Duration.zero, .seconds(1_000)] {
      try await TestServer.run {
        $0.http2ResetDelay = delay
      } _: { server in
        let peer = try HTTP2Peer(server)
        peer.send(.get(1, "/echo", method: "POST", ends: false, [("content-length", "100001")]))
        #expect(peer.body(of: 1) == "more than 100000 bytes\n")
        if delay == .zero {
          #expect(peer.error(on: 1) == .noError)
        } else {
          // Data that it sends until then is skipped, and holds no other stream up.
          for _ in 0..<6 { peer.send(Frame(.data, 0, on: 1, [UInt8](repeating: 1, count: 10_000))) }
          peer.send(.get(3, "/other"))
          let frames = peer.frames { $0.stream == 3 && $0.kind == 0 && $0.flags & 1 != 0 }
          #expect(frames.allSatisfy { $0.code == nil })
          peer.send(Frame(.data, Frame.endStream, on: 1, []), .get(5, "/after"))
          #expect(peer.body(of: 5) == "/after")
        }
        #expect(try server.isAlive())
      }
    }
  }

  @Test func `a body that is gathered and late is answered with 408, and what is too large with 413`() async throws {
    try await TestServer.run {
      $0.bodyTimeout = .milliseconds(50)
    } _: { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, "/echo", method: "POST", ends: false))
      let frames = peer.frames { $0.stream == 1 && $0.code != nil }
      #expect(frames.last?.code == .noError)
      peer.send(.get(3, "/echo", method: "POST", ends: false, [("content-length", "100001")]))
      #expect(peer.body(of: 3) == "more than 100000 bytes\n")
      #expect(peer.error(on: 3) == .noError)
    }
  }

  @Test func `a peer that answers no ping is left`() async throws {
    try await TestServer.run {
      $0.http2PingInterval = .milliseconds(20)
      $0.http2PingTimeout = .milliseconds(20)
    } _: { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, "/never"))
      #expect(peer.frames { _ in false }.contains { $0.kind == Frame.Kind.ping.rawValue && $0.flags == 0 })
      await server.waitForConnections(0)
    }
  }

  @Test func `an idle connection ends with a farewell`() async throws {
    try await TestServer.run {
      $0.idleTimeout = .milliseconds(50)
    } _: { server in
      let peer = try HTTP2Peer(server)
      #expect(peer.error() == .noError)
      await server.waitForConnections(0)
    }
  }

  @Test func `a shut-down lets streams end that were opened before the peer knew of it`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, "/echo", method: "POST", ends: false))
      peer.send(Frame(.ping, 0, on: 0, [UInt8](repeating: 1, count: 8)))
      _ = peer.frames { $0.kind == Frame.Kind.ping.rawValue }
      let shutDown = Task { await server.listener.shutDown(within: .seconds(60)) }
      let farewell = peer.frames { $0.kind == Frame.Kind.ping.rawValue && $0.flags == 0 }
      #expect(farewell.contains { $0.kind == Frame.Kind.goAway.rawValue && $0.payload[0..<4] == [127, 255, 255, 255] })
      peer.send(.get(3, "/late"))
      #expect(peer.body(of: 3) == "/late")
      peer.send(Frame(.ping, 1, on: 0, farewell.last?.payload ?? []))
      let last = peer.frames { $0.kind == Frame.Kind.goAway.rawValue }.last
      #expect(last?.payload[0..<4] == [0, 0, 0, 3])
      peer.send(.get(5, "/refused"), Frame(.data, Frame.endStream, on: 1, [65]))
      #expect(peer.body(of: 1) == "A")
      #expect(peer.frames { _ in false }.allSatisfy { $0.stream != 5 || $0.code != nil })
      await shutDown.value
    }
  }

  @Test(arguments: UInt64(1)...4) func `random frames on a session do no harm`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var session = HTTP2Session(.server, TransportTuning(), now: 0)
    var open = true
    for index in 0..<25_000 {
      if !open || random.oneIn(200) {
        session = HTTP2Session(random.oneIn(4) ? .client : .server, TransportTuning(), now: 0)
        open = session.role == .client || feed(session, HTTP2Preface.bytes)
        if random.oneIn(2) { open = feed(session, Frame.settings().bytes) && open }
      }
      var frame = randomFrame(&random).bytes
      if random.oneIn(20) { frame[random.below(frame.count)] = UInt8(truncatingIfNeeded: random.next()) }
      open = feed(session, frame) && open
      for event in session.events {
        if case .head(let id, _, false) = event, random.oneIn(2) {
          let stream = HTTP2Stream(id)
          session.streams[id] = stream
          if session.role == .server {
            let response = HTTPResponse(body: .bytes(random.bytes(random.below(40_000))), trailers: ["a": "b"])
            session.respond(stream, response, hasBody: true, date: DateLine().placeholder)
          }
        }
        if case .body(let id, let bytes) = event {
          session.consumeConnection(bytes.count)
          session.consume(bytes.count, of: id)
        }
        if case .closed(let id, _) = event { session.streams[id] = nil }
      }
      session.events = []
      var out: [UInt8] = []
      open = session.produce(into: &out, limit: 100_000) && open && !session.isOver
      #expect(session.queuedFrames <= 2_000, "seed \(seed), frame \(index)")
    }
  }

  private func feed(_ session: HTTP2Session, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { session.receive($0) }
  }

  private func randomFrame(_ random: inout SplitMix) -> Frame {
    let stream = UInt32(random.below(12))
    switch random.below(12) {
    case 0, 1: return .get(stream | 1, "/\(random.below(9))", ends: random.oneIn(2))
    case 2: return Frame(.data, UInt8(random.below(16)), on: stream, random.bytes(random.below(300)))
    case 3: return .reset(stream, HTTP2Code(UInt32(random.below(14))))
    case 4: return .settings([(UInt16(random.below(9)), UInt32(truncatingIfNeeded: random.next()))])
    case 5: return .settings([(4, UInt32(random.below(100_000)))])
    case 6: return .window(random.oneIn(2) ? 0 : stream, UInt32(random.below(1 << 20)))
    case 7: return Frame(.ping, UInt8(random.below(2)), on: 0, random.bytes(8))
    case 8: return Frame(.headers, UInt8(truncatingIfNeeded: random.next()), on: stream, random.bytes(random.below(60)))
    case 9: return Frame(.goAway, 0, on: 0, random.bytes(8))
    case 10: return Frame(.continuation, UInt8(random.below(8)), on: stream, random.bytes(random.below(30)))
    default:
      var frame = Frame(.unknown, UInt8(truncatingIfNeeded: random.next()), on: stream, random.bytes(random.below(40)))
      frame.kind = UInt8(truncatingIfNeeded: random.next())
      return frame
    }
  }
}

extension DateLine {
  /// A line of the right length.
  var placeholder: [UInt8] { Array("date: Thu, 01 Jan 1970 00:00:00 GMT\r\n".utf8) }
}
