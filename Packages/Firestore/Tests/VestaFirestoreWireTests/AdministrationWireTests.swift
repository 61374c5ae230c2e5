import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreWire

/// The messages of administration in both forms.
@Suite struct AdministrationWireTests {
  private func index() -> AdminIndex {
    var index = AdminIndex()
    (index.name, index.scope, index.state) = ("i", .collectionGroup, .ready)
    index.fields = [
      .init("a", .ascending), .init("b", .descending), .init("c", .contains), .init("d", .vector(dimension: 3)),
    ]
    return index
  }

  private func check<Schema: ProtobufSchema>(
    _ message: Schema.Message, _ schema: Schema.Type
  ) throws where Schema.Message: Equatable {
    #expect(try Schema.message(from: Schema.bytes(of: message)) == message)
    #expect(try Schema.message(json: Schema.json(of: message)) == message)
  }

  @Test func `an index has the bytes and the JSON of the published definition`() throws {
    let bytes: [UInt8] = [
      0x0A, 1, 0x69, 0x10, 2,
      0x1A, 5, 0x0A, 1, 0x61, 0x10, 1, 0x1A, 5, 0x0A, 1, 0x62, 0x10, 2, 0x1A, 5, 0x0A, 1, 0x63, 0x18, 1,
      0x1A, 9, 0x0A, 1, 0x64, 0x22, 4, 0x08, 3, 0x12, 0, 0x20, 2,
    ]
    #expect(try IndexWire.bytes(of: index()) == bytes)
    let json: JSONValue = [
      "name": "i", "queryScope": "COLLECTION_GROUP",
      "fields": [
        ["fieldPath": "a", "order": "ASCENDING"], ["fieldPath": "b", "order": "DESCENDING"],
        ["fieldPath": "c", "arrayConfig": "CONTAINS"],
        ["fieldPath": "d", "vectorConfig": ["dimension": 3, "flat": [:]]],
      ], "state": "READY",
    ]
    #expect(try JSONValue(json: IndexWire.json(of: index())) == json)
    try check(index(), IndexWire.self)
  }

  @Test func `numbers of enumerations are read in JSON, as clients send them`() throws {
    let json = #"{"queryScope":1,"fields":[{"fieldPath":"a","order":2},{"fieldPath":"b","arrayConfig":1}]}"#
    let index = try IndexWire.message(json: Array(json.utf8))
    #expect(index.scope == .collection && index.fields == [.init("a", .descending), .init("b", .contains)])
    #expect(throws: BytesError.self) { try IndexWire.message(json: Array(#"{"fields":[{"order":0}]}"#.utf8)) }
    #expect(throws: BytesError.self) { try IndexWire.message(json: Array(#"{"queryScope":9}"#.utf8)) }
  }

  @Test func `fields, databases and requests are the same after a way over the wire`() throws {
    var field = AdminField()
    field.name = "f"
    field.indexConfig = AdminField.IndexConfig()
    field.indexConfig?.indexes = [index()]
    field.indexConfig?.ancestorField = "a"
    field.timeToLive = .active
    try check(field, FieldWire.self)
    var update = UpdateFieldRequest()
    (update.field, update.mask) = (field, ["index_config", "ttl_config.state"])
    try check(update, UpdateFieldRequestWire.self)
    var database = AdminDatabase()
    (database.name, database.uid, database.locationID, database.etag) = ("d", "u", "nam5", "e")
    (database.kind, database.concurrency, database.recovery) = (.datastore, .optimisticWithEntityGroups, .enabled)
    (database.appEngine, database.deleteProtection, database.edition) = (.enabled, .enabled, .enterprise)
    (database.createTime, database.versionRetention) = (Timestamp(seconds: 5, nanos: 1_000), .seconds(3_600))
    (database.encryptionKey, database.keyPrefix) = ("k", "v")
    try check(database, DatabaseWire.self)
    try check([database, AdminDatabase()], ListDatabasesResponseWire.self)
    var create = CreateDatabaseRequest()
    (create.parent, create.database, create.databaseID) = ("p", database, "notes")
    try check(create, CreateDatabaseRequestWire.self)
    var page = PageRequest()
    (page.parent, page.filter, page.pageSize, page.pageToken) = ("p", "f", 7, "t")
    try check(page, PageRequestWire.self)
    try check(page, ListOperationsRequestWire.self)
    #expect(try ListOperationsRequestWire.bytes(of: page) == [0x0A, 1, 0x66, 0x10, 7, 0x1A, 1, 0x74, 0x22, 1, 0x70])
  }

  @Test func `a mask is one string in JSON, in camel case`() throws {
    var update = UpdateFieldRequest()
    update.mask = ["index_config", "ttl_config"]
    let json = try JSONValue(json: UpdateFieldRequestWire.json(of: update))
    #expect(json.object?["updateMask"] == "indexConfig,ttlConfig")
    update.mask = []
    #expect(try UpdateFieldRequestWire.message(from: UpdateFieldRequestWire.bytes(of: update)).mask == [])
  }

  @Test func `an operation carries messages of any type, with their fields in JSON`() throws {
    var operation = AdminOperation(name: "o")
    var metadata = IndexOperationMetadata()
    (metadata.resource, metadata.state, metadata.startTime) = ("i", .successful, Timestamp(seconds: 1))
    operation.metadata = try AnyMessage("google.m", metadata, IndexOperationMetadataWire.self)
    operation.isDone = true
    operation.outcome = .response(try AnyMessage("google.i", index(), IndexWire.self))
    let json = try JSONValue(json: OperationWire.json(of: operation)).object
    #expect(json?["response"]?.object?["@type"] == "type.googleapis.com/google.i")
    #expect(json?["response"]?.object?["state"] == "READY" && json?["done"] == true)
    for read in [
      try OperationWire.message(from: OperationWire.bytes(of: operation)),
      try OperationWire.message(json: OperationWire.json(of: operation)),
    ] {
      #expect(read.metadata?.type == "google.m")
      #expect(try read.metadata?.message(IndexOperationMetadataWire.self) == metadata)
      guard case .response(let response)? = read.outcome else { continue }
      #expect(try response.message(IndexWire.self) == index())
    }
    operation.outcome = .failure(ProtobufStatus(code: 5, message: "none"))
    let failed = try OperationWire.message(from: OperationWire.bytes(of: operation))
    #expect(failed.outcome == .failure(ProtobufStatus(code: 5, message: "none")))
  }

  @Test func `parts of messages and random bytes are refused or read, and nothing else`() throws {
    let bytes = try IndexWire.bytes(of: index())
    for count in bytes.indices { _ = try? IndexWire.message(from: Array(bytes[..<count])) }
    var generator = SplitMix(seed: 1)
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      _ = try? IndexWire.message(from: bytes)
      _ = try? OperationWire.message(from: bytes)
      _ = try? DatabaseWire.message(from: bytes)
      _ = try? UpdateFieldRequestWire.message(from: bytes)
    }
  }
}
