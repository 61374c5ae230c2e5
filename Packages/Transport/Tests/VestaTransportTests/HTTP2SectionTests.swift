import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// The rules that ``HTTP2RuleTests`` leaves out of RFC 9113 and of RFC 7541, by their sections: the list of h2spec,
/// with its numbers where they differ (the numbers of RFC 7540).
@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2SectionTests {
  typealias Frame = HTTP2Frame
  typealias Rule = HTTP2RuleTests.Rule

  private static let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "h")]
  private static let block = Frame.block(fields)
  private static let post = Frame.get(1, "/never", method: "POST", ends: false)
  private static let eight = [UInt8](repeating: 3, count: 8)

  private static func headers(_ fields: [(String, String)]) -> Frame { Frame(.headers, 5, on: 1, Frame.block(fields)) }

  private static func replacing(_ name: String, with value: String) -> Frame {
    headers(fields.map { $0.0 == name ? (name, value) : $0 })
  }

  /// A head whose block has bytes after its fields.
  private static func packed(_ bytes: UInt8...) -> Frame { Frame(.headers, 5, on: 1, block + bytes) }

  static let frames: [Rule] = [
    Rule("4.2 settings of more than 2^14 bytes", [Frame(.settings, 0, on: 0, zeros(16_386))], .frameSizeError),
    Rule("4.2 an unknown frame of more than 2^14 bytes", [Frame(.unknown, 0, on: 0, zeros(16_385))], .frameSizeError),
    Rule(
      "4.3 a priority within a block", [Frame(.headers, 1, on: 1, []), Frame(.priority, 0, on: 1, zeros(5))],
      .protocolError),
    Rule("4.3 another head within a block", [Frame(.headers, 1, on: 1, []), .get(3)], .protocolError),
    Rule("5.1 a continuation of an idle stream", [Frame(.continuation, 4, on: 3, [])], .protocolError),
    Rule(
      "5.1 a continuation after the end of a stream", [.get(1, "/never"), Frame(.continuation, 4, on: 1, [])],
      .streamClosed, .protocolError),
    Rule("5.1.1 a stream with a smaller number than one before", [.get(7, "/never"), .get(5)], .protocolError),
    Rule(
      "5.1.1 a smaller number that was left out long ago", [.get(5, "/never"), .get(7, "/never"), .get(11), .get(3)],
      .protocolError),
    Rule(
      "5.5 an unknown frame within a block", [Frame(.headers, 1, on: 1, []), Frame(.unknown, 0, on: 1, [])],
      .protocolError),
    Rule("6.1 a padding as long as the data", [post, Frame(.data, 8, on: 1, [1])], .protocolError),
    Rule("6.1 a padding without its length", [post, Frame(.data, 8, on: 1, [])], .frameSizeError, .protocolError),
    Rule(
      "6.2 a padding longer than the head", [Frame(.headers, 4 | 8, on: 1, [200] + block)], .protocolError),
    Rule(
      "6.2 a head too short for its priority", [Frame(.headers, 4 | 0x20, on: 1, [0, 0])], .frameSizeError),
    Rule("6.3 a priority on stream 0", [Frame(.priority, 0, on: 0, zeros(5))], .protocolError),
    Rule("6.3 a priority of another size", [.get(1, "/never"), Frame(.priority, 0, on: 1, zeros(4))], .frameSizeError),
    Rule("6.5.2 a frame size that is too large", [.settings([(5, 1 << 24)])], .protocolError),
    Rule("6.5.2 a window beyond the limit, after a good one", [.settings([(4, 1), (4, 1 << 31)])], .flowControlError),
    Rule("6.8 a farewell that is too short", [Frame(.goAway, 0, on: 0, zeros(7))], .frameSizeError),
    Rule(
      "6.9.2 a window of a stream that settings push beyond the limit",
      [.get(1, "/never"), .window(1, 0x7FFF_FFFF - 65_535), .settings([(4, 65_536)])], .flowControlError),
    Rule(
      "6.10 a continuation on stream 0", [Frame(.headers, 1, on: 1, []), Frame(.continuation, 4, on: 0, [])],
      .protocolError),
    Rule(
      "6.10 a continuation after a whole head", [.get(1, "/never"), Frame(.continuation, 4, on: 1, [])],
      .protocolError, .streamClosed),
    Rule(
      "6.10 a continuation after the last one",
      [
        Frame(.headers, 1, on: 1, block), Frame(.continuation, 4, on: 1, []), Frame(.continuation, 4, on: 1, []),
      ], .protocolError),
    Rule(
      "6.10 a continuation after data", [post, Frame(.data, 0, on: 1, [1]), Frame(.continuation, 4, on: 1, [])],
      .protocolError),
    Rule("6.10 data within a block", [Frame(.headers, 0, on: 1, []), Frame(.data, 0, on: 1, [1])], .protocolError),
  ]

  static let messages: [Rule] = [
    Rule(
      "8.1.1 a body in parts, shorter than its length",
      [
        .get(1, "/", method: "POST", ends: false, [("content-length", "5")]), Frame(.data, 0, on: 1, [1]),
        Frame(.data, 1, on: 1, [1]),
      ], .protocolError),
    Rule("8.1.1 a length without a body", [.get(1, "/", method: "POST", [("content-length", "5")])], .protocolError),
    Rule("8.1.1 a length that is no number", [headers(fields + [("content-length", "+5")])], .protocolError),
    Rule(
      "8.1.1 two lengths", [headers(fields + [("content-length", "0"), ("content-length", "1")])], .protocolError),
    Rule("8.2.1 an empty name", [headers(fields + [("", "b")])], .protocolError),
    Rule("8.2.1 a value that begins with a space", [headers(fields + [("a", " b")])], .protocolError),
    Rule("8.2.1 a value that ends with a tab", [headers(fields + [("a", "b\t")])], .protocolError),
    Rule("8.2.2 keep-alive", [headers(fields + [("keep-alive", "1")])], .protocolError),
    Rule("8.2.2 proxy-connection", [headers(fields + [("proxy-connection", "close")])], .protocolError),
    Rule("8.2.2 upgrade", [headers(fields + [("upgrade", "h2c")])], .protocolError),
    Rule("8.3.1 two methods", [headers(fields + [(":method", "GET")])], .protocolError),
    Rule("8.3.1 two schemes", [headers(fields + [(":scheme", "http")])], .protocolError),
    Rule("8.3.1 two authorities", [headers(fields + [(":authority", "h")])], .protocolError),
    Rule("8.3.1 a path that is none", [replacing(":path", with: "x")], .protocolError),
    Rule("8.3.1 an asterisk for another method than OPTIONS", [replacing(":path", with: "*")], .protocolError),
    Rule("8.5 a tunnel with a path", [replacing(":method", with: "CONNECT")], .protocolError),
  ]

  static let compression: [Rule] = [
    Rule("RFC 7541, 2.3.3 an index beyond the tables", [packed(0xC6)], .compressionError),
    Rule("RFC 7541, 2.3.3 a literal with such an index", [packed(0x7F, 7, 1, 97)], .compressionError),
    Rule("RFC 7541, 4.2 a new size of the table at the end", [packed(0x20)], .compressionError),
    Rule("RFC 7541, 5.1 a number that is too large", [packed(0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F)], .compressionError),
    Rule("RFC 7541, 5.2 more than seven bits of padding", [packed(0, 0x81, 0x1F, 0x82, 0x1F, 0xFF)], .compressionError),
    Rule("RFC 7541, 5.2 a padding of zeros", [packed(0, 0x81, 0x1F, 0x81, 0x18)], .compressionError),
    Rule(
      "RFC 7541, 5.2 the end of text within it", [packed(0, 0x81, 0x1F, 0x84, 255, 255, 255, 255)], .compressionError),
    Rule("RFC 7541, 6.1 the index 0", [packed(0x80)], .compressionError),
    Rule(
      "RFC 7541, 6.3 a larger table than agreed", [Frame(.headers, 5, on: 1, [0x3F, 0xE2, 0x1F] + block)],
      .compressionError),
  ]

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  @Test(arguments: frames + messages + compression)
  func `a peer that breaks a rule is told which`(rule: Rule) async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(rule.frames)
      let code = peer.error()
      #expect(code.map(rule.codes.contains) == true, "\(rule.testDescription): \(String(describing: code))")
      #expect(try server.isAlive())
    }
  }

  @Test(
    arguments: [
      ("4.1 flags without a meaning", [Frame(.ping, 0xFE, on: 0, eight), Frame(.settings, 0xF0, on: 0, [])]),
      (
        "5.1 a priority, a window update and a reset after the end of a stream",
        [.get(1, "/never"), Frame(.priority, 0, on: 1, zeros(5)), .window(1, 1), .reset(1)]
      ),
      // RFC 9113 leaves it to the server whether they are an error, as they may have been on their way.
      ("5.1 data after a reset", [post, .reset(1), Frame(.data, 1, on: 1, [1])]),
      ("5.1 a head after a reset", [post, .reset(1), .get(1)]),
      (
        "5.3.1 priorities of all kinds, which have no meaning now",
        [Frame(.headers, 5 | 0x20, on: 1, [0, 0, 0, 3, 255] + block), Frame(.priority, 0, on: 1, [0, 0, 0, 7, 0])]
      ),
      ("5.5 unknown frames of any stream", [Frame(.unknown, 7, on: 0, eight), Frame(.unknown, 7, on: 77, eight)]),
      ("6.5.2 unknown settings", [.settings([(0xFFFF, 0xFFFF_FFFF), (0, 0)])]),
      ("6.7 an answer to no ping", [Frame(.ping, 1, on: 0, eight)]),
      ("7 unknown codes", [.get(1, "/never"), .reset(1, HTTP2Code(0xFF)), farewell(HTTP2Code(0xFFFF_FFFF))]),
      (
        "8.3.1 OPTIONS of everything",
        [headers([(":method", "OPTIONS"), (":scheme", "http"), (":path", "*"), (":authority", "h")])]
      ),
    ] as [(String, [Frame])]) func `what a server must bear is borne`(name: String, frames: [Frame]) async throws
  {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(frames + [.get(9, "/borne")])
      #expect(peer.body(of: 9) == "/borne", "\(name)")
    }
  }

  private static func farewell(_ code: HTTP2Code) -> Frame {
    Frame(.goAway, 0, on: 0, Frame.number(0) + Frame.number(code.rawValue))
  }

  @Test func `3.4 a preface that settings do not follow ends the connection`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server, preface: false)
      peer.peer.send(HTTP2Preface.bytes + Frame(.ping, 0, on: 0, Self.eight).bytes)
      #expect(peer.error() == .protocolError)
      // The farewell is followed by the end (5.4.1).
      #expect(peer.next() == nil)
    }
  }

  @Test func `4.1 the reserved bit of a stream's number has no meaning`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      var frame = Frame.get(1, "/reserved")
      frame.stream |= 0x8000_0000
      peer.send(frame)
      #expect(peer.body(of: 1) == "/reserved")
    }
  }

  @Test func `4.2 frames of 2^14 bytes are taken`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      let text = [UInt8](repeating: 97, count: 16_384)
      peer.send(.get(1, "/echo", method: "POST", ends: false), Frame(.data, 1, on: 1, text))
      #expect(peer.body(of: 1).utf8.elementsEqual(text))
      peer.send(Frame(.unknown, 0, on: 0, text), .get(3, "/after"))
      #expect(peer.body(of: 3) == "/after")
    }
  }

  @Test func `5.1 frames on a stream that is over are read over, and do not open it again`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, "/first"))
      #expect(peer.body(of: 1) == "/first")
      peer.send(Frame(.data, 1, on: 1, [1]), .get(1, "/again"), .window(1, 1), .reset(1), .get(3, "/after"))
      let frames = peer.frames { $0.stream == 3 && $0.flags & 1 != 0 }
      #expect(frames.last?.payload == Array("/after".utf8) && frames.allSatisfy { $0.stream != 1 || $0.code != nil })
    }
  }

  @Test func `5.1 what is sent on a stream that is over counts for the window of the connection, and is given back`()
    async throws
  {
    try await TestServer.run {
      $0.http2ConnectionWindow = 100_000
    } _: { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, "/over"))
      #expect(peer.body(of: 1) == "/over")
      var room = 65_535
      for _ in 0..<40 {
        let count = min(10_000, room)
        peer.send(Frame(.data, 0, on: 1, Self.zeros(count)))
        room -= count
        while room < 10_000, let frame = peer.next() {
          guard frame.kind == Frame.Kind.window.rawValue, frame.stream == 0 else { continue }
          room += Int(Frame.number(frame.payload[...]))
        }
      }
      peer.send(.get(3, "/open"))
      #expect(peer.body(of: 3) == "/open")
    }
  }

  @Test func `6_5_3 settings are answered, in order, and the last value of a window counts`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server, settings: [(4, 100), (4, 3)])
      peer.send(.get(1, "/abcdef"))
      let frames = peer.frames { $0.kind == Frame.Kind.data.rawValue }
      #expect(frames.contains { $0.kind == Frame.Kind.settings.rawValue && $0.flags == 1 && $0.payload.isEmpty })
      #expect(frames.last?.payload.count == 3)
    }
  }

  @Test func `6_7 a ping is answered with its bytes, and an answer is not`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(Frame(.ping, 1, on: 0, [9, 9, 9, 9, 9, 9, 9, 9]), Frame(.ping, 0, on: 0, [1, 2, 3, 4, 5, 6, 7, 8]))
      let pings = peer.frames { $0.kind == Frame.Kind.ping.rawValue }.filter { $0.kind == Frame.Kind.ping.rawValue }
      #expect(pings == [Frame(.ping, 1, on: 0, [1, 2, 3, 4, 5, 6, 7, 8])])
    }
  }

  @Test func `6_10 a head in many continuations is one`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      let block = Frame.block(Self.fields.map { $0.0 == ":path" ? (":path", "/many") : $0 })
      var frames = [Frame(.headers, 1, on: 1, [])]
      for (index, byte) in block.enumerated() where index < 6 { frames.append(Frame(.continuation, 0, on: 1, [byte])) }
      frames.append(Frame(.continuation, 4, on: 1, Array(block[6...])))
      peer.send(frames)
      #expect(peer.body(of: 1) == "/many")
    }
  }
}
