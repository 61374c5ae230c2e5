import Testing

@testable import VestaAuthFields

@Suite struct FieldTests {
  private static let numbers: [Int64] = [1, -1, 63, 64, -64, -65, 1 << 31, .max, .min]

  @Test func whatIsWrittenIsReadAgain() throws {
    var writer = FieldWriter(after: [9, 9])
    for number in Self.numbers { writer.put(1, number) }
    writer.put(2, "naïve")
    writer.put(3, [UInt8]())
    writer.put(4, true)
    writer.put(5, optional: 0)
    writer.put(200) { $0.put(7, "inner") }
    #expect(writer.bytes.prefix(2) == [9, 9])
    var reader = FieldReader(writer.bytes.dropFirst(2))
    for number in Self.numbers { #expect(try reader.next()?.int() == number) }
    #expect(try reader.next()?.text() == "naïve")
    #expect(try reader.next()?.bytes() == [])
    #expect(try reader.next()?.bool() == true)
    #expect(try reader.next()?.int() == 0)
    let outer = try #require(try reader.next())
    #expect(outer.number == 200)
    var inner = try outer.fields()
    #expect(try inner.next()?.text() == "inner")
    #expect(try inner.next() == nil)
    #expect(try reader.next() == nil)
  }

  @Test func whatIsAbsentIsNotWritten() {
    var writer = FieldWriter()
    writer.put(1, Int64(0))
    writer.put(2, false)
    writer.put(3, String?.none)
    writer.put(4, [UInt8]?.none)
    writer.put(5, optional: nil)
    #expect(writer.bytes.isEmpty)
  }

  @Test(
    arguments: [
      [0x80], [2], [3], [3, 5, 1], [2] + [UInt8](repeating: 0xFF, count: 10), [2] + [UInt8](repeating: 0x80, count: 10),
      [3] + [UInt8](repeating: 0xFF, count: 9) + [1],
    ] as [[UInt8]])
  func whatNobodyWroteIsRefused(_ bytes: [UInt8]) {
    var reader = FieldReader(bytes[...])
    #expect(throws: FieldError.self) { try reader.next() }
  }

  @Test func theOtherKindAndBrokenTextAreRefused() throws {
    var writer = FieldWriter()
    writer.put(1, Int64(5))
    writer.put(2, [0xC3, 0x28])
    var reader = FieldReader(writer.bytes[...])
    let number = try #require(try reader.next())
    #expect(throws: FieldError.self) { try number.text() }
    #expect(throws: FieldError.self) { try number.fields() }
    let bytes = try #require(try reader.next())
    #expect(throws: FieldError.self) { try bytes.int() }
    #expect(throws: FieldError.self) { try bytes.text() }
  }
}
