import Testing
import VestaFirestoreBackend

@testable import VestaFirestoreModel

@Suite struct QueryRulesTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let text: String
    let query: StructuredQuery
    var testDescription: String { text }

    init(_ text: String, _ filter: Filter? = nil, change: (inout StructuredQuery) -> Void = { _ in }) {
      self.text = text
      var query = StructuredQuery(from: [.init(collectionID: "c")], filter: filter)
      change(&query)
      self.query = query
    }
  }

  static let one = Value.integer(1)
  static let long = Value.string(String(repeating: "x", count: 1500))
  static func list(_ count: Int64) -> Value { .array((0..<count).map { .integer($0) }) }
  static func both(_ filters: Filter...) -> Filter { .composite(.and, filters) }

  static let refused: [Case] = [
    Case("'IN' requires an non-empty ArrayValue.", .field(path: "a", .in, .array([]))),
    Case("'NOT_IN' requires an non-empty ArrayValue.", .field(path: "a", .notIn, one)),
    Case("'IN' supports up to 30 comparison values.", .field(path: "a", .in, list(31))),
    Case("'NOT_IN' supports up to 10 comparison values.", .field(path: "a", .notIn, list(11))),
    Case("value for a is too large to be used in a query", .field(path: "a", .equal, long)),
    Case("value for a[*] is too large to be used in a query", .field(path: "a", .arrayContains, long)),
    Case("the name __key__ is reserved", .field(path: "__name__", .arrayContains, one)),
    Case("the name __x__ is reserved", .field(path: "__x__", .equal, one)),
    Case("__key__ filter value must be a Key", .field(path: "__name__", .equal, one)),
    Case(
      "A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.",
      both(.field(path: "a", .arrayContains, one), .field(path: "b", .arrayContainsAny, list(2)))
    ),
    Case(
      "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter allowed per query.",
      both(.field(path: "a", .notEqual, one), .unary(path: "b", .isNotNull))
    ),
    Case(
      "'NOT_IN' cannot be combined with 'IN' or 'ARRAY_CONTAINS_ANY' in the same query.",
      both(.field(path: "a", .notIn, list(1)), .field(path: "b", .in, list(1)))
    ),
    Case(
      "'NOT_IN' cannot be used in the same query as 'OR'.",
      .composite(.or, [.field(path: "a", .notIn, list(1)), .field(path: "b", .equal, one)])
    ),
    Case("A composite filter must have at least one filter in it.", both()),
    Case("offset is negative") { $0.offset = -1 },
    Case("limit is negative") { $0.limit = -1 },
    Case("Collection id \"x/y\" is invalid because it contains \"/\".") { $0.from[0].collectionID = "x/y" },
    Case("order by clause cannot contain duplicate fields a") {
      $0.orderBy = [.init(fieldPath: "a"), .init(fieldPath: "a")]
    },
    Case("order by clause cannot contain more fields after the key") {
      $0.orderBy = [.init(fieldPath: "__name__"), .init(fieldPath: "a")]
    },
    Case("order by clause cannot contain more fields after the key") {
      $0.orderBy = ["a", "__name__", "b"].map { .init(fieldPath: $0) }
    },
    Case("kind is required for all orders except __key__ ascending") {
      $0.from = []
      $0.orderBy = [.init(fieldPath: "a")]
    },
    Case("Cursor has too many values: 2 > 1.") { $0.startAt = .init(values: [one, one], before: true) },
    Case("the cursor key is in a different partition than the query") {
      $0.startAt = .init(values: [.reference("projects/p/databases/other/documents/c/a")], before: true)
    },
    Case("FindNearest limit must be between 1 and 1000.") {
      $0.findNearest = FindNearest(vectorField: "v", queryVector: .vector([1]), distanceMeasure: .cosine, limit: 0)
    },
    Case("the name __d__ is reserved") {
      $0.findNearest = FindNearest(
        vectorField: "v", queryVector: .vector([1]), distanceMeasure: .cosine, limit: 1, distanceResultField: "__d__")
    },
    Case("the name __key__ is reserved") {
      $0.findNearest = FindNearest(
        vectorField: "v", queryVector: .vector([1]), distanceMeasure: .cosine, limit: 1, distanceResultField: "__name__"
      )
    },
    Case("the name __d__ is reserved") {
      $0.findNearest = FindNearest(
        vectorField: "v", queryVector: .vector([1]), distanceMeasure: .cosine, limit: 1, distanceResultField: "a.__d__")
    },
    Case(
      "Cannot have inequality filters on more than 10 properties",
      .composite(.and, (10...20).map { .field(path: "a\($0)", .greaterThan, one) })
    ),
  ]

  @Test(arguments: refused) func `bad queries are refused with the text of the service`(_ test: Case) {
    let error = #expect(throws: FirestoreServiceError.self) { try QueryTests.normal(test.query) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.hasPrefix(test.text) == true, "\(error?.message ?? "")")
  }

  @Test func `groups below a document are refused`() {
    let query = StructuredQuery(from: [.init(collectionID: "c", allDescendants: true)])
    #expect(
      throws: FirestoreServiceError(.invalidArgument, "collection group queries are only allowed at the root parent")
    ) {
      try QueryTests.normal(query, parent: QueryTests.root + "/a/b")
    }
  }

  @Test func `what is at the limit is allowed`() throws {
    let short = Value.string(String(repeating: "x", count: 1499))
    #expect(throws: Never.self) { try QueryTests.normal(QueryTests.query(.field(path: "a", .equal, short))) }
    #expect(throws: Never.self) { try QueryTests.normal(QueryTests.query(.field(path: "a", .in, Self.list(30)))) }
    #expect(throws: Never.self) { try QueryTests.normal(QueryTests.query(.field(path: "a", .notIn, Self.list(10)))) }
  }

  @Test func `endlessly nested filters are refused`() {
    var filter = Filter.field(path: "a", .equal, Self.one)
    for _ in 0..<500 { filter = .composite(.and, [filter]) }
    let error = #expect(throws: FirestoreServiceError.self) { try QueryTests.normal(QueryTests.query(filter)) }
    #expect(error?.message == "Composite filters are nested too deeply.")
  }
}
