import Testing
import VestaBytes

@Suite struct ByteRangeFieldTests {
  @Test(arguments: [
    ("bytes=0-9", ByteRangeField.bounds(0, 9)), ("Bytes=7-7", .bounds(7, 7)), ("bytes=5-", .from(5)),
    ("bytes=-5", .suffix(5)), ("bytes=-0", .suffix(0)), ("bytes=99999999999999999999-", .from(.max)),
    ("bytes=0-99999999999999999999", .bounds(0, .max)),
  ])
  func `one range is read`(field: String, range: ByteRangeField) { #expect(ByteRangeField(field) == range) }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=9-1", "bytes=0-1,3-4", "bytes=a-b", "bytes=a-", "bytes=-a", "x=0-1", "1-2",
    "bytes=+1-2", "bytes=1-+2", "bytes=--1", "bytes=1-2-3", "bytes= 1-2",
  ])
  func `what is no single range is ignored`(field: String) { #expect(ByteRangeField(field) == nil) }

  @Test func `a range gives the bytes that a content has of it`() {
    #expect(ByteRangeField.bounds(2, 99).bytes(of: 5) == 2...4)
    #expect(ByteRangeField.bounds(2, 3).bytes(of: 5) == 2...3)
    #expect(ByteRangeField.bounds(5, 6).bytes(of: 5) == nil)
    #expect(ByteRangeField.suffix(2).bytes(of: 5) == 3...4)
    #expect(ByteRangeField.suffix(.max).bytes(of: 5) == 0...4)
    #expect(ByteRangeField.suffix(0).bytes(of: 5) == nil)
    #expect(ByteRangeField.from(4).bytes(of: 5) == 4...4)
    #expect(ByteRangeField.from(5).bytes(of: 5) == nil)
    for range in [ByteRangeField.from(0), .suffix(1), .bounds(0, 0)] { #expect(range.bytes(of: 0) == nil) }
  }

  @Test func `texts are read back`() {
    for range in [ByteRangeField.from(0), .from(.max), .suffix(7), .bounds(0, 0), .bounds(3, .max)] {
      #expect(ByteRangeField(range.text) == range)
    }
  }
}
