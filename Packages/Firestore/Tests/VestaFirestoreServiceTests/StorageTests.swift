import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

struct StorageTests {
  private func path(_ data: inout SplitMix) -> ResourcePath {
    let segments = ["a", "b", "a\u{0}", "ab", "é", "e\u{301}", "__id2__", "__id10__", "__id-3__", "😀", "\u{FFFD}"]
    return ResourcePath((0..<data.pick([2, 2, 4, 6])).map { _ in data.pick(segments) })
  }

  @Test(arguments: [UInt64(41), 42])
  func `path keys of one collection are in the order of names`(seed: UInt64) throws {
    var data = SplitMix(seed: seed)
    for _ in 0..<3000 {
      let (left, right) = (path(&data), path(&data))
      #expect(try PathKey(left).path() == left)
      #expect((PathKey(left) == PathKey(right)) == (left == right), "seed \(seed): \(left) \(right)")
      guard left.parent == right.parent else { continue }
      let isBefore = PathKey(left).bytes.lexicographicallyPrecedes(PathKey(right).bytes)
      #expect(isBefore == (left < right), "seed \(seed): \(left) \(right)")
    }
  }

  @Test func `the range of a collection holds its documents and nothing below them`() {
    let keys = DocumentDatabaseKeys(1)
    let range = keys.documents(of: ResourcePath(["rooms"]))
    #expect(range.contains(keys.document(PathKey(ResourcePath(["rooms", "a"])))))
    #expect(!range.contains(keys.document(PathKey(ResourcePath(["rooms", "a", "messages", "m"])))))
    #expect(!range.contains(keys.document(PathKey(ResourcePath(["roomsx", "a"])))))
    let below = keys.documents(below: ResourcePath(["rooms", "a"]))
    #expect(below.contains(keys.document(PathKey(ResourcePath(["rooms", "a", "messages", "m"])))))
    #expect(!below.contains(keys.document(PathKey(ResourcePath(["rooms", "a"])))))
  }

  @Test func `keys can be read by people`() {
    let key = DocumentDatabaseKeys(7).document(PathKey(ResourcePath(["rooms", "__id2__"])))
    #expect(Keys.describe(key) == "documents(7, \"rooms\", null, 2)")
  }

  @Test func `events follow the log of every database and before all indexes`() {
    let (first, last) = (DocumentDatabaseKeys(1), DocumentDatabaseKeys(.max))
    for keys in [first, last] {
      #expect(keys.log(LogPosition(version: .max, part: .max)).lexicographicallyPrecedes(Keys.outbox))
      #expect(KeyRange(prefix: Keys.outbox).upper?.lexicographicallyPrecedes(keys.index(0)) == true)
      #expect(!keys.log(after: 0).contains(Keys.outbox + [0]))
    }
    #expect(Keys.describe(Keys.outbox).hasPrefix("outbox"))
  }

  @Test func `rows survive a round trip`() throws {
    var data = SplitMix(seed: 7)
    for number in 0..<300 {
      let row = DocumentRow(created: Int64(number), updated: .max - Int64(number), fields: data.fields())
      #expect(try DocumentRow(row.bytes) == row)
      #expect(try DocumentRow.version(of: row.bytes) == row.updated)
    }
    let log = LogRow(changes: [
      LoggedChange(pathKey: PathKey(bytes: [1, 2]), before: nil),
      LoggedChange(pathKey: PathKey(bytes: []), before: [0, 9]),
    ])
    #expect(try LogRow(log.bytes) == log)
  }

  @Test func `a row of an index that was cut is damaged`() throws {
    let parts = [IndexShape.Part(path: try FieldPath(parsing: "a.b"), kind: .contains)]
    let shape = IndexShape(collectionID: "rooms", isGroup: true, parts: parts, isNameDescending: true)
    let pathKey = PathKey(ResourcePath(["rooms", "a"]))
    let states: [IndexRow.Progress] = [.ready, .leaving, .unfit, .building(after: nil), .building(after: pathKey)]
    for row in states.map({ IndexRow(shape: shape, progress: $0, lastUsed: 7) }) {
      let bytes = try row.bytes
      #expect(try IndexRow(bytes) == row)
      for length in bytes.indices {
        #expect(throws: FirestoreServiceError.self) { try IndexRow(Array(bytes.prefix(length))) }
      }
    }
  }

  @Test func `a damaged document is reported with its name and the reason`() async throws {
    let store = ModelStore()
    try await makeEngine(on: store).commit(update("rooms/a", ["n": .integer(1)]))
    let key = DocumentDatabaseKeys(1).document(PathKey(try ResourceName(document: name("rooms/a")).path))
    let row = try #require(try await store.get(key))
    try await store.put(Array(row.dropLast()), for: key)
    let engine = makeEngine(on: store)
    for read in [
      { _ = try await engine.get("rooms/a") }, { _ = try await engine.query(.all("rooms")) },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: FirestoreServiceError.self) { try await read() }
      #expect(error?.code == .dataLoss)
      #expect(error?.message.contains("rooms/a") == true && error?.message.contains("end inside a value") == true)
    }
  }

  /// Bytes that no engine wrote give an error, or some row; never a crash.
  @Test(arguments: [UInt64(51), 52])
  func `damaged rows are errors`(seed: UInt64) {
    var data = SplitMix(seed: seed)
    var refused = 0
    for _ in 0..<4000 {
      var bytes = DocumentRow(created: 1, updated: 2, fields: data.fields()).bytes
      let pathKey = data.pick(Array(bytes.indices))
      bytes[pathKey] = UInt8.random(in: 0...255, using: &data)
      if data.pick([true, false]) { bytes.removeLast(data.pick(Array(0..<bytes.count))) }
      for read in [
        { _ = try DocumentRow(bytes) }, { _ = try LogRow(bytes) }, { _ = try IndexRow(bytes) },
        { _ = try ChangeRow(bytes) }, { _ = try AnswerRow(row: bytes) },
      ] as [() throws -> Void] {
        do { try read() } catch { refused += 1 }
      }
    }
    #expect(refused > 1000, "seed \(seed)")
  }

  @Test func `a large commit is logged in parts`() async throws {
    let store = ModelStore()
    let engine = makeEngine(on: store)
    let text = String(repeating: "x", count: 200_000)
    let writes = (0..<6).map { update("rooms/\($0)", ["t": .string(text)]) }
    _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    let deletes = (0..<6).map { Write.delete(name("rooms/\($0)")) }
    let time = try await engine.commit(CommitRequest(database: database, writes: deletes), context: owner).commitTime
    let keys = try await engine.engine(database).keys
    let version = try #require(time.microseconds)
    let parts = try await store.read { try await $0.entries(in: keys.log(after: version - 1)) }
    #expect(parts.count > 1)
    #expect(try await engine.query(.all("rooms"), .readTime(Timestamp(microseconds: version - 1))).count == 6)
  }

  @Test func `the value of an entry says of each part whether it is a double`() {
    let pathKey = PathKey(ResourcePath(["rooms", "a"]))
    for count in [1, 2, 9, 17] {
      for bits in [Set<Int>(), [0], [count - 1], [0, count - 1], Set(0..<count)] {
        let bytes = EntryValue(pathKey: pathKey, doubles: (0..<count).map { bits.contains($0) }).bytes
        #expect(EntryValue.pathKey(bytes) == pathKey)
        for part in 0..<count + 8 { #expect(EntryValue.isDouble(bytes, part: part) == bits.contains(part)) }
      }
    }
  }

  @Test func `a path key that was cut has a prefix all the same`() {
    let pathKey = PathKey(ResourcePath(["rooms", "a", "members", "b"]))
    for length in pathKey.bytes.indices {
      let cut = PathKey(bytes: Array(pathKey.bytes.prefix(length)))
      #expect(cut.bytes.starts(with: cut.collectionPrefix))
    }
  }

  @Test(arguments: [Int64.min, -70_000, -1, 0, 7, 255, 256, 0x0100_0501, 1 << 40, .max])
  func `the path keys of a collection begin with its prefix, whatever number names what it is in`(number: Int64) {
    for collection in [["__id\(number)__"], ["rooms", "__id\(number)__", "members"]] {
      let path = ResourcePath(collection)
      for document in ["b", "__id\(number)__"] {
        #expect(PathKey(path.appending(document)).collectionPrefix == PathKey.prefix(of: path))
      }
    }
  }
}
