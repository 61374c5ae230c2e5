/// 6: text is UTF-8.
extension AutobahnCase {
  static let text = whole + fragmented + valid + invalid + prefixes + noncharacters + specials

  private static let kosme: [UInt8] = [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5]
  private static let edited: [UInt8] = Array("edited".utf8)
  private static let various = Array("Hello-µ@ßöäüàá-UTF-8!!".utf8)

  private static let whole: [AutobahnCase] = [
    AutobahnCase("6.1.1 an empty text", echoed: .text("")),
    AutobahnCase(
      "6.1.2 three empty fragments",
      [([.text("", isFinal: false), .more([], isFinal: false), .more([], isFinal: true)], [.text("")])]),
    AutobahnCase(
      "6.1.3 a fragment between empty ones",
      [
        (
          [.text("", isFinal: false), .more("middle frame payload", isFinal: false), .more([], isFinal: true)],
          [.text("middle frame payload")]
        )
      ]),
    AutobahnCase("6.2.1 various characters", echoed: .text(various)),
    AutobahnCase(
      "6.2.2 two fragments, cut between characters",
      [
        (
          [.text(Array(various.prefix(12)), isFinal: false), .more(Array(various.dropFirst(12)), isFinal: true)],
          [.text(various)]
        )
      ]),
    AutobahnCase("6.2.3 a fragment for each byte", [(byByte(various), [.text(various)])]),
    AutobahnCase("6.2.4 a fragment for each byte of Greek", [(byByte(kosme), [.text(kosme)])]),
    AutobahnCase("6.3.1 a surrogate", fails: 1007, .text(kosme + [0xED, 0xA0, 0x80] + edited)),
    AutobahnCase(
      "6.3.2 a surrogate, a fragment for each byte", [(byByte(kosme + [0xED, 0xA0, 0x80] + edited), [])], .code(1007)),
  ]

  private static func byByte(_ bytes: [UInt8]) -> [SocketFrame] {
    [.text([], isFinal: false)] + bytes.map { .more([$0], isFinal: false) } + [.more([], isFinal: true)]
  }

  /// The end must not be waited for: the frames of these never become a whole message.
  private static let fragmented: [AutobahnCase] = [
    AutobahnCase(
      "6.4.1 a number that is too large, in a fragment", fails: 1007, .text(kosme, isFinal: false),
      .more([0xF4, 0x90, 0x80, 0x80], isFinal: false)),
    AutobahnCase(
      "6.4.2 a number that is too large, in two fragments", fails: 1007, .text(kosme + [0xF4], isFinal: false),
      .more([0x90], isFinal: false)),
  ]

  private static let valid: [AutobahnCase] =
    numbered(
      "6.5",
      [
        Array("hello$world".utf8), Array("hello¢world".utf8), Array("hello€world".utf8),
        Array("hello\u{24B62}world".utf8), kosme,
      ])
    + numbered("6.7", [[0], [0xC2, 0x80], [0xE0, 0xA0, 0x80], [0xF0, 0x90, 0x80, 0x80]])
    + numbered("6.9", [[0x7F], [0xDF, 0xBF], [0xEF, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF]])
    + numbered("6.11", [[0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBD], [0xF4, 0x8F, 0xBF, 0xBF]])

  private static func numbered(_ section: String, from first: Int = 1, _ texts: [[UInt8]]) -> [AutobahnCase] {
    texts.enumerated().map { AutobahnCase("\(section).\($0 + first) text", echoed: .text($1)) }
  }

  private static func refused(_ section: String, from first: Int = 1, _ texts: [[UInt8]]) -> [AutobahnCase] {
    texts.enumerated().map { AutobahnCase("\(section).\($0 + first) no text", fails: 1007, .text($1)) }
  }

  /// 6.6: the beginnings of a text; beginnings that end with a character are text.
  private static let prefixes: [AutobahnCase] = (1...kosme.count).map { count in
    let bytes = Array(kosme.prefix(count))
    let name = "6.6.\(count) the first bytes of a text"
    return [2, 5, 7, 9, 11].contains(count)
      ? AutobahnCase(name, echoed: .text(bytes)) : AutobahnCase(name, fails: 1007, .text(bytes))
  }

  private static let invalid: [AutobahnCase] =
    refused("6.8", [[0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]])
    + refused(
      "6.10",
      [[0xF7, 0xBF, 0xBF, 0xBF], [0xFB, 0xBF, 0xBF, 0xBF, 0xBF], [0xFD, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF]])
    + refused("6.11", from: 5, [[0xF4, 0x90, 0x80, 0x80]])
    + refused(
      "6.12",
      [[0x80], [0xBF]] + (2...6).map(alternating) + [Array(0x80...0xBE)])
    + refused(
      "6.13",
      [
        lonely(0xC0...0xDF), lonely(0xE0...0xEF), lonely(0xF0...0xF7), lonely(0xF8...0xFB), lonely(0xFC...0xFD),
      ])
    + refused("6.14", incomplete)
    + refused("6.15", [incomplete.flatMap { $0 }])
    + refused("6.16", [[0xFE], [0xFF], [0xFE, 0xFE, 0xFF, 0xFF]])
    + refused("6.17", overlong(0x2F))
    + refused(
      "6.18",
      [
        [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF8, 0x87, 0xBF, 0xBF, 0xBF],
        [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF],
      ])
    + refused("6.19", overlong(0))
    + refused("6.20", surrogates)
    + refused(
      "6.21", [0, 1, 2, 3].flatMap { high in [surrogates[4], surrogates[6]].map { surrogates[high] + $0 } })

  private static func alternating(_ count: Int) -> [UInt8] { (0..<count).map { $0 % 2 == 0 ? 0x80 : 0xBF } }

  /// Bytes that begin a character, each before a space.
  private static func lonely(_ range: ClosedRange<UInt8>) -> [UInt8] { range.flatMap { [$0, 0x20] } }

  private static let incomplete: [[UInt8]] = [
    [0xC0], [0xE0, 0x80], [0xF0, 0x80, 0x80], [0xF8, 0x80, 0x80, 0x80], [0xFC, 0x80, 0x80, 0x80, 0x80], [0xDF],
    [0xEF, 0xBF], [0xF7, 0xBF, 0xBF], [0xFB, 0xBF, 0xBF, 0xBF], [0xFD, 0xBF, 0xBF, 0xBF, 0xBF],
  ]

  private static let surrogates: [[UInt8]] = [
    [0xED, 0xA0, 0x80], [0xED, 0xAD, 0xBF], [0xED, 0xAE, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xB0, 0x80],
    [0xED, 0xBE, 0x80], [0xED, 0xBF, 0xBF],
  ]

  /// A character in two to six bytes.
  private static func overlong(_ number: UInt8) -> [[UInt8]] {
    let last = 0x80 | number
    return [
      [0xC0, last], [0xE0, 0x80, last], [0xF0, 0x80, 0x80, last], [0xF8, 0x80, 0x80, 0x80, last],
      [0xFC, 0x80, 0x80, 0x80, 0x80, last],
    ]
  }

  /// 6.22: the last two numbers of each plane are no characters, and text nevertheless.
  private static let noncharacters = numbered(
    "6.22", (0...16).flatMap { plane in [character(plane << 16 | 0xFFFE), character(plane << 16 | 0xFFFF)] })

  private static let specials = numbered("6.23", (0xFFF9...0xFFFF).map(character))

  private static func character(_ number: UInt32) -> [UInt8] {
    Unicode.Scalar(number).map { Array(String(Character($0)).utf8) } ?? []
  }
}
