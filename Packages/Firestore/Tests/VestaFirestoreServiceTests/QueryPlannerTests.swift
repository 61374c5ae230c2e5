import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreIndexes

/// Which indexes a query is answered from, and which it asks for.
@Suite struct QueryPlannerTests {
  private func part(_ name: String) -> IndexShape.Part { IndexShape.Part(path: FieldPath([name]), kind: .ascending) }

  private func shape(_ names: String...) -> IndexShape {
    IndexShape(collectionID: "rooms", isGroup: false, parts: names.map(part), isNameDescending: false)
  }

  /// The outcome for the rooms of one size and color, by the fields of an order.
  private func outcome(_ shapes: [IndexShape], orderedBy orders: [String] = []) throws -> PlanOutcome {
    var query = StructuredQuery.all("rooms")
    query.filter = .composite(
      .and, [.field(path: "size", .equal, .integer(1)), .field(path: "color", .equal, .string("red"))])
    query.orderBy = orders.map { .init(fieldPath: $0) }
    let indexes = shapes.enumerated().map { number, shape in
      IndexCatalogue.Index(id: Int64(number), row: IndexRow(shape: shape, progress: .ready, lastUsed: 0))
    }
    let needs = try #require(QueryNeeds(try NormalQuery(query, parent: root)))
    return QueryPlanner(needs, IndexCatalogue(version: 1, indexes), isForbidden: { _ in false }).outcome()
  }

  @Test func `a join by names alone asks for no other index`() throws {
    let outcome = try outcome([shape("size"), shape("color")])
    #expect(outcome.plan?.branches.map(\.scans.count) == [2])
    #expect(outcome.missing.isEmpty)
  }

  @Test func `a join in another order is used, and asks for the index of all of it`() throws {
    let outcome = try outcome([shape("size", "price"), shape("color", "price")], orderedBy: ["price"])
    #expect(outcome.plan?.branches.map(\.scans.count) == [2])
    #expect(outcome.missing.map { Set($0.parts) } == [[part("size"), part("color"), part("price")]])
  }

  @Test func `one index of all of it is used alone`() throws {
    let all = shape("color", "size", "price")
    let outcome = try outcome([shape("size", "price"), all, shape("color", "price")], orderedBy: ["price"])
    let sources = outcome.plan?.branches.flatMap(\.scans).map(\.source)
    #expect(sources == [.index(id: 1, all)] && outcome.missing.isEmpty)
  }
}
