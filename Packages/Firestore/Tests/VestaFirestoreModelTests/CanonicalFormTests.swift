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
