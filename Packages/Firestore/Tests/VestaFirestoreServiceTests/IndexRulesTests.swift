import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

struct IndexRulesTests {
  private static let database = "projects/example.com:id/databases/(default)"

  /// The refusal of a query by production's rules; `nil` when it is answered.
  private func refusal(
    _ query: StructuredQuery, _ indexes: FirestoreIndexes = FirestoreIndexes(), figures: [String] = []
  ) throws -> String? {
    let query = try NormalQuery(query, parent: IndexRulesTests.database + "/documents")
    let rules = IndexRules(declared: DeclaredIndexes(indexes))
    let paths = try figures.map { try FieldPath(parsing: $0) }
    guard let finding = rules.verdict(on: query, figures: paths).findings.first else { return nil }
    let name = try DatabaseName(parsing: IndexRulesTests.database)
    switch finding {
    case .missing(let index): return index.missing(in: name, isBuilding: false).message
    case .missingField(let index): return index.missingField(in: name, isBuilding: false).message
    case .missingVector(let index): return index.missingVector(in: name).message
    }
  }

  /// The missing indexes, as `rooms(a ASC, b DESC, __name__ DESC)`, with a star for a group.
  private func missing(
    _ filters: [Filter], _ orders: [StructuredQuery.Order] = [], group: Bool = false,
    _ indexes: FirestoreIndexes = FirestoreIndexes(), figures: [String] = []
  ) throws -> String? {
    var query = StructuredQuery(from: [.init(collectionID: "rooms", allDescendants: group)], orderBy: orders)
    query.filter = filters.isEmpty ? nil : .composite(.and, filters)
    let normal = try NormalQuery(query, parent: IndexRulesTests.database + "/documents")
    let paths = try figures.map { try FieldPath(parsing: $0) }
    let finding = IndexRules(declared: DeclaredIndexes(indexes)).verdict(on: normal, figures: paths).findings.first
    switch finding {
    case .missing(let index)?, .missingField(let index)?:
      var isField = false
      if case .missingField? = finding { isField = true }
      return (isField ? "field " : "") + (index.scope == .collectionGroup ? "*" : "")
        + (index.shape?.properties ?? "(__name__ \(index.isNameDescending ? "DESC" : "ASC"))")
    default: return nil
    }
  }

  private func equal(_ path: String) -> Filter { .field(path: path, .equal, .integer(1)) }
  private func above(_ path: String) -> Filter { .field(path: path, .greaterThan, .integer(1)) }
  private func contains(_ path: String) -> Filter { .field(path: path, .arrayContains, .integer(1)) }
  private func asc(_ path: String) -> StructuredQuery.Order { .init(fieldPath: path) }
  private func desc(_ path: String) -> StructuredQuery.Order { .init(fieldPath: path, .descending) }

  @Test func `single fields and their merges need nothing`() throws {
    #expect(try missing([]) == nil)
    #expect(try missing([equal("a")]) == nil)
    #expect(try missing([equal("a"), equal("b"), contains("t")]) == nil)
    #expect(try missing([above("a")]) == nil)
    #expect(try missing([], [desc("a")]) == nil)
    #expect(try missing([above("a")], [desc("a")]) == nil)
    #expect(try missing([equal("a")], [asc("a")]) == nil)
    #expect(try missing([equal("a")], [desc("__name__")]) == nil)
    #expect(try missing([.field(path: "a", .in, .array([.integer(1), .integer(2)])), equal("b")]) == nil)
    #expect(try missing([.composite(.or, [equal("a"), equal("b")])]) == nil)
    #expect(try missing([], group: true) == nil)
  }

  @Test func `everything else needs a composite`() throws {
    #expect(try missing([equal("b"), equal("a")], [desc("n")]) == "(a ASC, b ASC, n DESC, __name__ DESC)")
    #expect(try missing([equal("a"), above("n")]) == "(a ASC, n ASC, __name__ ASC)")
    #expect(try missing([above("a"), above("n")]) == "(a ASC, n ASC, __name__ ASC)")
    #expect(try missing([], [asc("a"), desc("b")]) == "(a ASC, b DESC, __name__ DESC)")
    #expect(try missing([contains("t")], [asc("n")]) == "(t CONTAINS, n ASC, __name__ ASC)")
    #expect(try missing([], [asc("a"), desc("__name__")]) == "(a ASC, __name__ DESC)")
    #expect(try missing([], [desc("__name__")]) == "(__name__ DESC)")
    #expect(try missing([equal("a")], figures: ["n"]) == "(a ASC, n ASC, __name__ ASC)")
    #expect(try missing([], figures: ["n"]) == nil)
    let either = Filter.composite(.or, [equal("a"), equal("b")])
    #expect(try missing([either], [asc("n")]) == "(a ASC, n ASC, __name__ ASC)")
  }

  @Test func `groups and exempt fields need indexes of single fields`() throws {
    #expect(try missing([equal("a")], group: true) == "field *(a ASC, __name__ ASC)")
    #expect(try missing([], [desc("a")], group: true) == "field *(a DESC, __name__ DESC)")
    #expect(try missing([contains("t")], group: true) == "field *(t CONTAINS, __name__ ASC)")
    #expect(try missing([equal("a")], [asc("n")], group: true) == "*(a ASC, n ASC, __name__ ASC)")
    let indexes = FirestoreIndexes(fieldOverrides: [
      try .init(collectionGroup: "rooms", fieldPath: "a", indexes: [.init(scope: .collectionGroup, .ascending)]),
      try .init(collectionGroup: "rooms", fieldPath: "b", indexes: []),
      try .init(collectionGroup: "rooms", fieldPath: "*", indexes: [.init(.descending)]),
    ])
    #expect(try missing([equal("a")], group: true, indexes) == nil)
    #expect(try missing([equal("a.x")], group: true, indexes) == nil)
    #expect(try missing([equal("a")], [], indexes) == "field (a ASC, __name__ ASC)")
    #expect(try missing([equal("b")], [], indexes) == "field (b ASC, __name__ ASC)")
    #expect(try missing([], [desc("c")], indexes) == nil)
    #expect(try missing([], [asc("c")], indexes) == "field (c ASC, __name__ ASC)")
  }

  @Test func `declared indexes serve in their directions alone`() throws {
    func index(_ fields: [FirestoreIndexes.Field]) throws -> FirestoreIndexes.Index {
      try .init(collectionGroup: "rooms", fields: fields)
    }
    let one = FirestoreIndexes(indexes: [try index([.init("a", .descending), .init("n", .descending)])])
    #expect(try missing([equal("a")], [desc("n")], one) == nil)
    #expect(try missing([equal("a")], [asc("n")], one) == "(a ASC, n ASC, __name__ ASC)")
    // Indexes that end alike are merged.
    let two = FirestoreIndexes(indexes: one.indexes + [try index([.init("b", .ascending), .init("n", .descending)])])
    #expect(try missing([equal("a"), equal("b")], [desc("n")], two) == nil)
    #expect(try missing([equal("a"), equal("c")], [desc("n")], two) == "(a ASC, c ASC, n DESC, __name__ DESC)")
  }

  @Test func `texts equal production's`() throws {
    var query = StructuredQuery(
      from: [.init(collectionID: "color")], orderBy: [desc("foo"), asc("bar"), desc("__name__")])
    let link =
      "You can create it here: https://console.firebase.google.com/v1/r/project/example.com:id/firestore/indexes?"
    #expect(
      try refusal(query)
        == "The query requires an index. \(link)create_composite="
        + "Ckxwcm9qZWN0cy9leGFtcGxlLmNvbTppZC9kYXRhYmFzZXMvKGRlZmF1bHQpL2NvbGxlY3Rpb25Hcm91cHMvY29sb3IvaW5kZXhlcy9fEAEa"
        + "BwoDZm9vEAIaBwoDYmFyEAEaDAoIX19uYW1lX18QAg")
    query = StructuredQuery(from: [.init(collectionID: "foo", allDescendants: true)], orderBy: [desc("__name__")])
    #expect(
      try refusal(query)
        == "The query requires an index. \(link)create_composite="
        + "Ckpwcm9qZWN0cy9leGFtcGxlLmNvbTppZC9kYXRhYmFzZXMvKGRlZmF1bHQpL2NvbGxlY3Rpb25Hcm91cHMvZm9vL2luZGV4ZXMvXxACGgwK"
        + "CF9fbmFtZV9fEAI")
    query.orderBy = [desc("n")]
    let text = try #require(try refusal(query))
    #expect(
      text.hasPrefix(
        "The query requires a COLLECTION_GROUP_DESC index for collection foo and field n. \(link)create_exemption="))
    // The end: the scope of groups, and one field that descends.
    #expect(text.hasSuffix("EAIaBQoBbhAC"))
  }

  @Test func `vectors need their index`() throws {
    var query = StructuredQuery(from: [.init(collectionID: "rooms")], filter: equal("a"))
    query.findNearest = FindNearest(
      vectorField: "spot", queryVector: .vector([1, 2, 3]), distanceMeasure: .euclidean, limit: 3)
    #expect(
      try refusal(query) == """
        Missing vector index configuration. Please create the required index with the following gcloud command: gcloud \
        firestore indexes composite create --project=example.com:id --collection-group=rooms --query-scope=COLLECTION \
        --field-config=order=ASCENDING,field-path=a \
        --field-config=vector-config='{"dimension":"3","flat": "{}"}',field-path=spot
        """)
    func index(_ dimension: Int) throws -> FirestoreIndexes {
      FirestoreIndexes(indexes: [
        try .init(
          collectionGroup: "rooms", fields: [.init("a", .ascending), .init("spot", .vector(dimension: dimension))])
      ])
    }
    #expect(try refusal(query, try index(3)) == nil)
    #expect(try refusal(query, try index(4)) != nil)
  }

  @Test func `a query waits for the index that is being made`() async throws {
    let (store, gate, allowed) = (HookedStore(isShared: true), Gate(), Locked(1))
    try await makeEngine(on: store).commit(update("rooms/a", ["a": .integer(1), "n": .integer(1)]))
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 1
    options.requiresDeclaredIndexes = true
    options.indexes = FirestoreIndexes(indexes: [
      try .init(collectionGroup: "rooms", fields: [.init("a", .ascending), .init("n", .ascending)])
    ])
    let engine = FirestoreEngine(store: store, options: options)
    let query = StructuredQuery(from: [.init(collectionID: "rooms")], filter: equal("a"), orderBy: [asc("n")])
    // The index is registered, and not built.
    store.hook { step in
      guard step == .write else { return }
      let isHeld = allowed.withLock { allowed in
        allowed -= 1
        return allowed < 0
      }
      if isHeld { await gate.wait() }
    }
    let refusal = await failure { _ = try await engine.query(query) }
    #expect(refusal?.code == .failedPrecondition)
    #expect(
      refusal?.message.hasPrefix(
        "The query requires an index. That index is currently building and cannot be used yet. See its status here: ")
        == true)
    gate.open()
    try await engine.engine(VestaFirestoreServiceTests.database).indexes.settle()
    #expect(try await engine.query(query).count == 1)
    var other = query
    other.orderBy = [desc("n")]
    #expect(await failure { _ = try await engine.query(other) }?.code == .failedPrecondition)
    let request = RunAggregationQueryRequest(
      parent: root, query: .init(query: query, aggregations: [Aggregation(.sum(fieldPath: "m"))]))
    #expect(await failure { _ = try await engine.runAggregation(request, context: owner) }?.code == .failedPrecondition)
  }

  @Test func `a target that needs an index ends with the same text`() async throws {
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 1
    options.requiresDeclaredIndexes = true
    let engine = FirestoreEngine(store: ModelStore(), options: options)
    let query = StructuredQuery(from: [.init(collectionID: "rooms")], filter: equal("a"), orderBy: [asc("n")])
    let refusal = await failure { _ = try await engine.query(query) }
    var follower = try await Follower(engine)
    follower.add(Target(id: 4, .query(parent: root, query)))
    let isThere = try await follower.read { response in
      if case .targetChange(let change) = response { change.kind == .remove } else { false }
    }
    #expect(isThere)
    #expect(follower.causes == [refusal].compactMap(\.self))
    #expect(refusal?.message.hasPrefix("The query requires an index.") == true)
    follower.cancel()
  }
}
