import Testing
import VestaBytes
import VestaTesting

@Suite struct TextPartsTests {
  @Test func `parts are those between the bytes of the separator`() {
    #expect("a/b".parts(at: "/") == ["a", "b"])
    #expect("/a//b/".parts(at: "/") == ["", "a", "", "b", ""])
    #expect("/a//b/".parts(at: "/", omittingEmpty: true) == ["a", "b"])
    #expect("a/b/c/d".parts(at: "/", maxSplits: 2) == ["a", "b", "c/d"])
    #expect("".parts(at: "/") == [""])
    #expect("".parts(at: "/", omittingEmpty: true) == [])
    #expect("x=a/b"[...].dropFirst(2).parts(at: "/") == ["a", "b"])
  }

  @Test func `a separator counts also where it forms a character with what follows`() {
    #expect("a/\u{301}b".parts(at: "/").map { Array($0.utf8) } == [[0x61], [0xCC, 0x81, 0x62]])
    #expect("a/\u{301}".hasByte("/") && "a/\u{301}"[...].hasByte("/") && !"a\u{301}".hasByte("/"))
  }

  @Test func `random texts are divided as their bytes are`() {
    var random = SplitMix(seed: 11)
    let scalars: [Unicode.Scalar] = ["/", "/", "a", "\u{301}", "\u{200D}", "\u{FE0F}", "é", "\u{1F468}", "\r", "\n"]
    for _ in 0..<2_000 {
      let text = String(String.UnicodeScalarView((0..<8).compactMap { _ in scalars.randomElement(using: &random) }))
      let expected = Array(text.utf8).split(separator: 0x2F, omittingEmptySubsequences: false).map { Array($0) }
      #expect(text.parts(at: "/").map { Array($0.utf8) } == expected)
    }
  }
}
