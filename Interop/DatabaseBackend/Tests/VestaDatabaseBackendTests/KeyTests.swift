import Testing
import VestaTesting

@testable import VestaDatabaseBackend

struct KeyTests {
  @Test func `integer keys are first, by number and then by length`() {
    let ordered: [DatabaseKey] = [
      .minimum, "-2147483648", "-5", "0", "00", "1", "01", "10", "2147483647", "-", "-a", "2147483648", "A", "a", "é",
      "\u{10000}", "\u{FFFF}", .maximum,
    ]
    for (left, right) in zip(ordered, ordered.dropFirst()) { #expect(left < right && !(right < left)) }
  }

  @Test func `a slash ends a key also where a combining mark follows it`() {
    #expect(DatabasePath("a/\u{301}b//c/") == DatabasePath(["a", "\u{301}b", "c"]))
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

  @Test func `keys are equal when their bytes are, whatever their length`() {
    let texts = [
      "", "a", "a\u{0}", "a\u{0}\u{0}", "abcdefg", "abcdefg\u{0}", "abcdefgh", "abcdefgi", "abcdef\u{E9}", "1", "01",
      "-0",
      "00", "0", "[MIN_NAME]", "[MAX_NAME]", ".priority", ".priorit", ".priori", "e\u{301}\u{323}", "e\u{323}\u{301}",
      "abcdefge\u{301}\u{323}", "abcdefge\u{323}\u{301}", "\u{E000}bcdefgh", "\u{FFFF}bcdefgh", "\u{10000}bcdefgh",
    ]
    let keys = texts.map { DatabaseKey($0) } + [.minimum, .maximum]
    for (left, first) in keys.enumerated() {
      #expect(first.isPriority == (first.text == ".priority"))
      for (right, second) in keys.enumerated() {
        #expect((first == second) == (left == right), "\(first) \(second)")
        // An order: exactly one of below, equal and above.
        #expect([first < second, second < first, first == second].count { $0 } == 1, "\(first) \(second)")
        guard first.integer == nil, second.integer == nil, left < texts.count, right < texts.count else { continue }
        let expected = first.text.utf16.lexicographicallyPrecedes(second.text.utf16)
        #expect((first < second) == expected, "\(first) \(second)")
      }
    }
    #expect(Set(keys).count == keys.count)
    #expect(keys.sorted().first == .minimum && keys.sorted().last == .maximum)
  }

  @Test func `children are sorted, and of equal keys the last one counts`() {
    var random = SplitMix(seed: 3)
    for _ in 0..<200 {
      var children: [(DatabaseKey, DatabaseNode)] = []
      var expected: [DatabaseKey: DatabaseNode] = [:]
      for _ in 0..<random.below(30) {
        let key = DatabaseKey(["a", "b", "c", "1", "02", "2", "ab", "abcdefghi", "abcdefghj"][random.below(9)])
        let node = random.oneIn(4) ? .empty : DatabaseNode(.int(Int64(random.below(1000))))
        children.append((key, node))
        expected[key] = node
      }
      let node = DatabaseNode(children: children)
      var shown: [(DatabaseKey, DatabaseNode)] = []
      node.forEachChild { shown.append(($0, $1)) }
      let wanted = expected.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
      #expect(shown.map(\.0) == wanted.map(\.key) && shown.map(\.1) == wanted.map(\.value))
    }
  }
}
