import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

@testable import VestaFirestoreService

/// Documents whose rows cannot be read.
struct DamagedRowTests {
  private let engine: FirestoreEngine
  private let isDeclared: Bool

  private init(isDeclared: Bool) async throws {
    let declared = FirestoreIndexes(indexes: [
      try .init(collectionGroup: "rooms", fields: [.init("b", .ascending), .init("c", .ascending)])
    ])
    engine = makeEngine { if isDeclared { $0.indexes = declared } }
    self.isDeclared = isDeclared
    try await engine.commit(update("rooms/a", Self.fields(2)), update("rooms/b", Self.fields(2)))
    _ = try await rooms(2)
    try await base.indexes.settle()
  }

  init() async throws { try await self.init(isDeclared: false) }

  private static func fields(_ number: Int64) -> MapValue { ["b": .integer(number), "c": .integer(number)] }

  private var base: DocumentDatabase { get async throws { try await engine.engine(database) } }

  /// The names of the rooms with a number, in an order that an index has.
  private func rooms(_ number: Int64) async throws -> [String] {
    var query = StructuredQuery.all("rooms")
    query.filter = .field(path: "b", .equal, .integer(number))
    query.orderBy = [.init(fieldPath: "c")]
    return try await engine.query(query).map { String($0.name.dropFirst(root.count + 1)) }
  }

  private func damage(_ path: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]) async throws {
    let key = try await base.keys.document(PathKey(ResourcePath(splitting: path)))
    try await base.store.write { transaction in
      let row = try #require(try await transaction.get(key))
      try await transaction.put(change(row), for: key)
    }
  }

  /// The times stay; the fields go.
  private static let unreadableFields: @Sendable ([UInt8]) -> [UInt8] = {
    Array($0.prefix(16)) + [0xFF, 0xFF, 0xFF, 0xFF]
  }

  private func indexes() async throws -> [IndexRow] {
    let base = try await base
    return try await base.store.read { reader in
      try await reader.entries(in: KeyRange(prefix: base.keys.indexes)).map { try IndexRow($0.value) }
    }
  }

  private func entryCount() async throws -> Int {
    let base = try await base
    return try await base.store.read { try await $0.entries(in: KeyRange(prefix: base.keys.entries)).count }
  }

  @Test(arguments: [false, true], [false, true])
  func `a document of an index that cannot be read is replaced or deleted`(
    isDeclared: Bool, isDeletion: Bool
  ) async throws {
    let tests = try await DamagedRowTests(isDeclared: isDeclared)
    #expect(try await tests.indexes().map(\.progress) == [.ready])
    try await tests.damage("rooms/a", Self.unreadableFields)
    try await tests.engine.commit(isDeletion ? .delete(name("rooms/a")) : update("rooms/a", Self.fields(3)))
    // With the index of before, without one, and with the new one.
    for _ in 0..<3 {
      #expect(try await tests.rooms(2) == ["rooms/b"])
      #expect(try await tests.rooms(3) == (isDeletion ? [] : ["rooms/a"]))
      try await tests.base.indexes.settle()
    }
    #expect(try await tests.indexes().map(\.progress) == [.ready])
    #expect(try await tests.entryCount() == (isDeletion ? 1 : 2))
  }

  @Test func `a row that is too short for its times is replaced`() async throws {
    try await damage("rooms/a") { Array($0.prefix(5)) }
    try await engine.commit(update("rooms/a", Self.fields(3)))
    #expect(try await rooms(3) == ["rooms/a"])
    #expect(try await engine.get("rooms/a")?.fields == Self.fields(3))
  }

  @Test func `a write that needs the fields of an unreadable document names the document`() async throws {
    try await damage("rooms/a", Self.unreadableFields)
    let write = Write.update(
      Document(name: name("rooms/a"), fields: ["b": .integer(4)]), mask: DocumentMask(fieldPaths: ["b"]))
    let failure = await failure { try await engine.commit(write) }
    #expect(failure?.code == .dataLoss)
    #expect(failure?.message.contains("rooms/a") == true)
    #expect(try await engine.get("rooms/b")?.fields == Self.fields(2))
  }
}
