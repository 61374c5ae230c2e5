extension AutobahnCase {
  private static let hello = SocketFrame.text("Hello World!")

  /// 7: close frames.
  static let closes: [AutobahnCase] =
    [
      AutobahnCase("7.1.1 a message, then the end", echoed: hello),
      AutobahnCase("7.1.2 two close frames", fails: 1000, .close(1000), .close(1000)),
      AutobahnCase("7.1.3 a ping after the close frame", fails: 1000, .close(1000), .ping()),
      AutobahnCase("7.1.4 a message after the close frame", fails: 1000, .close(1000), hello),
      AutobahnCase(
        "7.1.5 a close frame within a message", fails: 1000, .text("frag", isFinal: false), .close(1000),
        .more("ment", isFinal: true)),
      AutobahnCase(
        "7.1.6 a large message, one more, the end, and a ping",
        [
          ([.binary([UInt8](repeating: 42, count: 262_144))], [.binary([UInt8](repeating: 42, count: 262_144))]),
          ([hello], [hello]), ([.close(1000), .ping()], []),
        ], .code(1000)),
      AutobahnCase("7.3.1 no payload", fails: 1005, SocketFrame(opcode: 8, payload: [])),
      AutobahnCase("7.3.2 a payload of one byte", fails: 1002, SocketFrame(opcode: 8, payload: [97])),
      AutobahnCase("7.3.3 a code alone", fails: 1000, .close(1000)),
      AutobahnCase("7.3.4 a code and a reason", fails: 1000, .close(1000, Array("Hello World!".utf8))),
      AutobahnCase("7.3.5 a reason of 123 bytes", fails: 1000, .close(1000, [UInt8](repeating: 42, count: 123))),
      AutobahnCase("7.3.6 a reason of 124 bytes", fails: 1002, .close(1000, [UInt8](repeating: 42, count: 124))),
      AutobahnCase(
        "7.5.1 a reason that is not UTF-8", fails: 1007,
        .close(
          1000, [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5, 0xED, 0xA0, 0x80, 0x65, 0x64])),
    ] + numbered("7.7", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]) { $0 }
    + numbered("7.9", [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999]) { _ in 1002 }
    + numbered("7.13", [5000, 65_535]) { _ in 1002 }

  private static func numbered(_ section: String, _ codes: [UInt16], _ answer: (UInt16) -> UInt16) -> [AutobahnCase] {
    codes.enumerated().map { AutobahnCase("\(section).\($0 + 1) the code \($1)", fails: answer($1), .close($1)) }
  }
}
