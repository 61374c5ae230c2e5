import Testing
import VestaBytes

@Suite struct SystemRandomTests {
  @Test func `bytes have the number asked for and are not the same again`() {
    for count in [0, 1, 7, 8, 9, 32, 105] { #expect(SystemRandom.bytes(count).count == count) }
    #expect(SystemRandom.bytes(16) != SystemRandom.bytes(16))
    // Each of 256 values is missing among 64,000 bytes with a probability of less than 10^-106.
    #expect(Set(SystemRandom.bytes(64_000)).count == 256)
  }

  @Test func `texts are of letters and digits, all of which occur`() {
    let text = SystemRandom.alphanumeric(20_000)
    #expect(text.utf8.count == 20_000 && Set(text).count == 62)
    #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    #expect(SystemRandom.alphanumeric(20) != SystemRandom.alphanumeric(20))
  }

  @Test func `identifiers of installations begin with the bits 0111`() throws {
    var firsts: Set<Character> = []
    for _ in 0..<1_000 {
      let id = SystemRandom.installationID()
      #expect(id.utf8.count == 22)
      let bytes = try Base64.url.decode(id + "AA")
      #expect(bytes[0] >> 4 == 0b0111)
      firsts.formUnion(id.prefix(1))
    }
    #expect(firsts == ["c", "d", "e", "f"])
  }

  @Test func `the claims of a token are read and not verified`() throws {
    #expect(try CompactToken.payload(of: "a.e30.") == Array("{}".utf8))
    for token in ["", "e30", "a.e30", "a.e30.b.c", "a.e30.b.", "a.%.b"] {
      #expect(throws: BytesError.self) { try CompactToken.payload(of: token) }
    }
  }
}
