import Testing
import VestaTesting

@testable import VestaBytes

/// The first byte that is no ASCII, the one character that is escaped, the one level too many.
@Suite struct EdgeTests {
  @Test(arguments: [[0x80], [0x41, 0x80], [0x80, 0x80], [0xBF], [0xC0], [0xFF]] as [[UInt8]])
  func `a string of bytes that are no UTF-8 is refused, and the reader stays where it was`(_ bytes: [UInt8]) throws {
    var writer = ByteWriter()
    writer.write(blob: bytes)
    var reader = ByteReader(writer.bytes)
    #expect(throws: BytesError.self) { try reader.string() }
    #expect(try Array(reader.blob()) == bytes)
  }

  @Test func `raw bytes are read as many as asked for, or none`() throws {
    var reader = ByteReader([1, 2, 3, 4, 5])
    #expect(try Array(reader.raw(2)) == [1, 2])
    #expect(throws: BytesError.self) { try reader.raw(4) }
    #expect(throws: BytesError.self) { try reader.raw(-1) }
    #expect(try Array(reader.raw(0)) == [])
    #expect(try Array(reader.raw(3)) == [3, 4, 5])
    #expect(reader.isAtEnd)
  }

  @Test(arguments: ["\"", "\\", "a\"b", "a\\b", "\u{0}", "\u{1F}", "\n", "\u{20}", "\u{7F}", "é\"", "\"\"\\\\", ""])
  func `text survives a round trip through JSON, whichever single character has to be escaped`(_ text: String) throws {
    let object = ["name": .string(text), text: 1] as JSONObject
    let json = try object.json()
    #expect(try JSONObject(json: json) == object)
    #expect(json.allSatisfy { $0 >= 32 })
  }

  @Test func `an object is written 512 levels deep and no deeper, whatever is asked for`() throws {
    func nested(_ levels: Int) -> JSONObject {
      (1..<levels).reduce(["a": nil] as JSONObject) { inner, _ in ["a": .object(inner)] }
    }
    for limit in [512, 1_000] {
      #expect(try nested(512).json(maximumDepth: limit).count > 512)
      let error = #expect(throws: BytesError.self) { try nested(513).json(maximumDepth: limit) }
      #expect(error?.code == .limitExceeded)
    }
    #expect(throws: BytesError.self) { try nested(3).json(maximumDepth: 2) }
  }

  @Test func `percent signs and characters beyond ASCII are always encoded`() {
    let encoding = PercentEncoding(leaving: "%é/")
    #expect(encoding.encode("a/%é") == "a/%25%C3%A9")
  }

  @Test func `a number is an integer where 64 bits hold it`() {
    #expect(JSONValue.number(-0x1p63).integer == .min)
    #expect(JSONValue.number(0x1p63).integer == nil)
    #expect(JSONValue.number((-0x1p63).nextDown).integer == nil)
    #expect(JSONValue.number(0x1p63.nextDown).integer == 0x7FFF_FFFF_FFFF_FC00)
  }

  @Test func `JSON of the largest size is read`() throws {
    let json = Array("[1,2,3]".utf8)
    #expect(try JSONValue(json: json, limits: JSONLimits(maximumSize: json.count)) == [1, 2, 3])
  }

  @Test func `a number of JSON is an integer from the least one on, and below the first that is too large`() {
    #expect(JSONValue.number(-0x1p63).integer == .min && JSONValue.number(0x1p63).integer == nil)
    #expect(JSONValue.number(-0x1.0000000000001p63).integer == nil)
    #expect(JSONValue.number(0x1.fffffffffffffp62).integer == 9_223_372_036_854_774_784)
  }
}
