import Testing
import VestaBytes

/// Lengths and orders at which the codec takes another path.
@Suite struct ProtobufBorderTests {
  @Test(arguments: [1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
  func `a nested message has the shortest length before it`(length: Int) throws {
    var writer = ProtobufWriter(reserving: 0)
    writer.write(tag: 12, .delimited)
    let start = writer.begin()
    for index in 0..<length { writer.write(varint: UInt64(index % 100)) }
    writer.close(start)
    var head = ProtobufWriter()
    head.write(varint: UInt64(length))
    let expected = [0x62] + head.bytes + (0..<length).map { UInt8($0 % 100) }
    #expect(writer.bytes == expected)
    #expect(writer.finish() == expected)
    #expect(writer.bytes.isEmpty)
    writer.write(fixed64: 1)
    #expect(writer.finish() == [1, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test func `a map that begins again after another field keeps all entries`() throws {
    let a: [UInt8] = [0x5A, 5, 0x0A, 1, 0x61, 0x10, 1], b: [UInt8] = [0x5A, 5, 0x0A, 1, 0x62, 0x10, 2]
    let read = try SampleSchema.message(from: a + [0x10, 7] + b)
    #expect(read.counts == ["a": 1, "b": 2] && read.small == 7)
  }

  @Test func `an entry in another order, with repeats or unknown fields, is read`() throws {
    let entries: [[UInt8]] = [
      [0x10, 3, 0x0A, 1, 0x61], [0x0A, 1, 0x62, 0x0A, 1, 0x61, 0x10, 3], [0x0A, 1, 0x61, 0x10, 2, 0x10, 3],
      [0x0A, 1, 0x61, 0x10, 3, 0x18, 9], [0x0A, 1, 0x61, 0x18, 9, 0x10, 3],
    ]
    for entry in entries {
      #expect(try SampleSchema.message(from: [0x5A, UInt8(entry.count)] + entry).counts == ["a": 3])
    }
  }

  @Test(arguments: [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17])
  func `a byte that is no UTF-8 is refused at each position`(count: Int) throws {
    let text = [UInt8](repeating: 0x61, count: count)
    let read = try SampleSchema.message(from: [0x2A, UInt8(count)] + text).text
    #expect(Array(read.utf8) == text)
    for index in 0..<count {
      var bad = text
      bad[index] = 0xFF
      #expect(throws: BytesError.self) { try SampleSchema.message(from: [0x2A, UInt8(count)] + bad) }
    }
  }
}
