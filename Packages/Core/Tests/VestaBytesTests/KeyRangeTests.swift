import Testing
import VestaBytes

@Suite struct KeyRangeTests {
  @Test func `a prefix range holds the prefix and everything that begins with it`() {
    let range = KeyRange(prefix: [1, 0xFF])
    #expect(range.contains([1, 0xFF]))
    #expect(range.contains([1, 0xFF, 0xFF, 0xFF]))
    #expect(!range.contains([2]))
    #expect(!range.contains([1, 0xFE, 0xFF]))
  }

  @Test func `a prefix of highest bytes has no end`() {
    #expect(KeyRange(prefix: [0xFF, 0xFF]).upper == nil)
    #expect(KeyRange(prefix: []).upper == nil)
  }

  @Test func `a range whose bounds meet is empty`() {
    #expect(KeyRange(from: [1], to: [1]).isEmpty)
    #expect(KeyRange(from: [2], to: [1]).isEmpty)
    #expect(!KeyRange(from: [1], to: [1, 0]).isEmpty)
  }

  @Test func `a range is shown in hexadecimal and cut`() {
    #expect("\(KeyRange(from: [0, 0xAB], to: nil))" == "0x00ab..<end")
    #expect("\(KeyRange(prefix: [UInt8](repeating: 7, count: 60_000)))".utf8.count < 200)
  }

  @Test func `what is after a key and what is before it are the range without it`() {
    let range = KeyRange(from: [1], to: [3])
    #expect(range.after([2]) == KeyRange(from: [2, 0], to: [3]))
    #expect(range.before([2]) == KeyRange(from: [1], to: [2]))
    #expect(!range.after([2]).contains([2]))
    #expect(!range.before([2]).contains([2]))
  }
}
