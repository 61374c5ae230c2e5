import Foundation
import VestaTesting

/// A tree as the documentation of the Realtime Database describes it, in plain dictionaries: the oracle of the tests.
///
/// It shares no code with the package. Whole numbers and strings for leaves, no priorities.
indirect enum OracleTree: Equatable, Sendable, CustomStringConvertible {
  case nothing
  case number(Int)
  case text(String)
  case children([String: OracleTree])

  var description: String {
    switch self {
    case .nothing: "null"
    case .number(let number): "\(number)"
    case .text(let text): "'\(text)'"
    case .children(let children):
      "{" + children.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
    }
  }

  /// The value as it is written and read.
  var plain: Any {
    switch self {
    case .nothing: NSNull()
    case .number(let number): number
    case .text(let text): text
    case .children(let children): children.mapValues(\.plain)
    }
  }

  subscript(path: [String]) -> OracleTree {
    guard let first = path.first else { return self }
    guard case .children(let children) = self else { return .nothing }
    return (children[first] ?? .nothing)[Array(path.dropFirst())]
  }

  /// The tree with another value at a path: what is empty vanishes, a leaf on the way becomes a parent.
  func setting(_ path: [String], _ value: OracleTree) -> OracleTree {
    guard let first = path.first else {
      if case .children(let children) = value {
        let rest = children.mapValues { $0.setting([], $0) }.filter { $0.value != .nothing }
        return rest.isEmpty ? .nothing : .children(rest)
      }
      return value
    }
    var children: [String: OracleTree] = [:]
    if case .children(let known) = self { children = known }
    let below = (children[first] ?? .nothing).setting(Array(path.dropFirst()), value)
    if below == .nothing {
      // Nothing is removed below a leaf.
      guard case .children = self else { return self }
    }
    children[first] = below == .nothing ? nil : below
    return children.isEmpty ? .nothing : .children(children)
  }

  init(_ value: Any?) {
    switch value {
    case let number as Int: self = .number(number)
    case let text as String: self = .text(text)
    case let children as [String: Any]: self = .children(children.mapValues { OracleTree($0) })
    default: self = .nothing
    }
  }
}

/// A query as the documentation describes it: an order, a first and a last value, a number of children from one end.
struct OracleQuery: Sendable, CustomStringConvertible {
  enum Order: Sendable { case key, value, child(String) }

  var path: [String]
  var order = Order.key
  var start: Int?
  var end: Int?
  var first: Int?
  var last: Int?

  var description: String {
    "/\(path.joined(separator: "/")) \(order) \(start.map { "from \($0)" } ?? "") \(end.map { "to \($0)" } ?? "") "
      + "\(first.map { "first \($0)" } ?? "") \(last.map { "last \($0)" } ?? "")"
  }

  var isEverything: Bool { start == nil && end == nil && first == nil && last == nil }

  /// The keys of the children that the query has, in order.
  func keys(of tree: OracleTree) -> [String] {
    guard case .children(let children) = tree[path] else { return [] }
    var ordered = children.sorted { isBefore($0, $1) }
    if let start { ordered.removeAll { rank($0) < (2, start) } }
    if let end { ordered.removeAll { rank($0) > (2, end) } }
    if let first { ordered = Array(ordered.prefix(first)) }
    if let last { ordered = Array(ordered.suffix(last)) }
    return ordered.map(\.key)
  }

  /// The result of the query.
  func result(in tree: OracleTree) -> OracleTree {
    if isEverything { return tree[path] }
    let keys = keys(of: tree)
    return keys.isEmpty ? .nothing : .children(Dictionary(uniqueKeysWithValues: keys.map { ($0, tree[path + [$0]]) }))
  }

  /// Null, numbers by size, texts, parents.
  private func rank(_ child: (key: String, value: OracleTree)) -> (Int, Int) {
    let value: OracleTree
    switch order {
    case .key: value = Int(child.key).map { .number($0) } ?? .text(child.key)
    case .value: value = child.value
    case .child(let name): value = child.value[[name]]
    }
    switch value {
    case .nothing: return (0, 0)
    case .number(let number): return (2, number)
    case .text: return (3, 0)
    case .children: return (4, 0)
    }
  }

  private func isBefore(
    _ left: (key: String, value: OracleTree), _ right: (key: String, value: OracleTree)
  ) -> Bool {
    let (one, other) = (rank(left), rank(right))
    if one != other { return one < other }
    return isBefore(left.key, right.key)
  }

  /// Keys that are numbers by size, then the others by their letters.
  private func isBefore(_ left: String, _ right: String) -> Bool {
    switch (Int(left), Int(right)) {
    case (let one?, let other?): one < other
    case (nil, nil): left < right
    case (let one, _): one != nil
    }
  }
}

extension SplitMix {
  private static let names = ["a", "b", "c", "d", "1", "2", "10"]

  mutating func oracleKey() -> String { Self.names[below(Self.names.count)] }

  mutating func oraclePath(_ depths: ClosedRange<Int>) -> [String] {
    (0..<(depths.lowerBound + below(depths.count))).map { _ in oracleKey() }
  }

  mutating func oracleTree(depth: Int = 2) -> OracleTree {
    switch below(7) {
    case 0: .nothing
    case 1, 2, 3: .number(below(9))
    default:
      depth == 0
        ? .number(below(9))
        : .nothing.setting(
          [],
          .children(
            Dictionary(
              (0...below(4)).map { _ in (oracleKey(), oracleTree(depth: depth - 1)) }, uniquingKeysWith: { $1 })))
    }
  }

  mutating func oracleQuery() -> OracleQuery {
    var query = OracleQuery(path: ["t"] + oraclePath(0...1))
    switch below(3) {
    case 0: query.order = .key
    case 1: query.order = .value
    default: query.order = .child(oracleKey())
    }
    if case .key = query.order {
    } else {
      if oneIn(4) { query.start = below(6) }
      if oneIn(4) { query.end = 2 + below(6) }
    }
    if oneIn(2) { query.first = 1 + below(3) } else if oneIn(2) || query.isEverything { query.last = 1 + below(3) }
    return query
  }
}
