import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

struct AggregatorTests {
  private func sum(_ values: [Value]) throws -> Value? {
    var figures = try Aggregator([Aggregation(.sum(fieldPath: "n"), alias: "sum")])
    for value in values { figures.add(values: [value]) }
    return figures.result["sum"]
  }

  @Test func `an alias that is no name of a field is refused`() throws {
    for alias in ["__x__", String(repeating: "a", count: 1_501)] {
      let aggregation = Aggregation(.count(upTo: nil), alias: alias)
      #expect(throws: FirestoreServiceError.self, "\(alias)") { try Aggregator([aggregation]) }
    }
    for alias in ["__x", "a.b", "é", String(repeating: "a", count: 1_500)] {
      #expect(try Aggregator([Aggregation(.count(upTo: nil), alias: alias)]).result[alias] == .integer(0))
    }
  }

  @Test func `sums do not depend on the order`() throws {
    let lists: [[Value]] = [
      [.double(0x1p53), .integer(1), .integer(1)], [.double(0x1p53), .double(1), .double(1)],
      [.integer(.max), .integer(1), .integer(-2)], [.double(1e100), .double(1), .double(-1e100)],
      [.double(.infinity), .double(1e308), .integer(.min)],
    ]
    let sums: [Value] = [
      .double(0x1p53 + 2), .double(0x1p53 + 2), .integer(.max - 1), .double(1), .double(.infinity),
    ]
    for (list, expected) in zip(lists, sums) {
      for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] { #expect(try sum(order.map { list[$0] }) == expected) }
    }
  }

  @Test func `sums are integers where they can be`() throws {
    #expect(try sum([]) == .integer(0))
    #expect(try sum([.integer(2), .string("x"), .null]) == .integer(2))
    #expect(try sum([.integer(2), .double(1)]) == .double(3))
    #expect(try sum([.integer(.max), .integer(.max)]) == .double(0x1p64))
    #expect(try sum([.double(.nan), .integer(1)]) == .double(.nan))
  }
}
