import Testing
import VestaTesting

@testable import VestaDatabaseBackend

struct KeyTests {
  @Test func `integer keys come first, by number and then by length`() {
    let ordered: [DatabaseKey] = [
      .minimum, "-2147483648", "-5", "0", "00", "1", "01", "10", "2147483647", "-", "-a", "2147483648", "A", "a", "é",
      "\u{10000}", "\u{FFFF}", .maximum,
    ]
    for (left, right) in zip(ordered, ordered.dropFirst()) { #expect(left < right && !(right < left)) }
  }

  @Test func `keys that only look alike are different`() {
    #expect(DatabaseKey("e\u{301}") != DatabaseKey("\u{E9}"))
  }

  @Test func `the order of text keys is that of their UTF-16 code units`() {
    var random = SplitMix(seed: 7)
    let scalars: [UInt32] = [0x61, 0x7A, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    for _ in 0..<2000 {
      let texts = (0..<2).map { _ in
        "k"
          + String(
            String.UnicodeScalarView(
              (0..<3).compactMap { _ in Unicode.Scalar(scalars.randomElement(using: &random) ?? 0x61) }))
      }
      let expected = texts[0].utf16.lexicographicallyPrecedes(texts[1].utf16)
      #expect((DatabaseKey(texts[0]) < DatabaseKey(texts[1])) == expected)
    }
  }
}
