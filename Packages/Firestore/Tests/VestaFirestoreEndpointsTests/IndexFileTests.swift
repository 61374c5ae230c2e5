import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreReference
import VestaFirestoreWire
import VestaServiceInterop

@testable import VestaFirestoreEndpoints

/// Changes of the text that declares indexes.
@Suite struct IndexFileTests {
  private let database = "projects/p/databases/(default)"

  private static let text = """
    {
      // Found by every query of the list.
      "indexes": [
        {"collectionGroup": "a", "queryScope": "COLLECTION", "density": "SPARSE_ALL", "fields": [
          {"fieldPath": "n", "order": "ASCENDING"}, {"fieldPath": "m", "order": "DESCENDING"}]},
        {"collectionId": "b", "fields": [{"fieldPath": "x//y", "mode": "ARRAY_CONTAINS"}, {"fieldPath": "z", "mode": "ASCENDING"}]}
      ],
      "fieldOverrides": [ /* none * but one */
        {"collectionGroup": "a", "fieldPath": "m", "ttl": false, "indexes": [{"order": "ASCENDING", "queryScope": "COLLECTION_GROUP"}]}
      ]
    }
    """

  private func index(_ fields: AdminIndex.Field...) -> AdminIndex {
    var index = AdminIndex()
    (index.scope, index.fields) = (.collection, fields)
    return index
  }

  private func refused(_ body: () throws -> Void) -> ServiceCode? {
    do {
      try body()
      return nil
    } catch {
      return (error as? ServiceStatus)?.code
    }
  }

  @Test func `the indexes of a text with comments and old names are listed with the name of documents`() throws {
    let file = try IndexFile(Self.text, of: database)
    let all = file.indexes(of: "-")
    #expect(all.map { $0.fields.map(\.fieldPath) } == [["n", "m", "__name__"], ["x//y", "z", "__name__"]])
    #expect(
      all[0].fields.last?.mode == .descending && all[1].fields.map(\.mode) == [.contains, .ascending, .ascending])
    #expect(file.indexes(of: "b") == [all[1]] && file.indexes(of: "c") == [])
    #expect(all[0].name.hasPrefix("\(database)/collectionGroups/a/indexes/"))
  }

  @Test func `a change leaves everything else of the text`() throws {
    var file = try IndexFile(Self.text, of: database)
    let added = try file.add(index(.init("k", .ascending), .init("l", .ascending)), to: "c")
    try file.remove(AdminName(file.indexes(of: "b")[0].name, in: "indexes"))
    file.set([], of: "k", in: "c")
    let root = try JSONObject(json: Array(file.text.utf8))
    #expect(root["indexes"]?.array?.count == 2 && root["fieldOverrides"]?.array?.count == 2)
    #expect(root["indexes"]?.array?[0].object?["density"] == "SPARSE_ALL")
    #expect(root["fieldOverrides"]?.array?[0].object?["ttl"] == false)
    let again = try IndexFile(file.text, of: database)
    #expect(again.indexes(of: "c") == [added] && again.indexes(of: "b") == [])
    #expect(again.field("k", in: "c").indexConfig?.indexes == [])
  }

  @Test func `a file that is added keeps other indexes, replaces the indexes of its fields, and changes nothing twice`()
    throws
  {
    var file = try IndexFile(Self.text, of: database)
    let made = try file.add(index(.init("k", .ascending), .init("l", .ascending)), to: "c")
    file.set([], of: "k", in: "c")
    let text = """
      {"indexes": [
        {"collectionGroup": "a", "fields": [{"fieldPath": "n", "order": "ASCENDING"}, {"fieldPath": "m", "order": "DESCENDING"},
          {"fieldPath": "__name__", "order": "DESCENDING"}]},
        {"collectionGroup": "d", "fields": [{"fieldPath": "n", "order": "ASCENDING"}, {"fieldPath": "m", "order": "ASCENDING"}]}],
       "fieldOverrides": [{"collectionGroup": "a", "fieldPath": "m", "indexes": []}]}
      """
    file.add(try IndexFile(text, of: database))
    #expect(file.indexes(of: "a").count == 1 && file.indexes(of: "b").count == 1 && file.indexes(of: "d").count == 1)
    #expect(file.indexes(of: "c") == [made])
    #expect(file.field("m", in: "a").indexConfig?.indexes == [] && file.field("k", in: "c").indexConfig?.indexes == [])
    let once = try file.text
    file.add(try IndexFile(text, of: database))
    #expect(try file.text == once)
  }

  @Test func `a deployment keeps the text of the file, and what was made after it`() async throws {
    let admin = FakeFirestoreAdmin(ReferenceBackend())
    func deploy(_ text: String) async throws -> String? {
      try await IndexDeployment.deploy(text, to: database, of: admin, context: .owner)
      return try await admin.indexes(of: database, context: .owner)
    }
    #expect(try await deploy(Self.text) == Self.text)
    #expect(try await deploy(Self.text) == Self.text)
    var file = try IndexFile(Self.text, of: database)
    let made = try file.add(index(.init("k", .ascending), .init("l", .ascending)), to: "c")
    try await admin.setIndexes(try file.text, of: database, context: .owner)
    let kept = try IndexFile(try await deploy(Self.text), of: database)
    #expect(kept.indexes(of: "c") == [made] && kept.indexes(of: "-").count == 3)
    await #expect(throws: ServiceStatus.self) { try await deploy("{unquoted: 1}") }
    try await admin.setIndexes("{unquoted: 1}", of: database, context: .owner)
    #expect(try await deploy(Self.text) == Self.text)
  }

  @Test func `an index is itself, with and without the name that follows from its fields`() throws {
    var file = try IndexFile(nil, of: database)
    let plain = index(.init("a", .ascending), .init("b", .descending))
    let made = try file.add(plain, to: "c")
    #expect(made.id == plain.id && made.state == .ready)
    var full = plain
    full.fields.append(.init("__name__", .descending))
    #expect(refused { _ = try file.add(full, to: "c") } == .alreadyExists)
    full.fields[2].mode = .ascending
    #expect(try file.add(full, to: "c").name != made.name)
    var group = plain
    group.scope = .collectionGroup
    #expect(try file.add(group, to: "c").name != made.name)
    let vector = index(.init("a", .ascending), .init("__name__", .ascending), .init("v", .vector(dimension: 2)))
    let stored = try file.add(vector, to: "c")
    #expect(stored.fields == vector.fields && stored.declaredFields.count == 2)
    #expect(refused { try file.remove(AdminName("\(made.name)x", in: "indexes")) } == .notFound)
  }

  @Test func `a field has its own indexes, or its map's, its group's, or the usual ones`() throws {
    var file = try IndexFile(Self.text, of: database)
    let own = file.field("m", in: "a").indexConfig
    #expect(own?.usesAncestorConfig == false && own?.indexes.map(\.scope) == [.collectionGroup])
    #expect(file.field("m.x", in: "a").indexConfig?.ancestorField == "\(database)/collectionGroups/a/fields/m")
    #expect(file.field("mx", in: "a").indexConfig?.ancestorField == file.defaultField.name)
    file.set([], of: "*", in: "a")
    #expect(file.field("mx", in: "a").indexConfig?.ancestorField == "\(database)/collectionGroups/a/fields/*")
    #expect(file.field("mx", in: "a").indexConfig?.indexes == [])
    #expect(file.field("m.x", in: "a").indexConfig?.ancestorField == "\(database)/collectionGroups/a/fields/m")
    // Of several maps around it the nearest one decides.
    file.set([], of: "m.x", in: "a")
    #expect(file.field("m.x.y", in: "a").indexConfig?.ancestorField == "\(database)/collectionGroups/a/fields/m.x")
    #expect(file.field("m.xy", in: "a").indexConfig?.ancestorField == "\(database)/collectionGroups/a/fields/m")
    file.set(nil, of: "m.x", in: "a")
    #expect(
      file.field("mx", in: "b").indexConfig?.indexes.map(\.fields) == [
        [.init("mx", .ascending)], [.init("mx", .descending)], [.init("mx", .contains)],
      ])
    #expect(file.fields(of: "-").map(\.name).count == 2)
    file.set(nil, of: "m", in: "a")
    #expect(file.field("m", in: "a").indexConfig?.usesAncestorConfig == true)
  }

  @Test func `a text that is not JSON is not changed`() {
    #expect(refused { _ = try IndexFile("{'indexes': []}", of: database) } == .failedPrecondition)
    #expect(refused { _ = try IndexFile("{} /*", of: database) } == nil)
    #expect(refused { _ = try IndexFile("{\"a", of: database) } == .failedPrecondition)
  }

  @Test func `names are of a collection group or of a resource in it`() throws {
    let group = "\(database)/collectionGroups/a"
    #expect(try AdminName(group: group).group == "a")
    #expect(try AdminName("\(group)/fields/`a/b`.c", in: "fields").id == "`a/b`.c")
    for wrong in ["", database, "\(group)/", "\(group)/x", "projects//databases/d/collectionGroups/a"] {
      #expect(refused { _ = try AdminName(group: wrong) } == .invalidArgument, "\(wrong)")
    }
    #expect(refused { _ = try AdminName("\(group)/fields/a", in: "indexes") } == .invalidArgument)
  }
}
