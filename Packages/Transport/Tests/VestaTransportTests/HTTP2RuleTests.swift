import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// The rules of RFC 9113 that concern a server, by their sections.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2RuleTests {
  typealias Frame = HTTP2Frame

  /// Frames after the preface and settings, and the error with which the server answers.
  struct Rule: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let frames: [Frame]
    let codes: [HTTP2Code]

    init(_ section: String, _ frames: [Frame], _ codes: HTTP2Code...) {
      testDescription = section
      self.frames = frames
      self.codes = codes
    }
  }

  private static let large = [UInt8](repeating: 0, count: 16_385)
  private static let fields = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "h")]

  private static func headers(_ fields: [(String, String)], ends: Bool = true) -> Frame {
    Frame(.headers, Frame.endHeaders | (ends ? Frame.endStream : 0), on: 1, Frame.block(fields))
  }

  private static func without(_ name: String) -> Frame { headers(fields.filter { $0.0 != name }) }

  static let rules: [Rule] = [
    Rule("4.2 a frame larger than the limit", [Frame(.data, 0, on: 1, large)], .frameSizeError, .protocolError),
    Rule("4.2 a head larger than a frame", [Frame(.headers, 4, on: 1, large)], .frameSizeError),
    Rule(
      "4.3 a block that cannot be read", [Frame(.headers, 5, on: 1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF])], .compressionError),
    Rule(
      "4.3 a block interrupted by another frame",
      [Frame(.headers, 1, on: 1, []), Frame(.ping, 0, on: 0, large.dropLast(16_377) + [])], .protocolError),
    Rule("5.1 data on an idle stream", [Frame(.data, 0, on: 1, [1])], .protocolError),
    Rule("5.1 a reset of an idle stream", [.reset(1)], .protocolError),
    Rule("5.1 a window update of an idle stream", [.window(1, 1)], .protocolError),
    Rule("5.1 data after the end of a stream", [.get(1, "/never"), Frame(.data, 0, on: 1, [1])], .streamClosed),
    Rule("5.1 a head after the end of a stream", [.get(1, "/never"), .get(1)], .streamClosed),
    Rule("5.1.1 an even stream", [.get(2)], .protocolError),
    Rule("5.5 a continuation without a head", [Frame(.continuation, 4, on: 1, [])], .protocolError),
    Rule("6.1 data on stream 0", [Frame(.data, 0, on: 0, [1])], .protocolError),
    Rule(
      "6.1 a padding longer than the data",
      [.get(1, "/never", method: "POST", ends: false), Frame(.data, 8, on: 1, [5, 1])], .protocolError),
    Rule("6.2 a head on stream 0", [Frame(.headers, 5, on: 0, [])], .protocolError),
    Rule("6.4 a reset on stream 0", [.reset(0)], .protocolError),
    Rule("6.4 a reset of another size", [.get(1, "/never"), Frame(.reset, 0, on: 1, [0])], .frameSizeError),
    Rule("6.5 settings on a stream", [Frame(.settings, 0, on: 1, [])], .protocolError),
    Rule("6.5 settings of another size", [Frame(.settings, 0, on: 0, [0, 1, 2])], .frameSizeError),
    Rule("6.5 an answer with settings", [Frame(.settings, 1, on: 0, [0, 1, 0, 0, 0, 0])], .frameSizeError),
    Rule("6.5.2 pushes neither on nor off", [.settings([(2, 2)])], .protocolError),
    Rule("6.5.2 a window that is too large", [.settings([(4, 0x8000_0000)])], .flowControlError),
    Rule("6.5.2 a frame size that is too small", [.settings([(5, 16_383)])], .protocolError),
    Rule("6.6 a push of a client", [Frame(.push, 4, on: 1, [0, 0, 0, 2])], .protocolError),
    Rule("6.7 a ping on a stream", [Frame(.ping, 0, on: 1, [0, 0, 0, 0, 0, 0, 0, 0])], .protocolError),
    Rule("6.7 a ping of another size", [Frame(.ping, 0, on: 0, [0])], .frameSizeError),
    Rule("6.8 a farewell on a stream", [Frame(.goAway, 0, on: 1, [0, 0, 0, 0, 0, 0, 0, 0])], .protocolError),
    Rule("6.9 an update by nothing of the connection", [.window(0, 0)], .protocolError),
    Rule("6.9 an update by nothing of a stream", [.get(1, "/never"), .window(1, 0)], .protocolError),
    Rule("6.9 an update of another size", [Frame(.window, 0, on: 0, [0])], .frameSizeError),
    Rule("6.9.1 a window of the connection beyond the limit", [.window(0, 0x7FFF_FFFF)], .flowControlError),
    Rule(
      "6.9.1 a window of a stream beyond the limit", [.get(1, "/never"), .window(1, 0x7FFF_FFFF)], .flowControlError),
    Rule(
      "6.10 a continuation of another stream", [Frame(.headers, 1, on: 1, []), Frame(.continuation, 4, on: 3, [])],
      .protocolError),
    Rule(
      "8.1 trailers that do not end the stream",
      [.get(1, "/never", method: "POST", ends: false), headers([("a", "b")], ends: false)], .protocolError),
    Rule(
      "8.1.1 a body shorter than its length",
      [.get(1, "/", method: "POST", ends: false, [("content-length", "5")]), Frame(.data, 1, on: 1, [1])],
      .protocolError),
    Rule(
      "8.1.1 a body longer than its length",
      [.get(1, "/", method: "POST", ends: false, [("content-length", "1")]), Frame(.data, 1, on: 1, [1, 2])],
      .protocolError),
    Rule("8.2.1 a name in upper case", [headers(fields + [("X-A", "b")])], .protocolError),
    Rule("8.2.1 a name with a space", [headers(fields + [("x a", "b")])], .protocolError),
    Rule("8.2.1 a value with a line's end", [headers(fields + [("xa", "b\r\nc: d")])], .protocolError),
    Rule("8.2.1 a value with NUL", [headers(fields + [("xa", "b\0")])], .protocolError),
    Rule("8.2.2 connection", [headers(fields + [("connection", "close")])], .protocolError),
    Rule("8.2.2 transfer-encoding", [headers(fields + [("transfer-encoding", "chunked")])], .protocolError),
    Rule("8.2.2 te other than trailers", [headers(fields + [("te", "gzip")])], .protocolError),
    Rule("8.3 an unknown pseudo-field", [headers(fields + [(":x", "b")])], .protocolError),
    Rule("8.3 a pseudo-field after a field", [headers([("a", "b")] + fields)], .protocolError),
    Rule(
      "8.3 a pseudo-field in trailers", [.get(1, "/", method: "POST", ends: false), headers([(":path", "/")])],
      .protocolError),
    Rule("8.3 a pseudo-field of responses", [headers(fields + [(":status", "200")])], .protocolError),
    Rule("8.3.1 no method", [without(":method")], .protocolError),
    Rule("8.3.1 no scheme", [without(":scheme")], .protocolError),
    Rule("8.3.1 no path", [without(":path")], .protocolError),
    Rule("8.3.1 an empty path", [headers(without: ":path", and: (":path", ""))], .protocolError),
    Rule("8.3.1 two paths", [headers(fields + [(":path", "/")])], .protocolError),
    Rule("8.3.1 another host than the authority", [headers(fields + [("host", "i")])], .protocolError),
    Rule(
      "8.3.1 an authority with a user", [headers(without: ":authority", and: (":authority", "u@h"))], .protocolError),
  ]

  private static func headers(without name: String, and field: (String, String)) -> Frame {
    headers(fields.filter { $0.0 != name } + [field])
  }

  @Test(arguments: rules) func `a peer that breaks a rule is told which`(rule: Rule) async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(rule.frames)
      let code = peer.error()
      #expect(code.map(rule.codes.contains) == true, "\(rule.testDescription): \(String(describing: code))")
      #expect(try server.isAlive())
    }
  }

  @Test(arguments: [
    ("3.4 unknown settings", [Frame.settings([(0x99, 7)])]),
    ("4.1 an unknown frame", [Frame(.unknown, 0xFF, on: 1, [1])]),
    ("5.3 a priority of an idle stream", [Frame(.priority, 0, on: 3, [0, 0, 0, 0, 5])]),
    ("6.1 data with padding", [Frame(.ping, 0, on: 0, [UInt8](repeating: 0, count: 8))]),
    ("6.9 a window update of the connection", [Frame.window(0, 1_000)]),
  ]) func `what a server must bear is borne`(name: String, frames: [Frame]) async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(frames + [.get(9, "/borne")])
      #expect(peer.body(of: 9) == "/borne", "\(name)")
    }
  }

  @Test func `requests are served in any order, with padding, continuations, trailers and cookies in crumbs`()
    async throws
  {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      let block = Frame.block(
        Self.fields.map { $0.0 == ":path" ? (":path", "/parts") : $0 } + [("cookie", "a=1"), ("cookie", "b=2")])
      peer.send(
        Frame(.headers, Frame.endStream, on: 1, Array(block.prefix(7))),
        Frame(.continuation, 0, on: 1, Array(block[7..<20])),
        Frame(.continuation, Frame.endHeaders, on: 1, Array(block[20...])))
      #expect(peer.body(of: 1) == "/parts")
      peer.send(.get(3, "/echo", method: "POST", ends: false), .get(5, "/other"))
      #expect(peer.body(of: 5) == "/other")
      peer.send(
        Frame(.data, Frame.padded, on: 3, [2, 65, 66, 0, 0]), Frame(.data, 0, on: 3, [67]),
        Frame(.headers, Frame.endHeaders | Frame.endStream, on: 3, Frame.block([("x-sum", "3")])))
      #expect(peer.body(of: 3) == "ABC")
    }
  }

  @Test func `both protocols are served on one port, however the first bytes are cut`() async throws {
    try await TestServer.run { server in
      let start = HTTP2Preface.bytes + Frame.settings().bytes + Frame.get(1, "/cut").bytes
      for cut in [1, 3, 23, 24, 30, start.count - 1] {
        let peer = try HTTP2Peer(server, preface: false)
        peer.peer.send(Array(start[..<cut]))
        for _ in 0..<20 { await Task.yield() }
        peer.peer.send(Array(start[cut...]))
        #expect(peer.body(of: 1) == "/cut", "\(cut)")
      }
      let other = try server.peer()
      other.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
      #expect(other.receiveText().hasPrefix("HTTP/1.1 505"))
      for method in ["PUT", "POST", "P"] {
        let peer = try server.peer()
        peer.send("\(method) /x HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
        #expect(peer.receiveText().hasSuffix("\r\n\r\n/x"))
      }
    }
  }
}
