import Testing
import VestaBytes
import VestaTesting

@Suite struct NumberTests {
  @Test func `numbers, strings and byte strings are read as they were written`() throws {
    var random = SplitMix(seed: 1)
    for _ in 0..<2_000 {
      let bits = random.next() >> UInt64(random.below(64))
      let blob = random.bytes(random.below(6))
      var writer = ByteWriter(after: [9])
      writer.write(varint: bits)
      writer.write(zigzag: Int64(bitPattern: bits))
      writer.write(fixed16: UInt16(truncatingIfNeeded: bits))
      writer.write(fixed32: UInt32(truncatingIfNeeded: bits))
      writer.write(fixed64: bits)
      writer.write(double: 1.5)
      writer.write(string: "aé😀")
      writer.write(blob: blob)
      writer.write(count: blob.count)
      var reader = ByteReader(writer.bytes, from: 1)
      #expect(try reader.varint() == bits)
      #expect(try reader.zigzag() == Int64(bitPattern: bits))
      #expect(try reader.fixed16() == UInt16(truncatingIfNeeded: bits))
      #expect(try reader.fixed32() == UInt32(truncatingIfNeeded: bits))
      #expect(try reader.fixed64() == bits)
      #expect(try reader.double() == 1.5)
      #expect(try reader.string() == "aé😀")
      #expect(try Array(reader.blob()) == blob)
      #expect(try reader.count() == blob.count)
      #expect(reader.isAtEnd)
    }
  }

  @Test func `a varint of more than 64 bits is refused`() throws {
    var whole = ByteReader([UInt8](repeating: 0xFF, count: 9) + [1])
    #expect(try whole.varint() == .max)
    for bytes in [[UInt8](repeating: 0xFF, count: 9) + [2], [UInt8](repeating: 0x80, count: 11)] {
      var reader = ByteReader(bytes)
      #expect(throws: BytesError.self) { try reader.varint() }
    }
  }

  @Test func `a count beyond the bytes that are left allocates nothing and is refused`() {
    var writer = ByteWriter()
    writer.write(varint: UInt64(Int64.max))
    var reader = ByteReader(writer.bytes)
    #expect(throws: BytesError.self) { try reader.blob() }
    #expect(reader.rest.count == writer.bytes.count)
    #expect(throws: BytesError.self) { try reader.string() }
  }

  @Test(arguments: [
    ("", ""), ("a b/ä", "a%20b%2F%C3%A4"), ("-._~", "-._~"), ("100%", "100%25"), ("\0", "%00"),
  ])
  func `percent encoding writes what it reads`(plain: String, encoded: String) throws {
    #expect(PercentEncoding.unreserved.encode(plain) == encoded)
    #expect(try PercentEncoding.decode(encoded) == plain)
  }

  @Test(arguments: ["%", "%2", "%zz", "a%2", "%C3", "%FF"])
  func `percent encoding refuses what is none`(text: String) {
    #expect(throws: BytesError.self) { try PercentEncoding.decode(text) }
  }

  @Test func `an encoding keeps the characters that are allowed`() {
    let names = PercentEncoding(leaving: "-_", uppercase: false)
    #expect(names.encode("[DEFAULT]-a_b.c") == "%5bDEFAULT%5d-a_b%2ec")
    #expect(PercentEncoding.alphanumeric.encode("a-b") == "a%2Db")
  }

  @Test func `strings are ordered and equal by their bytes`() {
    var random = SplitMix(seed: 4)
    let samples = ["", "a", "ab", "b", "é", "e\u{301}", "\u{FFFF}", "\u{10000}", "aé"]
    for _ in 0..<500 {
      let (left, right) = (samples[random.below(samples.count)], samples[random.below(samples.count)])
      let bytes = (Array(left.utf8), Array(right.utf8))
      #expect(UTF8Order.precedes(left, right) == bytes.0.lexicographicallyPrecedes(bytes.1))
      #expect(UTF8Order.equal(left, right) == (bytes.0 == bytes.1))
      #expect((UTF8String(left) == UTF8String(right)) == (bytes.0 == bytes.1))
    }
    #expect(Set(samples.map(UTF8String.init)).count == samples.count)
  }
}
