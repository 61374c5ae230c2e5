import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite struct WebSocketFrameTests {
  private func feed(_ pieces: [[UInt8]], _ role: FrameMachine.Role, limit: Int = 1_000) -> [FrameMachine.Event] {
    var machine = FrameMachine(role, messageLimit: limit)
    return pieces.flatMap { piece in piece.withUnsafeBufferPointer { machine.feed($0) } }
  }

  /// The events, however the bytes are cut.
  private func whole(
    _ bytes: [UInt8], _ role: FrameMachine.Role = .client, limit: Int = 1_000
  ) throws -> [FrameMachine.Event] { try Feeding.verify(bytes) { feed($0, role, limit: limit) } }

  @Test func `messages of all lengths are read as they were written, masked or not`() throws {
    let messages: [WebSocketMessage] = [
      .text(""), .text("äöü😀"), .binary([]), .binary([UInt8](repeating: 1, count: 125)),
      .binary([UInt8](repeating: 2, count: 126)), .binary((0..<65_535).map { UInt8(truncatingIfNeeded: $0) }),
      .binary((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 7) }),
    ]
    for (mask, role) in [(nil, FrameMachine.Role.client), (0xA1B2_C3D4, .server), (0, .server)] as [(UInt32?, _)] {
      var out: [UInt8] = []
      for message in messages { FrameWriter.message(message, mask: mask, into: &out) }
      FrameWriter.ping(mask: mask, into: &out)
      FrameWriter.pong([1, 2, 3], mask: mask, into: &out)
      FrameWriter.close(WebSocketClose(4000, "why"), mask: mask, into: &out)
      let expected =
        messages.map { FrameMachine.Event.message($0) } + [
          .ping([]), .pong([1, 2, 3]), .close(WebSocketClose(4000, "why")),
        ]
      #expect(feed([out], role, limit: 70_000) == expected)
      var random = SplitMix(seed: 4)
      for _ in 0..<10 {
        #expect(feed(Feeding.pieces(of: out, &random), role, limit: 70_000) == expected)
      }
    }
  }

  @Test func `fragments are joined, and control frames may stand between them`() throws {
    let bytes: [UInt8] = [0x01, 2, 0xC3, 0xA4, 0x89, 1, 7, 0x00, 1, 0xC3, 0x80, 1, 0xB6, 0x82, 1, 9]
    #expect(
      try whole(bytes) == [
        .ping([7]), .message(.text("äö")), .message(.binary([9])),
      ])
  }

  /// By the sections of RFC 6455.
  @Test(
    arguments: [
      (1002, [0xC1, 0]), (1002, [0xA1, 0]), (1002, [0x91, 0]),  // 5.2: reserved bits
      (1002, [0x83, 0]), (1002, [0x8B, 0]),  // 5.2: reserved opcodes
      (1002, [0x81, 126, 0, 125]), (1002, [0x81, 127, 0, 0, 0, 0, 0, 0, 255, 255]),  // 5.2: not the shortest length
      (1002, [0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),  // 5.2: the highest bit
      (1002, [0x81, 0x80, 0, 0, 0, 0]),  // 5.1: a masked frame of a server
      (1002, [0x80, 0]), (1002, [0x00, 0]),  // 5.4: a continuation of nothing
      (1002, [0x01, 0, 0x81, 0]),  // 5.4: a message within another
      (1002, [0x09, 0]), (1002, [0x89, 126, 0, 126]),  // 5.5: control frames in fragments, or too long
      (1002, [0x88, 1, 3]), (1002, [0x88, 2, 3, 0xED]), (1002, [0x88, 2, 0, 0]), (1002, [0x88, 2, 0x13, 0x88]),  // 7.4
      (1007, [0x88, 3, 3, 0xE8, 0xFF]),  // 5.5.1: a reason that is not UTF-8
      (1007, [0x81, 1, 0xFF]), (1007, [0x81, 2, 0xC3, 0x28]), (1007, [0x81, 3, 0xED, 0xA0, 0x80]),  // 8.1: UTF-8
      (1007, [0x81, 1, 0xC3]), (1007, [0x81, 2, 0xC0, 0x80]), (1007, [0x81, 4, 0xF4, 0x90, 0x80, 0x80]),
      (1009, [0x82, 126, 0x03, 0xE9]), (1009, [0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0]),
    ] as [(UInt16, [UInt8])])
  func `what the protocol forbids fails with its code`(code: UInt16, bytes: [UInt8]) throws {
    guard case .failed(let failure)? = try whole(bytes).last else {
      Issue.record("not refused: \(bytes)")
      return
    }
    #expect(failure.code.number == code, "\(failure)")
  }

  @Test func `what was sent before a wrong frame counts, and nothing after it`() throws {
    let seen = try whole([0x81, 1, 65, 0x89, 0, 0x83, 0, 0x81, 1, 66])
    #expect(Array(seen.prefix(2)) == [.message(.text("A")), .ping([])] && seen.count == 3)
    guard case .failed(let failure)? = seen.last else {
      Issue.record("not refused")
      return
    }
    #expect(failure.code == .protocolError)
  }

  /// Whether a text can begin with bytes: some end makes them one.
  private func canBeginText(_ bytes: [UInt8]) -> Bool {
    let ends: [[UInt8]] = [
      [], [0x80], [0x80, 0x80], [0x80, 0x80, 0x80], [0xBF], [0xBF, 0x80], [0xBF, 0x80, 0x80],
    ]
    return ends.contains { String(validating: bytes + $0, as: UTF8.self) != nil }
  }

  @Test(arguments: UInt64(1)...20)
  func `a text is refused at the first byte that is wrong, and never before it`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for _ in 0..<1_000 {
      let text = (0..<random.below(6)).map { _ in random.pick(["a", "ß", "€", "😀", "\u{10FFFF}"]) }.joined()
      var bytes = Array(text.utf8)
      for _ in 0..<random.below(3) where !bytes.isEmpty {
        bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      var machine = UTF8Machine()
      var accepted: [UInt8] = []
      for byte in bytes {
        guard [byte].withUnsafeBufferPointer({ machine.accepts($0) }) else { break }
        accepted.append(byte)
      }
      #expect(canBeginText(accepted), "\(bytes)")
      if accepted.count == bytes.count {
        #expect(machine.isWhole == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
      } else {
        #expect(!canBeginText(Array(bytes.prefix(accepted.count + 1))), "\(bytes)")
      }
    }
  }

  @Test func `a server wants masks`() {
    guard case .failed? = feed([[0x81, 0]], .server).last else {
      Issue.record("not refused")
      return
    }
  }

  @Test func `fragments count together, at the limit and beyond`() throws {
    #expect(try whole([0x02, 2, 1, 2, 0x80, 1, 3], limit: 3) == [.message(.binary([1, 2, 3]))])
    guard case .failed(let failure)? = try whole([0x02, 2, 1, 2, 0x80, 2, 3, 4], limit: 3).last else {
      Issue.record("not refused")
      return
    }
    #expect(failure.code == .messageTooBig)
  }

  @Test func `a close without a code is one, and a long reason is cut at a character`() throws {
    #expect(try whole([0x88, 0]) == [.close(WebSocketClose(.noCode))])
    var out: [UInt8] = []
    FrameWriter.close(WebSocketClose(.normal, String(repeating: "ä", count: 100)), mask: nil, into: &out)
    #expect(try whole(out) == [.close(WebSocketClose(.normal, String(repeating: "ä", count: 61)))])
  }

  @Test(arguments: UInt64(1)...20) func `random bytes never stop the machine`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    for _ in 0..<100 {
      var bytes = random.bytes(60)
      for index in bytes.indices where random.oneIn(3) { bytes[index] &= 0x8F }
      _ = feed([bytes], random.oneIn(2) ? .server : .client, limit: 50)
    }
  }

  @Test func `the handshake is that of the standard`() {
    #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    var request = HTTPRequest(
      .get, "/", authority: "h",
      fields: [
        "connection": "keep-alive, Upgrade", "upgrade": "WebSocket", "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-protocol": "a, b",
      ])
    #expect(WebSocketHandshake.key(of: request) == "dGhlIHNhbXBsZSBub25jZQ==")
    #expect(WebSocketHandshake.subprotocols(of: request) == ["a", "b"])
    for (name, value) in [
      ("connection", "close"), ("upgrade", "h2c"), ("sec-websocket-version", "8"), ("sec-websocket-key", "short"),
    ] as [(HTTPFieldName, String)] {
      var wrong = request
      wrong.fields[name] = value
      #expect(WebSocketHandshake.key(of: wrong) == nil)
    }
    request.method = .post
    #expect(WebSocketHandshake.key(of: request) == nil)
  }
}
