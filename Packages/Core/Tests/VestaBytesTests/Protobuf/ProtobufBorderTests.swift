import Foundation
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

  @Test func `doubles at the borders of integers are written as JSON and read as the same`() throws {
    let borders = [0x1p53, 0x1p63, 0x1p64, Double(Int64.max), Double(Int32.min), .greatestFiniteMagnitude]
    for border in borders.flatMap({ [$0.nextDown, $0, $0.nextUp] }) + [0, .leastNonzeroMagnitude, .infinity] {
      for value in [border, -border] {
        var sample = Sample()
        sample.ratio = value
        let json = try SampleSchema.json(of: sample)
        let read = try SampleSchema.message(json: json)
        #expect(read.ratio.bitPattern == value.bitPattern, "\(value)")
      }
    }
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

  @Test func `a field of a known number and another wire type is skipped like an unknown one`() throws {
    let values: [(type: ProtobufWireType, bytes: [UInt8])] = [
      (.varint, [0xFF, 1]), (.fixed64, [1, 2, 3, 4, 5, 6, 7, 8]), (.delimited, [2, 0x08, 1]), (.fixed32, [1, 2, 3, 4]),
    ]
    let own: [UInt32: [ProtobufWireType]] = [
      1: [.varint], 2: [.varint], 3: [.varint], 4: [.fixed64], 5: [.delimited], 6: [.delimited], 7: [.varint],
      8: [.delimited], 9: [.delimited], 10: [.varint, .delimited], 11: [.delimited], 12: [.delimited],
      17: [.delimited], 18: [.varint], 19: [.delimited],
    ]
    var expected = Sample()
    expected.flag = true
    for (number, types) in own {
      for value in values where !types.contains(value.type) {
        var writer = ProtobufWriter()
        writer.write(tag: number, value.type)
        let bytes = writer.bytes + value.bytes + [0x08, 1]
        #expect(try SampleSchema.message(from: bytes) == expected, "field \(number) as \(value.type)")
      }
    }
    // A value that was read before stays, also that of a oneof.
    #expect(try SampleSchema.message(from: [0x10, 7, 0x12, 1, 0x61]).small == 7)
    #expect(try SampleSchema.message(from: [0x8A, 1, 1, 0x61, 0x88, 1, 1, 0x92, 1, 0]).choice == .text("a"))
    // Such fields are in entries and in wrappers as well.
    #expect(try SampleSchema.message(from: [0x5A, 4, 0x08, 1, 0x10, 3]).counts == ["": 3])
    #expect(try SampleSchema.message(from: [0x5A, 6, 0x0A, 1, 0x61, 0x12, 1, 0x62]).counts == ["a": 0])
    #expect(try SampleSchema.message(from: [0x5A, 8, 0x0A, 1, 0x61, 0x12, 1, 0x62, 0x10, 3]).counts == ["a": 3])
    #expect(try SampleSchema.message(from: [0x42, 3, 0x0A, 1, 1]).limit == 0)
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

  @Test(arguments: [1, 15, 16, 2_047, 2_048, 536_870_911] as [UInt32])
  func `a message of known length has the bytes of one that is measured`(number: UInt32) {
    func measured(_ type: ProtobufWireType, _ content: (inout ProtobufWriter) -> Void) -> [UInt8] {
      var writer = ProtobufWriter(reserving: 0)
      let start = writer.begin()
      writer.write(tag: number, type)
      content(&writer)
      writer.close(start)
      return writer.finish()
    }
    for value in [0, 1, 127, 128, 1 << 35, .max] as [UInt64] {
      var (first, second) = (ProtobufWriter(reserving: 0), ProtobufWriter(reserving: 0))
      first.write(messageOf: number, varint: value)
      second.write(messageOf: number, fixed64: value)
      #expect(first.bytes == measured(.varint) { $0.write(varint: value) })
      #expect(second.bytes == measured(.fixed64) { $0.write(fixed64: value) })
    }
    // Within a few bytes of the lengths at which the outer or the inner length needs another byte.
    for size in [0, 1, 2] + Array(118...130) + Array(16_374...16_386) + [2_097_145, 2_097_152] {
      let text = String(repeating: "a", count: size)
      var writer = ProtobufWriter(reserving: 0)
      writer.write(messageOf: number, string: text)
      #expect(writer.bytes == measured(.delimited) { $0.write(string: text) }, "\(size)")
    }
  }

  @Test(arguments: [1, 15, 16, 2_047, 2_048, 536_870_911] as [UInt32])
  func `a message of a message of two numbers has the bytes of one that is measured`(number: UInt32) {
    func measured(_ content: (inout ProtobufWriter) -> Void) -> [UInt8] {
      var writer = ProtobufWriter(reserving: 0)
      let outer = writer.begin()
      writer.write(tag: number, .delimited)
      let inner = writer.begin()
      content(&writer)
      writer.close(inner)
      writer.close(outer)
      return writer.finish()
    }
    let numbers = [(0, 0), (5, 0), (0, 5), (-1, .min)] as [(Int64, Int64)]
    for (first, second) in numbers {
      var writer = ProtobufWriter(reserving: 0)
      writer.write(messageOf: number, numbers: first, second)
      let expected = measured {
        for (field, value) in [(1, first), (2, second)] as [(UInt32, Int64)] where value != 0 {
          $0.write(tag: field, .varint)
          $0.write(varint: UInt64(bitPattern: value))
        }
      }
      #expect(writer.finish() == expected)
    }
    for (first, second) in [(0, 0), (0.5, 0), (0, -0.0), (.nan, -1)] as [(Double, Double)] {
      var writer = ProtobufWriter(reserving: 0)
      writer.write(messageOf: number, doubles: first, second)
      let expected = measured {
        for (field, value) in [(1, first), (2, second)] as [(UInt32, Double)] where value.bitPattern != 0 {
          $0.write(tag: field, .fixed64)
          $0.write(fixed64: value.bitPattern)
        }
      }
      #expect(writer.finish() == expected)
    }
  }

  @Test(arguments: [1, 15, 16, 2_047, 2_048, 536_870_911] as [UInt32])
  func `an entry of a map with a known length has the bytes of one that is measured`(number: UInt32) {
    func written(_ content: (inout ProtobufWriter) -> Void) -> [UInt8] {
      var writer = ProtobufWriter(reserving: 0)
      content(&writer)
      return writer.finish()
    }
    func measured(_ key: String, _ content: (inout ProtobufWriter) -> Void) -> [UInt8] {
      written { writer in
        writer.write(tag: number, .delimited)
        let start = writer.begin()
        writer.write(tag: 1, .delimited)
        writer.write(string: key)
        writer.write(tag: 2, .delimited)
        content(&writer)
        writer.close(start)
      }
    }
    // Within a few bytes of the lengths at which the entry's length or the key's needs another byte.
    for size in [0, 1, 15, 16] + Array(96...130) + Array(16_360...16_386) {
      let key = String(repeating: "é", count: size / 2) + (size.isMultiple(of: 2) ? "" : "k")
      for value in [0, 127, 128, .max] as [UInt64] {
        let varint = written { $0.write(number, entry: key, messageOf: 11, varint: value) }
        let fixed = written { $0.write(number, entry: key, messageOf: 17, fixed64: value) }
        #expect(varint == measured(key) { $0.write(messageOf: 11, varint: value) }, "\(size)")
        #expect(fixed == measured(key) { $0.write(messageOf: 17, fixed64: value) }, "\(size)")
      }
      let (string, other) = (
        written { $0.write(number, entry: key, messageOf: 17, string: "Ada") },
        written { $0.write(number, entry: "Ada", messageOf: 5, string: key) }
      )
      #expect(string == measured(key) { $0.write(messageOf: 17, string: "Ada") }, "\(size)")
      #expect(other == measured("Ada") { $0.write(messageOf: 5, string: key) }, "\(size)")
      for (first, second) in [(0, 0), (5, 0), (0, 5), (127, 128), (-1, .min)] as [(Int64, Int64)] {
        let numbers = written { $0.write(number, entry: key, messageOf: 10, numbers: first, second) }
        #expect(numbers == measured(key) { $0.write(messageOf: 10, numbers: first, second) }, "\(size)")
      }
      for (first, second) in [(0, 0), (0.5, 0), (0, -0.0), (.nan, -1)] as [(Double, Double)] {
        let doubles = written { $0.write(number, entry: key, messageOf: 8, doubles: first, second) }
        #expect(doubles == measured(key) { $0.write(messageOf: 8, doubles: first, second) }, "\(size)")
      }
    }
    let field = written { $0.write(number, messageOfNumbers: -1, .min) }
    let parts = written {
      $0.write(tag: number, .delimited)
      $0.write(messageOfNumbers: -1, .min)
    }
    #expect(field == parts)
  }

  @Test func `a message of two numbers leaves out zero and has room for the longest ones`() {
    func bytes(_ first: Int64, _ second: Int64) -> [UInt8] {
      var writer = ProtobufWriter(reserving: 0)
      writer.write(messageOfNumbers: first, second)
      return writer.finish()
    }
    let minusOne = [UInt8](repeating: 0xFF, count: 9) + [1]
    #expect(bytes(0, 0) == [0])
    #expect(bytes(5, 0) == [2, 0x08, 5])
    #expect(bytes(0, 5) == [2, 0x10, 5])
    #expect(bytes(-1, -1) == [22, 0x08] + minusOne + [0x10] + minusOne)
  }

  @Test func `a message that another reader has entered cannot be left`() async {
    await #expect(processExitsWith: .failure) {
      var (long, short) = (try ProtobufReader([1, 0, 0, 0]), try ProtobufReader([0]))
      let outer = try long.enter()
      _ = try short.enter()
      try short.leave(outer)
      exit(0)
    }
  }

  @Test func `the entries ahead are counted up to a limit, another field or a broken one`() throws {
    func ahead(_ bytes: [UInt8]) throws -> Int {
      var reader = try ProtobufReader(bytes)
      #expect(try reader.nextField())
      return reader.entriesAhead()
    }
    let entry: [UInt8] = [0x5A, 5, 0x0A, 1, 0x61, 0x10, 1]
    #expect(try ahead(entry) == 1)
    #expect(try ahead(entry + entry + [0x10, 7] + entry) == 2)
    #expect(try ahead(entry + entry + [0x5A, 5, 0x0A]) == 3)
    #expect(try ahead([0x5A, 0xFF, 0x7F]) == 1)
    #expect(try ahead(Array(repeatElement(entry, count: 10_000).joined())) == 64)
  }
}
