import Testing

@testable import VestaCryptoInterop

@Suite struct JSONTests {
  private func read(_ text: String) throws -> JWTValue {
    try JSONReader.read(utf8(text)[...], maximumSize: 100_000)
  }

  @Test func valuesAreRead() throws {
    let value = try read(
      #" { "a" : [ 1 , -2.5 , 1e3 , true , false , null ] , "b" : { } , "c\n\u00e9\ud83d\ude00" : "\"\\\/" } "#)
    #expect(
      value == [
        "a": [1, -2.5, 1000.0, true, false, nil], "b": [:], "c\né😀": "\"\\/",
      ])
  }

  @Test(arguments: [
    ("9223372036854775807", JWTValue.integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("0", .integer(0)), ("-0", .integer(0)),
    ("0.5", .number(0.5)), ("1E+2", .number(100)),
  ])
  func numbersKeepWhatSixtyFourBitsHold(text: String, value: JWTValue) throws {
    #expect(try read(text) == value)
  }

  @Test(arguments: [
    "", " ", "nul", "nulll", "tru", "{", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
    "{\"a\":1 \"b\":2}", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "1e999", "NaN", "\"", "\"\\\"", "\"\\x\"",
    "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\nb\"", "1 2", "{} {}", "'a'",
    "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "\u{feff}1", "[1]]",
  ])
  func whatTheGrammarForbidsIsAnError(text: String) {
    #expect(throws: CryptoError.self) { try read(text) }
  }

  @Test func bytesThatAreNotUTF8AreAnError() {
    for bytes in [[0xC0, 0xAF], [0xFF], [0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]] {
      let text = [0x22] + bytes + [0x22]
      #expect(throws: CryptoError.self) { try JSONReader.read(text[...], maximumSize: 100) }
    }
  }

  @Test func depthAndSizeHaveLimits() throws {
    let deepest = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
    _ = try read(deepest)
    let tooDeep = #expect(throws: CryptoError.self) { try read(String(repeating: "[", count: 50_000)) }
    #expect(tooDeep?.code == .limitExceeded)
    let tooLong = #expect(throws: CryptoError.self) { try JSONReader.read(utf8("[1,2,3]")[...], maximumSize: 6) }
    #expect(tooLong?.code == .limitExceeded)
  }

  @Test func manyMembersAreReadInOrder() throws {
    let names = (0..<5000).map { "n\($0)" }
    let value = try read("{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}")
    #expect(value.object?.members.map(\.name) == names)
  }

  @Test func whatIsWrittenIsReadBack() throws {
    let object: JWTObject = [
      "text": "\u{0}\u{1f}\"\\/é😀\u{2028}", "numbers": [0, -1, 1.5, 1e300, 2.5e-300], "none": nil,
      "flags": [true, false],
      "": ["": []],
    ]
    #expect(try JSONReader.read(JSONWriter.write(object)[...], maximumSize: 1000) == .object(object))
    #expect(throws: CryptoError.self) { try JSONWriter.write(["a": .number(.infinity)]) }
  }

  @Test func settingNamesKeepsTheirOrder() {
    var object: JWTObject = ["a": 1, "b": 2, "a": 3]
    #expect(object.members.map(\.name) == ["a", "b"])
    object["c"] = 4
    object["a"] = nil
    object["b"] = 5
    #expect(object == ["b": 5, "c": 4])
    #expect(object["a"] == nil)
  }
}
