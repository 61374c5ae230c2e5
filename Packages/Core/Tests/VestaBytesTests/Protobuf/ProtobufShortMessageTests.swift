import Testing
import VestaBytes

@Suite struct ProtobufShortMessageTests {
  @Test func `a message of two numbers is read in any order, with repeats, unknown fields and neither`() throws {
    func numbers(_ bytes: [UInt8]) throws -> [Int64] {
      var reader = try ProtobufReader([UInt8(bytes.count)] + bytes)
      let (first, second) = try reader.messageOfNumbers()
      #expect(reader.isAtEnd)
      return [first, second]
    }
    let minusOne = [UInt8](repeating: 0xFF, count: 9) + [1]
    #expect(try numbers([]) == [0, 0])
    #expect(try numbers([0x08, 5]) == [5, 0])
    #expect(try numbers([0x10, 5]) == [0, 5])
    #expect(try numbers([0x08, 5, 0x10, 6]) == [5, 6])
    #expect(try numbers([0x10, 6, 0x08, 5]) == [5, 6])
    #expect(try numbers([0x08, 1, 0x08, 5, 0x18, 9, 0x10, 1, 0x10, 6]) == [5, 6])
    #expect(try numbers([0x08] + minusOne + [0x10, 0xFF, 0x01]) == [-1, 255])
    // Another wire type is that of an unknown field.
    #expect(try numbers([0x0A, 1, 7, 0x12, 0]) == [0, 0])
    for bytes in [[0x08], [0x08, 5, 0x10], [0x08, 0x80], [0x10, 6, 0x08], [0x08, 5, 0x03]] as [[UInt8]] {
      #expect(throws: BytesError.self) { try numbers(bytes) }
    }
    // The end of the message counts, and not that of the bytes.
    for bytes in [[1, 0x08, 5, 0x10, 6], [3, 0x08, 5, 0x10, 6], [], [5, 0x08, 5, 0x10, 6], [0x80, 0x08]] as [[UInt8]] {
      #expect(throws: BytesError.self) {
        var reader = try ProtobufReader(bytes)
        _ = try reader.messageOfNumbers()
      }
    }
  }

  @Test func `of entries with one name the last one stays, in one run and in two`() throws {
    let entries: [UInt8] = [("b", 1), ("a", 2), ("b", 3)].flatMap { name, count in
      [0x5A, 5, 0x0A, 1] + Array(name.utf8) + [0x10, count]
    }
    #expect(try SampleSchema.message(from: entries).counts == ["a": 2, "b": 3])
    let again = entries + [0x08, 1, 0x5A, 5, 0x0A, 1, 0x61, 0x10, 4]
    #expect(try SampleSchema.message(from: again).counts == ["a": 4, "b": 3])
  }

  @Test(arguments: [0, 1, 7, 8, 14, 15, 16, 17, 31, 32, 63, 64, 127, 128])
  func `strings of every length are read, of ASCII and of other characters`(count: Int) throws {
    for text in [String(repeating: "a", count: count), String(repeating: "é", count: count)] {
      var sample = Sample()
      sample.text = text
      let read = try SampleSchema.message(from: SampleSchema.bytes(of: sample)).text
      #expect(Array(read.utf8) == Array(text.utf8))
      #expect(read.hashValue == text.hashValue)
      #expect(read + "é" == text + "é")
    }
  }
}
