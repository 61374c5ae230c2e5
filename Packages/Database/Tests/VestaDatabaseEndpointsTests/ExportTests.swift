import Testing
import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseWire
import VestaTesting

@testable import VestaDatabaseEndpoints

/// Files of an export: written and read in parts of any size, and refused where they are no tree.
@Suite struct ExportTests {
  private static func file(_ rows: [DatabaseRow], inPartsOf count: Int) -> [UInt8] {
    var writer = TreeFileWriter()
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: rows.count, by: count) {
      bytes += writer.add(Array(rows[start..<min(rows.count, start + count)]))
    }
    return bytes + writer.finish()
  }

  private static func rows(
    _ bytes: [UInt8], inPartsOf count: Int, _ tuning: DatabaseExportTuning = DatabaseExportTuning()
  ) throws(BytesError) -> [DatabaseRow] {
    var reader = TreeFileReader(tuning)
    var rows: [DatabaseRow] = []
    for start in stride(from: 0, to: bytes.count, by: count) {
      rows += try reader.rows(in: Array(bytes[start..<min(bytes.count, start + count)]))
    }
    return rows + (try reader.finish())
  }

  private static func sorted(_ rows: [DatabaseRow]) -> [DatabaseRow] { rows.sorted { $0.path.text < $1.path.text } }

  @Test(arguments: 0..<200) func `a file is the tree as format=export has it, and is read as it was`(seed: UInt64)
    throws
  {
    var random = SplitMix(seed: seed)
    let node = random.node(depth: 4)
    let rows = node.rows()
    let size = Int.random(in: 1...5, using: &random)
    let bytes = Self.file(rows, inPartsOf: size)
    let expected = try JSONValue(json: NodeWire.bytes(of: node))
    #expect(try JSONValue(json: bytes) == expected, "seed \(seed)")
    let read = try Self.rows(bytes, inPartsOf: size)
    #expect(Self.sorted(read) == Self.sorted(rows), "seed \(seed)")
  }

  @Test func `a file of a person is read: spaces, arrays, priorities before the members`() throws {
    let text =
      " {\r\n \"a\" : [ true , null, {\"b\":\"\\u00fc\\\"}\"} ],\t\"c\":{\".priority\":2,\"d\":1.5},"
      + "\"e\":{\".value\":-3,\".priority\":\"p\"},\"f\":{},\"g\":[],\"h\":{\".priority\":1}}\n"
    let rows: [DatabaseRow] = [
      DatabaseRow("a/0", .bool(true)), DatabaseRow("a/2/b", .string("ü\"}")), DatabaseRow("c/d", .double(1.5)),
      DatabaseRow("c", nil, priority: .int(2)), DatabaseRow("e", .int(-3), priority: .string("p")),
    ]
    for size in [1, 2, 3, 7, 1_000] { #expect(try Self.rows(Array(text.utf8), inPartsOf: size) == rows) }
    #expect(try Self.rows(Array("null".utf8), inPartsOf: 1).isEmpty)
    #expect(try Self.rows(Array("12".utf8), inPartsOf: 1) == [DatabaseRow("", .int(12))])
    #expect(Self.file([], inPartsOf: 1) == Array("null".utf8))
  }

  @Test func `a file that is cut anywhere, or is no tree, is an error`() {
    let whole = Array(#"{"a":[1,{"b":"x"}],"c":{".value":true,".priority":1}}"#.utf8)
    for count in 0..<whole.count {
      #expect(throws: BytesError.self) { try Self.rows(Array(whole[..<count]), inPartsOf: 3) }
    }
    for text in [
      "{\"a\":1}}", "{\"a\":1,}", "{a:1}", "[1 2]", "{\"a\" 1}", "]", "{\"a\":1]", "nul", "{\"a\":.5}", "{\"a\":1} 2",
      "{\".sv\":\"timestamp\"}", "{\".value\":1,\"a\":2}", "{\".priority\":{\"a\":1}}", "{1:2}", "\"\\x\"", ",", ":",
      "{\"a\":\"b\"\"c\"}", "1\"2\"",
    ] {
      #expect(throws: BytesError.self, "\(text)") { try Self.rows(Array(text.utf8), inPartsOf: 1) }
    }
  }

  @Test func `a file cannot take more memory than its limits`() {
    var tuning = DatabaseExportTuning()
    (tuning.deepest, tuning.longestValue) = (5, 20)
    let nested = { (levels: Int) in
      Array((String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)).utf8)
    }
    #expect(throws: Never.self) { try Self.rows(nested(5), inPartsOf: 1, tuning) }
    #expect(throws: BytesError.self) { try Self.rows(nested(6), inPartsOf: 1, tuning) }
    #expect(throws: BytesError.self) {
      try Self.rows(Array(repeating: UInt8(ascii: "["), count: 1_000), inPartsOf: 1, tuning)
    }
    #expect(throws: BytesError.self) {
      try Self.rows([UInt8(ascii: "\"")] + Array(repeating: 120, count: 1_000), inPartsOf: 100, tuning)
    }
  }

  @Test(arguments: 0..<300) func `no bytes stop the reader`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    let alphabet = Array("{}[]\",:\\u0a1.-enultrfs \u{0}\u{ff}".utf8)
    let bytes = (0..<Int.random(in: 1...60, using: &random)).map { _ in
      alphabet.randomElement(using: &random) ?? 0
    }
    _ = try? Self.rows(bytes, inPartsOf: Int.random(in: 1...9, using: &random))
  }
}
