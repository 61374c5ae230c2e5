import Testing
import VestaTesting

@testable import VestaBytes

@Suite struct JSONTests {
  private func read(_ text: String) throws -> JSONValue {
    try JSONValue(json: utf8(text), limits: JSONLimits(maximumSize: 100_000))
  }

  @Test func `values are read`() throws {
    let value = try read(
      #" { "a" : [ 1 , -2.5 , 1e3 , true , false , null ] , "b" : { } , "c\n\u00e9\ud83d\ude00" : "\"\\\/" } "#)
    #expect(
      value == [
        "a": [1, -2.5, 1000.0, true, false, nil], "b": [:], "c\né😀": "\"\\/",
      ])
  }

  @Test(arguments: [
    ("9223372036854775807", JSONValue.integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("0", .integer(0)), ("-0", .integer(0)),
    ("0.5", .number(0.5)), ("1E+2", .number(100)),
  ])
  func `numbers keep what 64 bits hold`(text: String, value: JSONValue) throws {
    #expect(try read(text) == value)
  }

  @Test(arguments: [
    "", " ", "nul", "nulll", "tru", "{", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
    "{\"a\":1 \"b\":2}", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "1e999", "NaN", "\"", "\"\\\"", "\"\\x\"",
    "\"\\u12\"", "\"\\ud800\\u12\"", "\"\\u+041\"", "\"a\nb\"", "1 2", "{} {}", "'a'", "{\"\\ud800\":1,\"\\udc00\":1}",
    "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "\u{feff}1", "[1]]",
  ])
  func `what the grammar forbids is an error`(text: String) {
    #expect(throws: BytesError.self) { try read(text) }
  }

  @Test func `bytes that are not UTF-8 are an error`() {
    for bytes in [[0xC0, 0xAF], [0xFF], [0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]] {
      let text = [0x22] + bytes + [0x22]
      #expect(throws: BytesError.self) { try JSONValue(json: text) }
    }
  }

  @Test func `depth and size have limits`() throws {
    let deepest = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
    _ = try read(deepest)
    let tooDeep = #expect(throws: BytesError.self) { try read(String(repeating: "[", count: 50_000)) }
    #expect(tooDeep?.code == .limitExceeded)
    let tooLong = #expect(throws: BytesError.self) {
      try JSONValue(json: utf8("[1,2,3]"), limits: JSONLimits(maximumSize: 6))
    }
    #expect(tooLong?.code == .limitExceeded)
  }

  @Test func `the depth of what is read and written has a highest limit`() throws {
    #expect(JSONLimits(maximumDepth: 513).maximumDepth == 512 && JSONLimits(maximumDepth: 3).maximumDepth == 3)
    var value: JSONValue = 1
    for _ in 0..<3 { value = [value] }
    #expect(try JSONValue(json: value.json(maximumDepth: 3), limits: JSONLimits(maximumDepth: 3)) == value)
    #expect(throws: BytesError.self) { try value.json(maximumDepth: 2) }
    #expect(throws: BytesError.self) { try JSONValue(json: "[[[1]]]", limits: JSONLimits(maximumDepth: 2)) }
  }

  @Test func `a space may follow an escape, and each end of the surrogates is read`() throws {
    #expect(try read(#""\n b""#) == "\n b")
    #expect(try read(#""\ud800\udc00\udbff\udfff""#) == "\u{10000}\u{10FFFF}")
    #expect(try read(#""\ud7ff\ue000""#) == "\u{D7FF}\u{E000}")
  }

  @Test(arguments: [
    (#"x\ud800"#, "x\u{FFFD}"), (#"\udc00x"#, "\u{FFFD}x"), (#"\ud800\u0041"#, "\u{FFFD}A"),
    (#"\ud800\n"#, "\u{FFFD}\n"),
    (#"\ud800\udbff"#, "\u{FFFD}\u{FFFD}"), (#"\ud83d\ud83d\ude00"#, "\u{FFFD}😀"),
    (#"\ude00\ud83d"#, "\u{FFFD}\u{FFFD}"),
  ])
  func `half of a pair, which JavaScript writes for a text that was cut, is a replacement`(text: String, read: String)
    throws
  {
    #expect(try JSONValue(json: "[\"\(text)\"]") == [.string(read)])
    #expect(try JSONValue(json: "{\"\(text)\":1}") == .object(object(read)))
    func object(_ name: String) -> JSONObject {
      var object = JSONObject()
      object[name] = 1
      return object
    }
  }

  @Test func `members are equal with the same name and the same value`() {
    let member = JSONObject.Member(name: "a", value: 1)
    #expect(member == JSONObject.Member(name: "a", value: 1))
    #expect(member != JSONObject.Member(name: "a", value: 2) && member != JSONObject.Member(name: "b", value: 1))
  }

  @Test func `many members are read in order`() throws {
    let names = (0..<5000).map { "n\($0)" }
    let value = try read("{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}")
    #expect(value.object?.members.map(\.name) == names)
  }

  @Test func `what is written is read back`() throws {
    let object: JSONObject = [
      "text": "\u{0}\u{1f}\"\\/é😀\u{2028}", "numbers": [0, -1, 1.5, 1e300, 2.5e-300], "none": nil,
      "flags": [true, false],
      "": ["": []],
    ]
    #expect(try JSONObject(json: object.json()) == object)
    #expect(throws: BytesError.self) { _ = try JSONObject(dictionaryLiteral: ("a", .number(.infinity))).json() }
  }

  @Test func `setting names keeps their order`() {
    var object: JSONObject = ["a": 1, "b": 2, "a": 3]
    #expect(object.members.map(\.name) == ["a", "b"])
    object["c"] = 4
    object["a"] = nil
    object["b"] = 5
    #expect(object == ["b": 5, "c": 4])
    #expect(object["a"] == nil)
  }

  @Test func `names are compared by their bytes and not by canonical equivalence`() throws {
    let object = try JSONObject(json: utf8("{\"e\u{301}\":1,\"\u{E9}\":2}"))
    #expect(object.count == 2)
    #expect(object["e\u{301}"] == 1)
    #expect(object["\u{E9}"] == 2)
  }

  @Test func `a large object answers and changes as a small one does`() {
    var random = SplitMix(seed: 9)
    var object = JSONObject()
    var model: [(String, Int64)] = []
    for round in 0..<3_000 {
      let name = "n\(random.below(40))"
      if random.oneIn(3) {
        object[name] = nil
        model.removeAll { $0.0 == name }
      } else if let index = model.firstIndex(where: { $0.0 == name }) {
        object[name] = .integer(Int64(round))
        model[index].1 = Int64(round)
      } else {
        object[name] = .integer(Int64(round))
        model.append((name, Int64(round)))
      }
      #expect(object.members.map(\.name) == model.map(\.0))
      #expect(object.members.compactMap(\.value.integer) == model.map(\.1))
      for number in 0..<40 { #expect(object["n\(number)"]?.integer == model.first { $0.0 == "n\(number)" }?.1) }
    }
  }

  @Test func `random bytes give a value or an error, and a value survives being written`() {
    var random = SplitMix(seed: 3)
    let start = utf8(#"{"a":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00"],"b":{"c":{}},"d":"plain"}"#)
    var accepted = 0
    for _ in 0..<10_000 {
      var bytes = start
      for _ in 0...random.below(3) {
        let index = random.below(bytes.count)
        if random.oneIn(2) { bytes[index] = UInt8(random.below(256)) } else { bytes.remove(at: index) }
      }
      guard let value = try? JSONValue(json: bytes) else { continue }
      accepted += 1
      #expect((try? JSONValue(json: value.json())) == value)
    }
    #expect(accepted > 300)
  }
}
