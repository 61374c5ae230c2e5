import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreModel

@Suite struct CanonicalFormTests {
  private func form(_ filter: Filter?, orderBy: [StructuredQuery.Order] = []) throws -> String {
    CanonicalForm.text(of: try QueryTests.normal(QueryTests.query(filter, orderBy: orderBy)))
  }

  @Test func `queries that mean the same have one form`() throws {
    let (a, b) = (Filter.field(path: "a", .equal, .integer(1)), Filter.field(path: "b", .greaterThan, .string("x")))
    #expect(try form(.composite(.and, [a, b])) == form(.composite(.and, [b, a, a])))
    #expect(try form(.composite(.and, [a, b])) == form(.composite(.and, [b, a, b, b])))
    let absent = [[1, 2], [2, 1, 2], [1, 2, 2]].map { Value.array($0.map { .integer($0) }) }
    #expect(Set(try absent.map { try form(.field(path: "a", .notIn, $0)) }).count == 1)
    #expect(try form(b) == form(b, orderBy: [.init(fieldPath: "b"), .init(fieldPath: "__name__")]))
    let either = Filter.composite(.or, [a, .field(path: "a", .equal, .integer(2))])
    #expect(try form(either) == form(.field(path: "a", .in, .array([.integer(2), .integer(1)]))))
  }

  @Test func `queries that mean something else have another form`() throws {
    let forms = [
      try form(nil), try form(.field(path: "a", .equal, .integer(1))), try form(.field(path: "a", .equal, .double(1))),
      try form(.field(path: "a", .equal, .string("1"))), try form(.field(path: "a", .notEqual, .integer(1))),
      try form(.field(path: "a", .arrayContains, .integer(1))), try form(.field(path: "a", .lessThan, .integer(1))),
      try form(nil, orderBy: [.init(fieldPath: "a")]), try form(nil, orderBy: [.init(fieldPath: "a", .descending)]),
    ]
    #expect(Set(forms).count == forms.count)
    let accents = ["\u{E9}", "e\u{301}"].map(Value.string)
    let (both, one) = (
      try form(.field(path: "a", .in, .array(accents))), try form(.field(path: "a", .in, .array([accents[0]])))
    )
    #expect(!UTF8Order.equal(both, one) && both.utf8.count > one.utf8.count)
  }

  @Test func `nothing in a string is taken for what is around it`() {
    let lists = [["a", "b"], ["a\",\"b"], ["a\\\",\"b"], ["a\\", "b"], ["a", "\\b"], ["\\"], ["\\\\"], ["\""]]
    let forms = lists.map { CanonicalForm.text(of: .array($0.map(Value.string))) }
    #expect(Set(forms).count == forms.count)
  }

  @Test func `what limits the results is part of the form`() throws {
    let plain = QueryTests.query(orderBy: [.init(fieldPath: "a")])
    func changed(_ change: (inout StructuredQuery) -> Void) -> StructuredQuery {
      var query = plain
      change(&query)
      return query
    }
    let queries = [
      plain, changed { $0.offset = 1 }, changed { $0.offset = 2 }, changed { $0.limit = 1 }, changed { $0.limit = 2 },
      changed { $0.startAt = .init(values: [.integer(1)], before: true) },
      changed { $0.startAt = .init(values: [.integer(1)], before: false) },
      changed { $0.endAt = .init(values: [.integer(1)], before: true) },
    ]
    let forms = try queries.map { CanonicalForm.text(of: try QueryTests.normal($0)) }
    #expect(Set(forms).count == forms.count)
    #expect(!forms[0].contains("offset") && forms[1].contains("offset:1"))
  }

  @Test func `different values never share a form`() {
    var random = SplitMix(seed: 99)
    for round in 0..<20_000 {
      let (left, right) = (Generate.value(&random), Generate.value(&random))
      let isSame = UTF8Order.equal(CanonicalForm.text(of: left), CanonicalForm.text(of: right))
      guard isSame == (left == right) else {
        Issue.record("seed 99, round \(round): \(left) and \(right)")
        return
      }
    }
  }
}
