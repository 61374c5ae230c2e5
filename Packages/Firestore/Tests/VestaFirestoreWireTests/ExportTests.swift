import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreWire

/// The files of exports, byte for byte as the emulator of the suite writes them.
@Suite struct ExportTests {
  private static let reference = "projects/demo-x/databases/(default)/documents/c/d/e/f"

  /// One field each, and the bytes of its property.
  private static let fields: [(name: String, value: Value, property: String)] = [
    ("n", .null, "7a071a016e20002a00"),
    ("t", .boolean(true), "7a091a017420002a021001"),
    ("f", .boolean(false), "7a091a016620002a021000"),
    ("i", .integer(-1), "7a121a016920002a0b08ffffffffffffffffff01"),
    ("d", .double(1.5), "7a101a016420002a0921000000000000f83f"),
    ("ts", .timestamp(Timestamp(microseconds: 1_700_000_000_123_456)), "7a1308071a02747320002a0908c0c480c1c1c48203"),
    ("s", .string("hi"), "7a0b1a017320002a041a026869"),
    (
      "g", .geoPoint(GeoPoint(latitude: 37.5, longitude: -122.25)),
      "7a1d08091a016720002a142b310000000000c04240390000000000905ec02c"
    ),
    ("r", .reference(reference), "7a271a017220002a20636a0a6465767e64656d6f2d78737a01638a01016474737a01658a0101667464"),
    (
      "a", .array([.integer(1), .string("x"), .map(["k": .integer(2)])]),
      "7a091a016120012a020801" + "7a0a1a016120012a031a0178"
        + "7a1f08131a016120012a161a146a046a0072007a091a016b20002a020802820100"
    ),
    (
      "m", .map(["k": .array([]), "o": .map([:])]),
      "7a3508131a016d20002a2c1a2a6a046a007200720908181a016b20002a007a1408131a016f20002a0b1a096a046a007200820100820100"
    ),
    ("z", .array([]), "720908181a017a20002a00"),
  ]

  @Test(arguments: fields.indices) func `a field has the bytes that the emulator writes`(index: Int) throws {
    let (name, value, property) = Self.fields[index]
    let entity = ExportEntity(path: ["c", "d"], fields: [name: value])
    let record = entity.record(project: "demo-x")
    let key = "6a166a0a6465767e64656d6f2d7872080b1201632201640c"
    #expect(Hex.encode(record) == key + property + "8201080b1201632201640c")
    #expect(try ExportEntity(record: record) == entity)
  }

  @Test func `a reference names a database by itself unless it is the default one`() throws {
    let name = "projects/demo-x/databases/other/documents/c/d"
    let entity = ExportEntity(path: ["c", "d"], fields: ["r": .reference(name)])
    let record = entity.record(project: "demo-x")
    // The group of the reference: the app (13), the path (14 with 15 and 17), and the database (23).
    let reference = "63" + "6a0a6465767e64656d6f2d78" + "737a01638a01016474" + "ba01056f74686572" + "64"
    #expect(Hex.encode(record).contains(reference))
    #expect(try ExportEntity(record: record) == entity)
  }

  @Test func `files have the bytes that the emulator writes`() throws {
    var log = ExportLogWriter()
    let first = log.frame(ExportEntity(path: ["c", "d"], fields: [:]).record(project: "demo-x"))
    #expect(
      Hex.encode(first)
        == "1dd0efb22300016a166a0a6465767e64656d6f2d7872080b1201632201640c8201080b1201632201640c")
    var other = ExportLogWriter()
    let second = other.frame(
      ExportEntity(path: ["c", "d", "e", "f"], fields: ["s": .string("hi")]).record(project: "demo-x"))
    #expect(
      Hex.encode(second)
        == "c43c73be3800016a1e6a0a6465767e64656d6f2d7872100b1201632201640c0b1201652201660c7a0b1a017320002a041a026869"
        + "8201080b1201632201640c")
    #expect(Hex.encode(ExportOverview(parts: []).bytes) == "b86d444e01000133" + "052b2843000001")
  }

  @Test func `metadata is read as it was written, and with the separators of Windows`() throws {
    let overview = ExportOverview(parts: [.init(path: "a/b", documents: 3, bytes: 400)])
    #expect(try ExportOverview(overview.bytes) == overview)
    let windows = ExportOverview(parts: [.init(path: "a\\b", documents: 3, bytes: 400)])
    #expect(try ExportOverview(windows.bytes) == overview)
    let part = ExportPartMetadata(files: ["output-0", "output-1"], start: 5, end: 7)
    #expect(try ExportPartMetadata(part.bytes(name: "firestore_export")) == part)
    // An empty kind is written.
    #expect(Hex.encode(part.bytes(name: "x")).hasSuffix("0a00" + "12086f75747075742d30" + "12086f75747075742d31"))
  }

  // MARK: Framing

  @Test func `records of all lengths survive a round trip, whatever the parts in which they are read`() throws {
    var random = SplitMix(seed: 7)
    // Around the ends of blocks, where headers do not fit, and with more than one block.
    let lengths = [0, 1, 32_754, 32_761, 0, 32_748, 5, 32_755, 100_000, 32_749, 3, 65_536, 2, 7, 32_762, 0]
    let records = lengths.map { random.bytes($0) }
    var log = ExportLogWriter()
    let file = records.flatMap { log.frame($0) }
    #expect(log.length == file.count)
    for size in [1 << 20, 32_768, 1_000, 7, 3] {
      for padding in [0, 32_768 - file.count % 32_768] {
        var reader = ExportLogReader()
        var found: [[UInt8]] = []
        let all = file + [UInt8](repeating: 0, count: padding)
        for start in stride(from: 0, to: all.count, by: size) {
          reader.feed(Array(all[start..<min(all.count, start + size)]))
          while let record = try reader.next() { found.append(record) }
        }
        try reader.finish()
        #expect(found == records, "in parts of \(size) bytes with \(padding) zeros")
      }
    }
  }

  @Test func `a file that is cut off or changed is an error, and never another record`() throws {
    var random = SplitMix(seed: 9)
    var log = ExportLogWriter()
    let file = [40, 0, 33_000, 12].map { random.bytes($0) }.flatMap { log.frame($0) }
    func records(_ bytes: [UInt8]) throws -> Int {
      var reader = ExportLogReader()
      reader.feed(bytes)
      var count = 0
      while try reader.next() != nil { count += 1 }
      try reader.finish()
      return count
    }
    #expect(try records(file) == 4)
    for end in [8, 46, 60, 20_000, file.count - 1] {
      #expect(throws: BytesError.self) { try records(Array(file[..<end])) }
    }
    for _ in 0..<200 {
      var changed = file
      let place = Int(random.next() % UInt64(file.count))
      changed[place] ^= UInt8(1 << (random.next() % 8))
      // The low bits of a length or a type may turn a record into padding, which ends the file early.
      if let count = try? records(changed) { #expect(count < 4) }
    }
  }

  @Test func `bytes of any kind are a document or an error`() {
    var random = SplitMix(seed: 11)
    let good = ExportEntity(path: ["c", "d"], fields: MapValue(Self.fields.map { ($0.name, $0.value) }))
      .record(project: "p")
    for _ in 0..<5_000 {
      var bytes = good
      for _ in 0..<(1 + random.next() % 4) {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() & 0xFF)
      }
      _ = try? ExportEntity(record: Array(bytes.prefix(Int(random.next() % UInt64(bytes.count + 1)))))
      _ = try? ExportEntity(record: bytes)
    }
  }

  // MARK: Files of other programs

  @Test func `the forms of other exporters are read`() throws {
    func entity(_ properties: String) throws -> MapValue {
      try ExportEntity(record: Hex.decode("6a0f6a03737e7072080b1201632201640c" + properties)).fields
    }
    // Bytes with either meaning, indexed or not; a numeric id; a name without `~`.
    #expect(try entity("7a0c080e1a016220002a031a01ff")["b"] == .bytes([0xFF]))
    #expect(try entity("720c08101a016220002a031a01ff")["b"] == .bytes([0xFF]))
    let numeric = try Hex.decode("6a0e6a03737e7072070b12016318070c")
    #expect(try ExportEntity(record: numeric).path == ["c", "__id7__"])
    // Elements of one array apart from each other.
    let apart = "7a091a016120012a020801" + "7a071a016e20002a00" + "7a091a016120012a020802"
    #expect(try entity(apart) == ["a": .array([.integer(1), .integer(2)]), "n": .null])
    // Not a number has one form.
    let nan = ExportEntity(path: ["c", "d"], fields: ["x": .double(-.nan)]).record(project: "p")
    #expect(Hex.encode(nan).contains("21000000000000f87f"))
  }
}
