import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

extension SplitMix {
  /// Values that are equal and unlike, long, mixed and nested.
  mutating func anyValue() -> Value {
    if pick([true, true, false]) { return value() }
    return pick([
      .integer(.max), .double(0x1p53), .integer(1 << 53 + 1), .double(-0.0), .integer(0), .boolean(false),
      .double(-.infinity),
      .string(""), .string("a\0b"), .string(String(repeating: "x", count: 1600)), .bytes([0, 1]),
      .geoPoint(GeoPoint(latitude: 1, longitude: 2)),
      .timestamp(Timestamp(seconds: 5)), .reference(name("rooms/a")), .array([]),
      .array([.integer(1), .integer(1), .null]),
      .map([:]), .map(["x": .string("y")]), .vector([1, 2]),
    ])
  }

  mutating func richFields() -> MapValue {
    var fields = fields()
    for name in ["f", "g", "h"] where pick([true, false, false]) { fields[name] = anyValue() }
    if pick([true, false]) { fields["t"] = .array([.integer(pick([1, 2, 3])), pick([.string("a"), .integer(2)])]) }
    return fields
  }

  mutating func operand() -> Value {
    pick([
      .integer(2), .integer(1), .double(2.5), .string("a"), .boolean(false), .boolean(true),
      .array([.integer(1), .integer(2)]),
    ])
  }

  mutating func documentName() -> Value {
    .reference(
      name(
        pick([
          "rooms/a", "rooms/c", "rooms/__id7__", "rooms/b/rooms/x", "halls/a", "zoo/z", "rooms/bb", "rooms/\u{e9}",
          "rooms/e\u{301}", "rooms/__id7__/rooms/x", "rooms/\u{FFFD}",
        ])))
  }

  mutating func richFilter(_ depth: Int = 0) -> Filter {
    let path = pick(["f", "g", "h"])
    switch Int.random(in: 0..<(depth < 2 ? 11 : 8), using: &self) {
    case 0: return .field(path: path, .equal, operand())
    case 1:
      return .field(path: path, pick([.lessThan, .greaterThan, .lessThanOrEqual, .greaterThanOrEqual]), operand())
    case 2: return .field(path: path, .notEqual, operand())
    case 3:
      return .field(
        path: path, pick([.in, .notIn]), .array([operand(), operand(), pick([.null, .double(.nan), .integer(3)])]))
    case 4: return .field(path: "t", .arrayContains, pick([.integer(2), .string("a")]))
    case 5: return .field(path: "t", .arrayContainsAny, .array([.integer(2), .integer(3), .string("a")]))
    case 6: return .unary(path: path, pick([.isNull, .isNotNull, .isNaN, .isNotNaN]))
    case 7:
      return .field(
        path: "__name__", pick([.equal, .lessThan, .greaterThan, .greaterThanOrEqual, .lessThanOrEqual, .notEqual]),
        documentName())
    default: return .composite(pick([.and, .and, .or]), [richFilter(depth + 1), richFilter(depth + 1)])
    }
  }

  mutating func cursor(for orders: [StructuredQuery.Order]) -> StructuredQuery.Cursor {
    var values: [Value] = []
    for order in orders { values.append(order.fieldPath == "__name__" ? documentName() : anyValue()) }
    let count = Int.random(in: 0...values.count, using: &self)
    return .init(values: Array(values.prefix(count)), before: pick([true, false]))
  }

  mutating func richQuery() -> StructuredQuery {
    var query = StructuredQuery(from: [.init(collectionID: "rooms", allDescendants: pick([true, false, false]))])
    if pick([true, true, true, false]) { query.filter = richFilter() }
    for path in ["g", "f", "t"] where pick([true, false, false]) {
      query.orderBy.append(.init(fieldPath: path, pick([.ascending, .descending])))
    }
    if pick([true, false]) { query.orderBy.append(.init(fieldPath: "__name__", pick([.ascending, .descending]))) }
    if pick([true, false, false]) { query.startAt = cursor(for: query.orderBy) }
    if pick([true, false, false, false]) { query.endAt = cursor(for: query.orderBy) }
    query.offset = pick([0, 0, 1, 2])
    query.limit = pick([nil, nil, 1, 3, 0])
    return query
  }

  /// An index that some of the queries may use.
  mutating func shape() -> IndexShape {
    var paths = ["f", "g", "h", "t"]
    paths.shuffle(using: &self)
    let parts = paths.prefix(Int.random(in: 0...3, using: &self)).map {
      IndexShape.Part(path: FieldPath([$0]), kind: $0 == "t" ? .contains : pick([.ascending, .descending]))
    }
    return IndexShape(
      collectionID: "rooms", isGroup: pick([true, false]), parts: parts, isNameDescending: pick([true, false]))
  }
}
