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

  /// Which documents a limit leaves, as the emulator of Google was seen to choose them.
  @Test func `the fields of sums are orders where a limit leaves some documents`() throws {
    let root = "projects/p/databases/d/documents"
    let pairs: [(m: Int64?, n: Value?)] = [
      (9, .integer(1)), (8, .integer(2)), (7, .double(2.5)), (6, .string("q")), (5, nil), (4, .null),
      (nil, .integer(0)),
    ]
    let documents = pairs.enumerated().map { number, pair in
      var fields: MapValue = [:]
      fields["m"] = pair.m.map { .integer($0) }
      fields["n"] = pair.n
      return Document(name: "\(root)/a/\(number + 1)", fields: fields)
    }
    func sums(_ fields: [String], _ change: (inout StructuredQuery) -> Void) throws -> [Double?] {
      var figures = try Aggregator(
        [Aggregation(.count(upTo: nil), alias: "c")] + fields.map { Aggregation(.sum(fieldPath: $0), alias: $0) })
      var query = StructuredQuery(from: [.init(collectionID: "a")])
      change(&query)
      for document in try figures.query(query, parent: root).results(in: documents).documents { figures.add(document) }
      return (["c"] + fields).map {
        switch figures.result[$0] {
        case .integer(let number)?: Double(number)
        case .double(let number)?: number
        default: nil
        }
      }
    }
    #expect(try sums(["n"]) { $0.limit = 2 } == [2, 0])
    #expect(try sums(["n"]) { $0.limit = 3 } == [3, 1])
    #expect(try sums(["m"]) { $0.limit = 2 } == [2, 9])
    #expect(try sums(["n", "m"]) { $0.limit = 2 } == [2, 0, 10])
    #expect(try sums(["m", "n"]) { $0.limit = 3 } == [3, 17, 2.5])
    #expect(try sums(["n"]) { $0.offset = 2 } == [4, 5.5])
    #expect(try sums([]) { $0.offset = 2 } == [5])
    #expect(
      try sums(["n"]) {
        $0.orderBy = [.init(fieldPath: "m")]
        $0.limit = 3
      } == [3, 2.5])
    #expect(
      try sums(["n"]) {
        $0.orderBy = [.init(fieldPath: "__name__")]
        $0.limit = 2
      } == [2, 3])
    // The direction is that of the last order.
    var tied = StructuredQuery(from: [.init(collectionID: "a")])
    (tied.orderBy, tied.limit) = ([.init(fieldPath: "m", .descending)], 2)
    let orders = try Aggregator([Aggregation(.sum(fieldPath: "n"))]).query(tied, parent: root).orders
    #expect(orders.map(\.path.description) == ["m", "n", "__name__"] && orders.allSatisfy(\.descending))
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
