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
}
