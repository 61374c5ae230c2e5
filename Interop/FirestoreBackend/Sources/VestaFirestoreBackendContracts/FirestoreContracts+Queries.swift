import VestaFirestoreBackend
public import VestaTesting

extension FirestoreSubject {
  /// Five documents that differ, and one elsewhere.
  fileprivate func fill() async throws {
    try await commit(
      set("rooms/a", ["n": .integer(1), "t": .array([.string("x")])]), set("rooms/b", ["n": .integer(3)]),
      set("rooms/c", ["n": .double(2), "t": .array([.string("x"), .string("y")])]), set("rooms/d", ["m": .null]),
      set("rooms/e", ["n": .string("text")]), set("halls/h/rooms/f", ["n": .integer(2)]))
  }

  fileprivate func figures(
    _ query: StructuredQuery, _ operations: Aggregation.Operation...
  ) async throws -> MapValue? {
    let aggregations = operations.map { Aggregation($0, alias: "\($0)") }
    let request = RunAggregationQueryRequest(
      parent: root, query: StructuredAggregationQuery(query: query, aggregations: aggregations))
    return try await backend.runAggregation(request, context: context).result
  }

  fileprivate func expect(
    _ query: StructuredQuery, finds ids: [String], file: String = #fileID, line: Int = #line
  ) async throws {
    let found = try await self.ids(query)
    try VestaTesting.expect(
      found, equals: ids.map { "rooms/\($0)" }, "what \(query) finds", file: file, line: line)
  }
}

extension FirestoreContracts {
  /// The promises of queries.
  public static let queries: [Contract<FirestoreSubject>] = [
    Contract("a query finds what its filter says, and that alone") { subject in
      try await subject.fill()
      let cases: [(Filter, [String])] = [
        (.field(path: "n", .equal, .integer(2)), ["c"]),
        (.field(path: "n", .greaterThanOrEqual, .integer(2)), ["c", "b"]),
        (.field(path: "n", .lessThan, .integer(2)), ["a"]),
        (.field(path: "n", .notEqual, .integer(1)), ["c", "b", "e"]),
        (.field(path: "t", .arrayContains, .string("x")), ["a", "c"]),
        (.field(path: "n", .in, .array([.integer(3), .integer(1)])), ["a", "b"]),
        (.field(path: "n", .notIn, .array([.integer(3), .integer(1)])), ["c", "e"]),
        (.field(path: "t", .arrayContainsAny, .array([.string("y"), .string("z")])), ["c"]),
        (.unary(path: "m", .isNull), ["d"]),
        (
          .composite(.and, [.field(path: "t", .arrayContains, .string("x")), .field(path: "n", .equal, .integer(1))]),
          ["a"]
        ),
        (
          .composite(.or, [.field(path: "n", .equal, .integer(3)), .field(path: "t", .arrayContains, .string("y"))]),
          ["b", "c"]
        ),
      ]
      // Twice: knowledge from the first time must not change the second.
      for (filter, expected) in cases + cases {
        try await subject.expect(.all("rooms", where: filter), finds: expected)
      }
    },
    Contract("results come in order, and ties by name in the direction of the last order") { subject in
      try await subject.fill()
      try await subject.commit(subject.set("rooms/g", ["n": .integer(3)]))
      for _ in 0..<2 {
        try await subject.expect(.all("rooms", by: "n"), finds: ["a", "c", "b", "g", "e"])
        var query = StructuredQuery.all("rooms")
        query.orderBy = [.init(fieldPath: "n", .descending)]
        try await subject.expect(query, finds: ["e", "g", "b", "c", "a"])
        query.orderBy.append(.init(fieldPath: "__name__", .ascending))
        try await subject.expect(query, finds: ["e", "b", "g", "c", "a"])
      }
      try await subject.expect(.all("rooms"), finds: ["a", "b", "c", "d", "e", "g"])
    },
    Contract("limit and offset take a part of the results") { subject in
      try await subject.fill()
      for (offset, limit, expected) in [(0, 2, ["a", "c"]), (1, 2, ["c", "b"]), (3, 9, ["e"]), (9, 1, [])] {
        var query = StructuredQuery.all("rooms", by: "n")
        (query.offset, query.limit) = (Int32(offset), Int32(limit))
        try await subject.expect(query, finds: expected)
      }
    },
    Contract("cursors are positions before or after their values") { subject in
      try await subject.fill()
      for (start, end, expected) in [
        (true, true, ["c"]), (false, true, []), (true, false, ["c", "b"]), (false, false, ["b"]),
      ] {
        var query = StructuredQuery.all("rooms", by: "n")
        query.startAt = .init(values: [.integer(2)], before: start)
        query.endAt = .init(values: [.integer(3)], before: end)
        try await subject.expect(query, finds: expected)
      }
      var named = StructuredQuery.all("rooms", by: "n")
      named.startAt = .init(values: [.integer(2), .reference(subject.name("rooms/c"))], before: false)
      try await subject.expect(named, finds: ["b", "e"])
    },
    Contract("a query of a group finds its collections wherever they are") { subject in
      try await subject.fill()
      var query = StructuredQuery.all("rooms", where: .field(path: "n", .equal, .integer(2)))
      query.from[0].allDescendants = true
      try expect(try await subject.ids(query), equals: ["halls/h/rooms/f", "rooms/c"], "what the group has")
      let below = RunQueryRequest(parent: subject.name("halls/h"), query: .all("rooms"))
      var found: [String] = []
      try await subject.backend.runQuery(below, context: subject.context) {
        found += $0.document.map { [$0.name] } ?? []
      }
      try expect(found, equals: [subject.name("halls/h/rooms/f")], "what is below a document")
    },
    Contract("a selection returns the fields that are asked for") { subject in
      try await subject.fill()
      var query = StructuredQuery.all("rooms", where: .field(path: "n", .equal, .integer(1)))
      for (select, expected) in [(["t"], ["t": Value.array([.string("x")])]), (["__name__"], MapValue())] {
        query.select = select
        try expect(try await subject.query(query).map(\.fields), equals: [expected], "the fields of \(select)")
      }
    },
    Contract("an empty selection returns all fields, as none does") { subject in
      try await subject.fill()
      var query = StructuredQuery.all("rooms", where: .field(path: "n", .equal, .integer(1)))
      let all = try await subject.query(query).map(\.fields)
      try expect(all.first.map { !$0.isEmpty } ?? false, "there are no fields")
      query.select = []
      try expect(try await subject.query(query).map(\.fields), equals: all, "the fields")
    },
    Contract("a query that finds nothing still returns its read time") { subject in
      let commit = try await subject.commit(subject.set("rooms/a"))
      var times: [Timestamp?] = []
      let request = RunQueryRequest(parent: subject.root, query: .all("none"))
      try await subject.backend.runQuery(request, context: subject.context) { times.append($0.readTime) }
      let time = try expectValue(times.compactMap(\.self).first, "a read time")
      try expect(time >= commit.commitTime, "the read time comes before a commit that had returned")
    },
    Contract("figures count what the query finds") { subject in
      try await subject.fill()
      func values(_ map: MapValue?) -> [Value] { map?.map(\.value) ?? [] }
      let all = StructuredQuery.all("rooms")
      try expect(values(try await subject.figures(all, .count(upTo: nil))), equals: [.integer(5)], "the count")
      try expect(
        values(try await subject.figures(all, .count(upTo: 3))), equals: [.integer(3)], "the count up to three")
      let numbers = StructuredQuery.all("rooms", where: .field(path: "n", .lessThan, .integer(9)))
      try expect(values(try await subject.figures(numbers, .sum(fieldPath: "n"))), equals: [.double(6)], "the sum")
      try expect(
        values(try await subject.figures(numbers, .average(fieldPath: "n"))), equals: [.double(2)], "the average")
      let none = StructuredQuery.all("none")
      try expect(
        values(try await subject.figures(none, .sum(fieldPath: "n"))), equals: [.integer(0)], "the sum of nothing")
      try expect(
        values(try await subject.figures(none, .average(fieldPath: "n"))), equals: [.null], "the average of nothing")
    },
    Contract("queries that break a rule are refused") { subject in
      try await subject.fill()
      var cursor = StructuredQuery.all("rooms", by: "n")
      cursor.startAt = .init(values: [.integer(1), .reference(subject.name("rooms/a")), .integer(2)], before: true)
      let many = Value.array((0..<31).map { .integer($0) })
      let bad = [
        cursor, .all("__rooms__"), .all("rooms", where: .field(path: "n", .in, many)),
        .all("rooms", where: .field(path: "n..x", .equal, .null)), .all("rooms", by: ""),
        .all("rooms", where: .field(path: "__name__", .equal, .string("a"))),
      ]
      for query in bad {
        try await expectRefusal(.invalidArgument, of: "the query \(query)") { try await subject.query(query) }
      }
    },
  ]
}
