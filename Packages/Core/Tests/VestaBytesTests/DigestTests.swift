import Testing
import VestaTesting

@testable import VestaBytes

@Suite struct DigestTests {
  private static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

  @Test(arguments: [
    ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"), ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
    (twoBlocks, "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
    (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    // Around the end of a block, where the length of the message moves into the next one.
    (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
    (String(repeating: "a", count: 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
    (String(repeating: "a", count: 63), "03f09f5b158a7a8cdad920bddc29b81c18a551f5"),
    (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
  ])
  func `SHA-1 has the digests of its standard`(text: String, digest: String) {
    #expect(Hex.encode(SHA1.digest(utf8(text))) == digest)
  }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (String(repeating: "a", count: 56), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (String(repeating: "a", count: 63), "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
    (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
  ])
  func `SHA-256 has the digests of its standard`(text: String, digest: String) {
    #expect(Hex.encode(SHA256.digest(utf8(text))) == digest)
    #expect(SHA256.words(utf8(text)).first == UInt32(digest.prefix(8), radix: 16))
  }

  @Test(
    arguments: [
      ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
    ] as [(String, UInt64)])
  func `FNV-1a has the hashes of its authors`(text: String, hash: UInt64) {
    #expect(FNV1a.hash(text) == hash)
    #expect(FNV1a.hash(text, start: FNV1a.hash("x")) == FNV1a.hash("x" + text))
  }

  @Test func `CRC-32C matches RFC 3720`() {
    var whole = CRC32C()
    whole.update(utf8("123456789"))
    #expect(whole.value == 0xE306_9283)
    #expect(CRC32C.text(whole.value) == "4waSgw==")
    var pieces = CRC32C()
    for byte in utf8("123456789") { pieces.update([byte]) }
    #expect(pieces == whole)
  }

  @Test func `CRC-32C equals the slow definition`() {
    var generator = SplitMix(seed: 2)
    for _ in 0..<300 {
      let bytes = generator.bytes(generator.below(101))
      var slow = ~UInt32(0)
      for byte in bytes {
        slow ^= UInt32(byte)
        for _ in 0..<8 { slow = slow & 1 == 1 ? (slow >> 1) ^ 0x82F6_3B78 : slow >> 1 }
      }
      var fast = CRC32C()
      fast.update(bytes)
      #expect(fast.value == ~slow)
      var table = CRC32C()
      table.updateByTable(bytes.span.bytes)
      #expect(table == fast)
    }
  }

  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e", 0x00000000 as UInt32),
    ("abc", "900150983cd24fb0d6963f7d28e17f72", 0x352441C2 as UInt32),
    (String(repeating: "a", count: 55), "ef1772b6dff9a122358552954ad0df65", 0xAADFE34E as UInt32),
    (String(repeating: "a", count: 56), "3b0c8ac703f828b04c6c197006d17218", 0x79790D37 as UInt32),
    (String(repeating: "a", count: 63), "b06521f39153d618550606be297466d5", 0x6824C5DE as UInt32),
    (String(repeating: "a", count: 64), "014842d480b571495a4a0363793f7367", 0x89B46555 as UInt32),
    (String(repeating: "a", count: 1000000), "7707d6ae4e027c70eea2a935c2296f21", 0xDC25BFBC as UInt32),
  ])
  func `MD5 and CRC-32 have the values of their standards`(text: String, digest: String, checksum: UInt32) {
    #expect(Hex.encode(MD5.digest(utf8(text))) == digest)
    #expect(CRC32.checksum(utf8(text)) == checksum)
  }
}
