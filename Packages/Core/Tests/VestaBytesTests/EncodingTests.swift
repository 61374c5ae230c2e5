import Testing
import VestaTesting

@testable import VestaBytes

@Suite struct EncodingTests {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `base64 matches RFC 4648`(plain: String, text: String) throws {
    #expect(Base64.standard.encode(utf8(plain)) == text)
    #expect(try Base64.standard.decode(text) == utf8(plain))
    let bare = text.replacing("=", with: "")
    #expect(Base64.url.encode(utf8(plain)) == bare)
    #expect(try Base64.unpadded.decode(bare) == utf8(plain))
  }

  @Test func `every value survives every alphabet`() throws {
    var generator = SplitMix(seed: 1)
    for _ in 0..<2000 {
      let bytes = generator.bytes(generator.below(41))
      for codec in [Base64.standard, .unpadded, .url] {
        #expect(try codec.decode(codec.encode(bytes)) == bytes)
      }
      #expect(try Hex.decode(Hex.encode(bytes)) == bytes)
    }
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zg===", "=", "==", "====", "Zm9v=", "Z===", "Zm8=Zm8=", "Zg==Zg==", " Zg==", "Zg==\n", "Zm 9v",
    "Zh==", "Zm9=", "Zm-_", "Zm9vé", "Zg=g",
  ])
  func `base64 refuses what it would not write`(text: String) {
    #expect(throws: BytesError.self) { try Base64.standard.decode(text) }
  }

  @Test(arguments: ["Zg==", "Z", "Zm9vY", "Zh", "Zm9", "Zm+/", "Zm9v\n", "Zm9v="])
  func `base64url refuses what it would not write`(text: String) {
    #expect(throws: BytesError.self) { try Base64.url.decode(text) }
  }

  @Test func `no two short strings decode to the same bytes`() {
    let alphabet = utf8("AQgwZ_-9=+")
    var seen: [[UInt8]: [UInt8]] = [:]
    for first in alphabet {
      for second in alphabet {
        for third in alphabet {
          for text in [[first, second], [first, second, third]] {
            guard let bytes = try? Base64.url.decode(String(decoding: text, as: UTF8.self)) else { continue }
            #expect(seen.updateValue(text, forKey: bytes).map { $0 == text } ?? true)
          }
        }
      }
    }
    #expect(seen.count > 100)
  }

  @Test(arguments: ["0", "0g", "é", " 00", "000"])
  func `hex refuses an odd count and foreign characters`(text: String) {
    #expect(throws: BytesError.self) { try Hex.decode(text) }
  }

  @Test func `letters after a backslash stand for five control characters`() {
    let controls = (0...UInt8.max).compactMap { letter in TextEscape.control(letter).map { (letter, $0) } }
    #expect(controls.map(\.0) == utf8("bfnrt"))
    #expect(controls.map(\.1) == [8, 12, 10, 13, 9])
  }

  @Test(arguments: [
    ("0041", "A", 4), ("00e9", "é", 4), ("20AC", "€", 4), ("0000", "\0", 4), ("ffff", "\u{FFFF}", 4), ("00411", "A", 4),
    (#"D83D\uDE00"#, "😀", 10), (#"d83d\ude00x"#, "😀", 10), (#"0041\u0042"#, "A", 4), ("DE00", "\u{FFFD}", 4),
    ("D83D", "\u{FFFD}", 4), (#"D83D\n"#, "\u{FFFD}", 4), (#"D83D\"#, "\u{FFFD}", 4), (#"D83D\u0041"#, "\u{FFFD}", 4),
    (#"DE00\uD83D"#, "\u{FFFD}", 4), (#"D83D\uD83D"#, "\u{FFFD}", 4),
  ])
  func `four digits are a character, and the upper half of a pair takes the lower one`(
    digits: String, text: String, end: Int
  ) {
    for before in ["", "ab"] {
      var index = before.utf8.count
      let read = TextEscape.unicode(utf8(before + digits)[...], at: &index)
      #expect(read == utf8(text))
      #expect(index == before.utf8.count + end)
    }
  }

  @Test(arguments: [
    ("", 0), ("004", 0), ("00g0", 0), ("+041", 0), ("-041", 0), (" 041", 0), ("é41", 0), ("D83", 0),
    (#"D83D\u"#, 6), (#"D83D\uDE0"#, 6), (#"D83D\u+E00"#, 6),
  ])
  func `without four digits there is no character, and the place is theirs`(digits: String, place: Int) {
    var index = 0
    #expect(TextEscape.unicode(utf8(digits)[...], at: &index) == nil)
    #expect(index == place)
  }
}
