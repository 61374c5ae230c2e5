import Foundation
import VestaFirestore
import VestaTesting

typealias OracleFields = [String: OracleValue]

/// A query, with its results by the documentation.
struct OracleQuery: Sendable, CustomStringConvertible {
  struct Condition: Sendable {
    let field: String
    let comparison: String
    let value: OracleValue
  }

  struct Cursor: Sendable {
    var values: [OracleValue]
    var isInclusive: Bool
  }

  var collection: String
  var isGroup = false
  /// All of them hold.
  var conditions: [Condition] = []
  /// One of them holds.
  var alternatives: [Condition] = []
  var orders: [(field: String, isDescending: Bool)] = []
  var start: Cursor?
  var end: Cursor?
  var limit: (count: Int, isLast: Bool)?

  static let ranges: Set<String> = ["<", "<=", ">", ">=", "!=", "not-in"]

  var description: String {
    let filters = (conditions + alternatives).map { "\($0.field) \($0.comparison) \($0.value)" }
    return "\(collection)\(isGroup ? " (group)" : "") \(filters) \(alternatives.isEmpty ? "" : "or ")"
      + "by \(orders.map { "\($0.field)\($0.isDescending ? " desc" : "")" }) from \(start.map { "\($0)" } ?? "-") "
      + "to \(end.map { "\($0)" } ?? "-") limit \(limit.map { "\($0)" } ?? "-")"
  }

  /// The part of the query that queries of one target have in common, whichever way they are ordered.
  var target: String {
    "\(collection) \(isGroup) \((conditions + alternatives).map { "\($0)" }) \(limit?.count ?? 0)"
  }

  // MARK: Random queries

  static func random(_ random: inout SplitMix) -> OracleQuery {
    var query = OracleQuery(collection: random.pick(["rooms", "rooms", "rooms", "halls/h/rooms"]))
    if random.oneIn(6) { (query.collection, query.isGroup) = ("rooms", true) }
    if random.oneIn(5) {
      query.alternatives = (0..<2).map { _ in
        Condition(field: random.pick(["a", "b"]), comparison: random.pick(["==", "<", ">="]), value: operand(&random))
      }
    } else {
      query.conditions = (0..<random.below(3)).map { _ in condition(&random) }
      // At most one inequality of each of these kinds, and one of arrays, in a query.
      for kind in [
        ["!=", "not-in"], ["array-contains", "array-contains-any"], ["in", "not-in", "array-contains-any"],
      ]
      where query.conditions.count(where: { kind.contains($0.comparison) }) > 1 { query.conditions.removeLast() }
    }
    if random.oneIn(2) {
      query.orders = [(random.pick(["a", "b", "seq", "m.x"]), random.oneIn(2))]
      if random.oneIn(3) { query.orders.append(("a", random.oneIn(2))) }
      if query.orders.count == 2, query.orders[1].field == query.orders[0].field { query.orders.removeLast() }
      if random.oneIn(3) { query.start = Cursor(values: [operand(&random)], isInclusive: random.oneIn(2)) }
      if random.oneIn(4) { query.end = Cursor(values: [operand(&random)], isInclusive: random.oneIn(2)) }
    }
    if random.oneIn(2) { query.limit = (1 + random.below(4), !query.orders.isEmpty && random.oneIn(2)) }
    return query
  }

  private static func operand(_ random: inout SplitMix) -> OracleValue {
    while true {
      let value = OracleValue.scalar(&random)
      if value != .null { return value }
    }
  }

  private static func condition(_ random: inout SplitMix) -> Condition {
    let field = random.pick(["a", "a", "b", "m.x", "seq"])
    let comparison = random.pick([
      "==", "==", "<", "<=", ">", ">=", "!=", "in", "not-in", "array-contains", "array-contains-any",
    ])
    return switch comparison {
    case "in", "not-in":
      Condition(
        field: field, comparison: comparison, value: .array((0..<1 + random.below(3)).map { _ in operand(&random) }))
    case "array-contains-any":
      Condition(field: "list", comparison: comparison, value: .array([.integer(1), .string("a")]))
    case "array-contains": Condition(field: "list", comparison: comparison, value: .integer(Int64(random.below(4))))
    default: Condition(field: field, comparison: comparison, value: operand(&random))
    }
  }

  // MARK: The product's query

  func query(of db: Firestore) -> Query {
    var query: Query = isGroup ? db.collectionGroup(collection) : db.collection(collection)
    for condition in conditions { query = query.whereFilter(filter(condition)) }
    if !alternatives.isEmpty { query = query.whereFilter(Filter.orFilter(alternatives.map(filter))) }
    for order in orders { query = query.order(by: order.field, descending: order.isDescending) }
    if let start {
      let values = start.values.map(\.any)
      query = start.isInclusive ? query.start(at: values) : query.start(after: values)
    }
    if let end {
      let values = end.values.map(\.any)
      query = end.isInclusive ? query.end(at: values) : query.end(before: values)
    }
    if let limit { query = limit.isLast ? query.limit(toLast: limit.count) : query.limit(to: limit.count) }
    return query
  }

  private func filter(_ condition: Condition) -> Filter {
    let (field, value) = (condition.field, condition.value.any)
    let list = value as? [Any] ?? []
    return switch condition.comparison {
    case "==": .whereField(field, isEqualTo: value)
    case "!=": .whereField(field, isNotEqualTo: value)
    case "<": .whereField(field, isLessThan: value)
    case "<=": .whereField(field, isLessThanOrEqualTo: value)
    case ">": .whereField(field, isGreaterThan: value)
    case ">=": .whereField(field, isGreaterOrEqualTo: value)
    case "in": .whereField(field, in: list)
    case "not-in": .whereField(field, notIn: list)
    case "array-contains": .whereField(field, arrayContains: value)
    default: .whereField(field, arrayContainsAny: list)
    }
  }

  // MARK: The results

  /// The paths of the results, in order.
  func results(_ documents: [String: OracleFields]) -> [String] {
    let orders = allOrders
    var found = documents.filter { matches($0.key, $0.value) }.map { (path: $0.key, fields: $0.value) }
    found = found.filter { document in
      orders.allSatisfy { Self.value(document.fields, $0.field) != nil }
    }
    found.sort { compare($0, $1, orders) < 0 }
    if let start {
      found = found.filter {
        let place = compare($0.fields, start.values, orders)
        return start.isInclusive ? place >= 0 : place > 0
      }
    }
    if let end {
      found = found.filter {
        let place = compare($0.fields, end.values, orders)
        return end.isInclusive ? place <= 0 : place < 0
      }
    }
    if let limit { found = Array(limit.isLast ? found.suffix(limit.count) : found.prefix(limit.count)) }
    return found.map(\.path)
  }

  /// The orders that are named, and the fields of inequalities in the order of their names; the name is last.
  private var allOrders: [(field: String, isDescending: Bool)] {
    var all = orders
    let last = orders.last?.isDescending ?? false
    let unequal = Set((conditions + alternatives).filter { Self.ranges.contains($0.comparison) }.map(\.field))
    for field in unequal.sorted() where !all.contains(where: { $0.field == field }) { all.append((field, last)) }
    return all
  }

  private func matches(_ path: String, _ fields: OracleFields) -> Bool {
    let parent = path.split(separator: "/").dropLast().joined(separator: "/")
    guard isGroup ? parent.split(separator: "/").last.map(String.init) == collection : parent == collection else {
      return false
    }
    return conditions.allSatisfy { Self.holds($0, fields) }
      && (alternatives.isEmpty || alternatives.contains { Self.holds($0, fields) })
  }

  static func value(_ fields: OracleFields, _ path: String) -> OracleValue? {
    var current = OracleValue.map(fields)
    for name in path.split(separator: ".") {
      guard case .map(let fields) = current, let next = fields[String(name)] else { return nil }
      current = next
    }
    return current
  }

  private static func holds(_ condition: Condition, _ fields: OracleFields) -> Bool {
    guard let value = value(fields, condition.field) else { return false }
    let operand = condition.value
    let list: [OracleValue] = if case .array(let values) = operand { values } else { [] }
    let elements: [OracleValue] = if case .array(let values) = value { values } else { [] }
    let isComparable = value.rank == operand.rank
    let place = OracleValue.compare(value, operand)
    return switch condition.comparison {
    case "==": OracleValue.isSame(value, operand)
    case "!=": value != .null && !OracleValue.isSame(value, operand)
    case "<": isComparable && place < 0
    case "<=": isComparable && place <= 0
    case ">": isComparable && place > 0
    case ">=": isComparable && place >= 0
    case "in": list.contains { OracleValue.isSame($0, value) }
    case "not-in": value != .null && !list.contains { OracleValue.isSame($0, value) }
    case "array-contains": elements.contains { OracleValue.isSame($0, operand) }
    default: elements.contains { element in list.contains { OracleValue.isSame($0, element) } }
    }
  }

  private func compare(
    _ left: (path: String, fields: OracleFields), _ right: (path: String, fields: OracleFields),
    _ orders: [(field: String, isDescending: Bool)]
  ) -> Int {
    for order in orders {
      guard let first = Self.value(left.fields, order.field), let second = Self.value(right.fields, order.field) else {
        continue
      }
      let result = OracleValue.compare(first, second)
      if result != 0 { return order.isDescending ? -result : result }
    }
    let names = Self.compare(paths: left.path, right.path)
    return orders.last?.isDescending == true ? -names : names
  }

  /// Names are compared segment by segment.
  static func compare(paths left: String, _ right: String) -> Int {
    let (left, right) = (left.split(separator: "/"), right.split(separator: "/"))
    for (left, right) in zip(left, right) {
      let result = OracleValue.order(Array(left.utf8), Array(right.utf8))
      if result != 0 { return result }
    }
    return left.count < right.count ? -1 : left.count > right.count ? 1 : 0
  }

  private func compare(
    _ fields: OracleFields, _ values: [OracleValue], _ orders: [(field: String, isDescending: Bool)]
  ) -> Int {
    for (order, bound) in zip(orders, values) {
      guard let value = Self.value(fields, order.field) else { continue }
      let result = OracleValue.compare(value, bound)
      if result != 0 { return order.isDescending ? -result : result }
    }
    return 0
  }
}
