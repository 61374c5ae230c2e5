import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

struct DeclaredIndexTests {
  private static let file = """
    {
      // The indexes that the app needs.
      "indexes": [
        {
          "collectionGroup": "rooms", "queryScope": "COLLECTION", "density": "SPARSE_ALL",
          "fields": [
            { "fieldPath": "kind", "order": "ASCENDING" },
            { "fieldPath": "a.`b c`", "order": "DESCENDING" },
          ]
        },
        {
          "collectionGroup": "rooms", "queryScope": "COLLECTION_GROUP",
          "fields": [
            { "fieldPath": "tags", "arrayConfig": "CONTAINS" }, { "fieldPath": "n", "order": "ASCENDING" },
            { "fieldPath": "__name__", "order": "DESCENDING" }
          ]
        },
        {
          "collectionId": "rooms",
          "fields": [
            { "fieldPath": "kind", "mode": "ASCENDING" },
            { "fieldPath": "spot", "vectorConfig": { "dimension": 3, "flat": {} } }
          ]
        }
      ],
      "fieldOverrides": [
        { "collectionGroup": "rooms", "fieldPath": "notes", "ttl": true, "indexes": [] },
        {
          "collectionGroup": "rooms", "fieldPath": "n",
          "indexes": [
            { "order": "ASCENDING", "queryScope": "COLLECTION" }, { "order": "ASCENDING", "queryScope": "COLLECTION_GROUP" },
            { "order": "DESCENDING", "queryScope": "COLLECTION_GROUP" }
          ]
        }
      ]
    }
    """

  @Test func `the index file of Firebase is read`() throws {
    let indexes = try FirestoreIndexes(json: DeclaredIndexTests.file)
    let expected = FirestoreIndexes(
      indexes: [
        try .init(collectionGroup: "rooms", fields: [.init("kind", .ascending), .init("a.`b c`", .descending)]),
        try .init(
          collectionGroup: "rooms", scope: .collectionGroup,
          fields: [.init("tags", .contains), .init("n", .ascending), .init("__name__", .descending)]),
        try .init(
          collectionGroup: "rooms", fields: [.init("kind", .ascending), .init("spot", .vector(dimension: 3))]),
      ],
      fieldOverrides: [
        try .init(collectionGroup: "rooms", fieldPath: "notes", indexes: [], isTimeToLive: true),
        try .init(
          collectionGroup: "rooms", fieldPath: "n",
          indexes: [
            .init(.ascending), .init(scope: .collectionGroup, .ascending), .init(scope: .collectionGroup, .descending),
          ]),
      ])
    #expect(indexes == expected)
    #expect(
      DeclaredIndexes(indexes).shapes.map(\.properties) == [
        "(kind ASC, a.`b c` DESC, __name__ DESC)", "(tags CONTAINS, n ASC, __name__ DESC)", "(kind ASC, __name__ ASC)",
        "(n ASC, __name__ ASC)",
      ])
  }

  @Test(arguments: [
    ("{", "malformed", ""),
    ("[]", "invalid-entry", ""),
    (#"{"indexes": {}}"#, "invalid-entry", "indexes"),
    (#"{"indexes": [{"fields": []}]}"#, "invalid-entry", "indexes[0]"),
    (#"{"indexes": [{"collectionGroup": "a", "fields": []}]}"#, "invalid-index", "indexes[0]"),
    (#"{"indexes": [{"collectionGroup": "a/b", "fields": []}]}"#, "invalid-collection", "indexes[0]"),
    (
      #"{"indexes": [{"collectionGroup": "a", "fields": [{"fieldPath": "a"}]}]}"#, "invalid-entry",
      "indexes[0].fields[0]"
    ),
    (
      #"{"indexes": [{"collectionGroup": "a", "fields": [{"fieldPath": "a", "order": "UP"}]}]}"#, "invalid-entry",
      "indexes[0].fields[0].order"
    ),
    (
      #"{"indexes": [{"collectionGroup": "a", "fields": [{"fieldPath": "a..b", "order": "ASCENDING"}]}]}"#,
      "invalid-field", "indexes[0].fields[0]"
    ),
    (
      #"{"indexes": [{"collectionGroup": "a", "queryScope": "ALL", "fields": [{"fieldPath": "a", "order": "ASCENDING"}]}]}"#,
      "invalid-entry", "indexes[0].queryScope"
    ),
    (
      #"{"indexes": [{"collectionGroup": "a", "fields": [{"fieldPath": "v", "vectorConfig": {"dimension": 0}}]}]}"#,
      "invalid-field", "indexes[0].fields[0]"
    ),
    (
      #"{"indexes": [{"collectionGroup": "a", "density": "DENSE", "fields": []}]}"#, "unsupported", "indexes[0].density"
    ),
    (
      #"{"fieldOverrides": [{"collectionGroup": "a", "fieldPath": "b", "indexes": [{"order": 1}]}]}"#, "invalid-entry",
      "fieldOverrides[0].indexes[0].order"
    ),
    (#"{"fieldOverrides": [{"collectionGroup": "a", "fieldPath": "b"}]}"#, "invalid-entry", "fieldOverrides[0]"),
  ])
  func `mistakes name the entry`(text: String, code: String, entry: String) {
    let error = #expect(throws: FirestoreIndexesError.self) { try FirestoreIndexes(json: text) }
    #expect(error?.code.description == code)
    #expect(error?.entry == entry)
  }

  private func engine(
    _ indexes: FirestoreIndexes, _ clock: ManualClock = ManualClock(), store: ModelStore = ModelStore()
  ) -> FirestoreEngine {
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 1
    options.clock = clock.service
    options.indexes = indexes
    return FirestoreEngine(store: store, options: options)
  }

  private func explained(_ engine: FirestoreEngine, _ query: StructuredQuery) async throws -> ExplainMetrics {
    var metrics: ExplainMetrics?
    let request = RunQueryRequest(parent: root, query: query, explain: ExplainOptions(analyze: true))
    try await engine.runQuery(request, context: owner) { metrics = $0.explainMetrics ?? metrics }
    return try #require(metrics)
  }

  @Test func `declared indexes are made at the start and stay`() async throws {
    let clock = ManualClock()
    let store = ModelStore()
    let first = engine(FirestoreIndexes(), clock, store: store)
    for number in 0..<20 {
      try await first.commit(
        update("rooms/\(number)", ["kind": .integer(Int64(number % 2)), "n": .integer(Int64(number))]))
    }
    let indexes = FirestoreIndexes(indexes: [
      try .init(collectionGroup: "rooms", fields: [.init("kind", .descending), .init("n", .descending)])
    ])
    let second = engine(indexes, clock, store: store)
    try await second.engine(database).indexes.settle()
    var query = StructuredQuery.all("rooms")
    query.filter = .field(path: "kind", .equal, .integer(1))
    query.orderBy = [.init(fieldPath: "n")]
    query.limit = 3
    for _ in 0..<10 {
      // An index that is used, so that the others are looked at.
      _ = try await second.query(
        StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")]))
      try await second.engine(database).indexes.settle()
      clock.advance(seconds: 86_400)
    }
    let metrics = try await explained(second, query)
    #expect(metrics.executionStats?.readOperations == 3)
    #expect(
      metrics.indexesUsed.map { $0["properties"] } == [.string("(kind DESC, n DESC, __name__ DESC)")])
    #expect(try await second.query(query).map(\.name) == [1, 3, 5].map { name("rooms/\($0)") })
  }

  @Test func `an exempt field has no index`() async throws {
    let indexes = FirestoreIndexes(fieldOverrides: [
      try .init(collectionGroup: "rooms", fieldPath: "notes", indexes: [])
    ])
    let engine = engine(indexes)
    for number in 0..<30 {
      try await engine.commit(
        update(
          "rooms/\(number)",
          ["notes": .map(["x": .integer(Int64(number % 3))]), "kind": .integer(Int64(number % 5))]))
    }
    var query = StructuredQuery.all("rooms")
    query.filter = .field(path: "notes.x", .equal, .integer(1))
    for _ in 0..<2 {
      #expect(try await explained(engine, query).executionStats?.readOperations == 30)
      try await engine.engine(database).indexes.settle()
    }
    // Together with another field, that field finds the documents.
    query.filter = .composite(
      .and, [.field(path: "notes.x", .equal, .integer(1)), .field(path: "kind", .equal, .integer(2))])
    _ = try await engine.query(query)
    try await engine.engine(database).indexes.settle()
    let metrics = try await explained(engine, query)
    #expect(metrics.executionStats?.readOperations == 6)
    #expect(metrics.executionStats?.resultsReturned == 2)
  }
}
