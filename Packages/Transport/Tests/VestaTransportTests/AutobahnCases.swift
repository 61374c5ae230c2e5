import Testing
import VestaTesting

/// A rule of RFC 6455 under the number that the Autobahn project's conformance suite has for it: the frames of a peer,
/// the answers of an end that sends every message back, and the end of the connection.
struct AutobahnCase: CustomTestStringConvertible, Sendable {
  struct Step: Sendable {
    var sent: [SocketFrame]
    var answers: [SocketFrame]
  }

  /// The end of the connection.
  enum End: Equatable, Sendable {
    /// The peer closes with 1000 after the steps, and is answered.
    case closes
    /// The last step is answered by a close frame with a code; 1005 is one without.
    case code(UInt16)
  }

  let testDescription: String
  let steps: [Step]
  let end: End

  init(_ number: String, _ steps: [([SocketFrame], [SocketFrame])], _ end: End = .closes) {
    testDescription = number
    self.steps = steps.map { Step(sent: $0.0, answers: $0.1) }
    self.end = end
  }

  /// Messages or pings that are answered one by one.
  init(_ number: String, echoed: SocketFrame...) {
    self.init(number, echoed.map { ([$0], [$0.opcode == 9 ? .pong($0.payload) : $0]) })
  }

  /// Frames of which the last one breaks the protocol.
  init(_ number: String, fails code: UInt16 = 1002, _ frames: SocketFrame...) {
    self.init(number, [(frames, [])], .code(code))
  }
}

extension AutobahnCase {
  private static func stars(_ count: Int) -> [UInt8] { [UInt8](repeating: 42, count: count) }

  private static let hello = SocketFrame.text("Hello, world!")
  private static let sizes = [0, 125, 126, 127, 128, 65_535, 65_536]

  /// 1: frames of all forms of the length.
  static let framing =
    sizes.enumerated().map { AutobahnCase("1.1.\($0 + 1) a text of \($1) bytes", echoed: .text(stars($1))) }
    + sizes.enumerated().map {
      AutobahnCase("1.2.\($0 + 1) a message of \($1) bytes", echoed: .binary([UInt8](repeating: 0xFE, count: $1)))
    }

  /// 2: pings and pongs.
  static let pings = [
    AutobahnCase("2.1 an empty ping", echoed: .ping()),
    AutobahnCase("2.2 a ping with text", echoed: .ping(Array("Hello, world!".utf8))),
    AutobahnCase("2.3 a ping with bytes", echoed: .ping([0, 255, 254, 253, 252, 251, 0, 255])),
    AutobahnCase("2.4 a ping of 125 bytes", echoed: .ping([UInt8](repeating: 0xFE, count: 125))),
    AutobahnCase("2.5 a ping of 126 bytes", fails: 1002, .ping([UInt8](repeating: 0xFE, count: 126))),
    AutobahnCase("2.6 a ping of 125 bytes, cut", echoed: .ping([UInt8](repeating: 0xFE, count: 125))),
    AutobahnCase("2.7 an unasked pong", [([.pong()], [])]),
    AutobahnCase("2.8 an unasked pong with text", [([.pong(Array("unsolicited".utf8))], [])]),
    AutobahnCase(
      "2.9 an unasked pong, then a ping",
      [([.pong(Array("unsolicited".utf8)), .ping(Array("ping".utf8))], [.pong(Array("ping".utf8))])]),
    AutobahnCase("2.10 ten pings", [tenPings]), AutobahnCase("2.11 ten pings, cut", [tenPings]),
  ]

  private static let tenPings: ([SocketFrame], [SocketFrame]) = (
    (0..<10).map { .ping(Array("payload-\($0)".utf8)) }, (0..<10).map { .pong(Array("payload-\($0)".utf8)) }
  )

  /// 3: reserved bits.
  static let reserved: [AutobahnCase] = [
    AutobahnCase("3.1 bit 1 of a text", fails: 1002, SocketFrame(opcode: 1, payload: [42], reserved: 1)),
    AutobahnCase(
      "3.2 bit 2 after a text",
      [([hello], [hello]), ([SocketFrame(opcode: 1, payload: [42], reserved: 2), .ping()], [])], .code(1002)),
    AutobahnCase(
      "3.3 bits 1 and 2 after a text",
      [([hello], [hello]), ([SocketFrame(opcode: 1, payload: [42], reserved: 3), .ping()], [])], .code(1002)),
    AutobahnCase(
      "3.4 bit 3 after a text",
      [([hello], [hello]), ([SocketFrame(opcode: 1, payload: [42], reserved: 4), .ping()], [])], .code(1002)),
    AutobahnCase("3.5 bits of a message", fails: 1002, SocketFrame(opcode: 2, payload: [42], reserved: 5)),
    AutobahnCase("3.6 bits of a ping", fails: 1002, SocketFrame(opcode: 9, payload: [42], reserved: 6)),
    AutobahnCase("3.7 bits of a close frame", fails: 1002, SocketFrame(opcode: 8, payload: [], reserved: 7)),
  ]

  /// 4: opcodes without a meaning.
  static let opcodes: [AutobahnCase] = zip(1...2, [[3, 4, 5, 6, 7], [11, 12, 13, 14, 15]] as [[UInt8]]).flatMap {
    group, opcodes in
    opcodes.enumerated().map { index, opcode in
      let name = "4.\(group).\(index + 1) opcode \(opcode)"
      let payload: [UInt8] = index % 2 == 0 ? [] : [42]
      let frame = SocketFrame(opcode: opcode, payload: payload)
      guard index > 1 else { return AutobahnCase(name, fails: 1002, frame) }
      return AutobahnCase(name, [([hello], [hello]), ([frame, .ping()], [])], .code(1002))
    }
  }

  /// 5: fragments.
  static let fragments: [AutobahnCase] =
    [
      AutobahnCase(
        "5.1 a ping in two fragments", fails: 1002, SocketFrame(opcode: 9, payload: [1], isFinal: false),
        .more([2], isFinal: true)),
      AutobahnCase(
        "5.2 a pong in two fragments", fails: 1002, SocketFrame(opcode: 10, payload: [1], isFinal: false),
        .more([2], isFinal: true)),
    ] + joined(3...5, [.text("one", isFinal: false), .more("two", isFinal: true)], [.text("onetwo")])
    + joined(
      6...8, [.text("one", isFinal: false), .ping([7]), .more("two", isFinal: true)], [.pong([7]), .text("onetwo")])
    + failing(9...11, [.more("nothing", isFinal: true), hello])
    + failing(12...14, [.more("nothing", isFinal: false), hello])
    + [
      AutobahnCase(
        "5.15 a continuation after a whole message",
        [
          ([.text("one", isFinal: false), .more("two", isFinal: true)], [.text("onetwo")]),
          ([.more("three", isFinal: false), .text("four")], []),
        ], .code(1002)),
      AutobahnCase(
        "5.16 continuations of nothing, not final", fails: 1002, .more("one", isFinal: false), .text("two"),
        .more("three", isFinal: false), .text("four")),
      AutobahnCase(
        "5.17 continuations of nothing, final", fails: 1002, .more("one", isFinal: true), .text("two"),
        .more("three", isFinal: true), .text("four")),
      AutobahnCase(
        "5.18 a message within a message", fails: 1002, .text("one", isFinal: false), .text("two")),
    ] + joined(19...20, pinged, [.pong([1]), .pong([2]), .text("onetwothreefourfive")])

  private static let pinged: [SocketFrame] = [
    .text("one", isFinal: false), .more("two", isFinal: false), .ping([1]), .more("three", isFinal: false),
    .more("four", isFinal: false), .ping([2]), .more("five", isFinal: true),
  ]

  private static func joined(
    _ numbers: ClosedRange<Int>, _ sent: [SocketFrame], _ answers: [SocketFrame]
  ) -> [AutobahnCase] {
    numbers.map { AutobahnCase("5.\($0) a message of \(sent.count) frames", [(sent, answers)]) }
  }

  private static func failing(_ numbers: ClosedRange<Int>, _ sent: [SocketFrame]) -> [AutobahnCase] {
    numbers.map { AutobahnCase("5.\($0) a continuation of nothing", [(sent, [])], .code(1002)) }
  }
}
