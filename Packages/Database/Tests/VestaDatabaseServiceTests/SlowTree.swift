import VestaDatabaseBackend
import VestaTesting

/// The tree of the documentation, written without looking at the product.
///
/// Nested dictionaries, sorted again for each question. It shares the types of the messages with the product, no more.
struct SlowTree: Equatable {
  enum Value: Equatable {
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)

    static func == (left: Value, right: Value) -> Bool { SlowTree.compare(left, right) == 0 }
  }

  var value: Value?
  var priority: Value?
  var children: [[UInt16]: SlowTree] = [:]

  var isEmpty: Bool { value == nil && children.isEmpty }

  // MARK: Order

  static func rank(_ value: Value?) -> Int {
    switch value {
    case nil: 0
    case .bool(false): 1
    case .bool(true): 2
    case .int, .double: 3
    case .string: 4
    }
  }

  /// Below zero, zero or above: null, false, true, numbers, strings by UTF-16 code units.
  static func compare(_ left: Value?, _ right: Value?) -> Int {
    if rank(left) != rank(right) { return rank(left) - rank(right) }
    switch (left, right) {
    case (.int(let left)?, .int(let right)?): return left < right ? -1 : left > right ? 1 : 0
    case (.string(let left)?, .string(let right)?): return compare(Array(left.utf16), Array(right.utf16))
    case (.int(let left)?, .double(let right)?): return compare(left, right)
    case (.double(let left)?, .int(let right)?): return -compare(right, left)
    case (.double(let left)?, .double(let right)?): return left < right ? -1 : left > right ? 1 : 0
    default: return 0
    }
  }

  /// By their exact values: the order would not be one otherwise, as two whole numbers can be near the same double.
  private static func compare(_ left: Int64, _ right: Double) -> Int {
    if right >= 9.3e18 { return -1 }
    if right <= -9.3e18 { return 1 }
    let floor = right.rounded(.down)
    guard let whole = Int64(exactly: floor) else { return floor > 0 ? -1 : 1 }
    return left != whole ? (left < whole ? -1 : 1) : right > floor ? -1 : 0
  }

  static func compare(_ left: [UInt16], _ right: [UInt16]) -> Int {
    left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  /// Keys that are 32-bit integers are first, by number and then by length, "00" before "-0"; the others by UTF-16
  /// code units.
  static func compareKeys(_ left: [UInt16], _ right: [UInt16]) -> Int {
    switch (integer(left), integer(right)) {
    case (let first?, let second?):
      return first != second
        ? (first < second ? -1 : 1)
        : left.count != right.count
          ? left.count - right.count
          : compare(right, left)
    case (.some, nil): return -1
    case (nil, .some): return 1
    default: return compare(left, right)
    }
  }

  /// `-?(0*)\d{1,10}` of at most eleven characters, in the range of 32 bits.
  static func integer(_ key: [UInt16]) -> Int? {
    var digits = key[...]
    var sign = 1
    if digits.first == 0x2D {
      sign = -1
      digits = digits.dropFirst()
    }
    guard !digits.isEmpty, key.count <= 11 else { return nil }
    var number = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + Int(digit - 0x30)
    }
    number *= sign
    return (-2_147_483_648...2_147_483_647).contains(number) ? number : nil
  }

  // MARK: Writing

  /// Sets a node; `.priority` at the end sets a priority.
  mutating func set(_ path: ArraySlice<String>, _ node: SlowTree) {
    guard let front = path.first else {
      self = node
      return
    }
    if front == ".priority" {
      if !isEmpty { priority = node.value }
      return
    }
    let key = Array(front.utf16)
    var child = children[key] ?? SlowTree()
    child.set(path.dropFirst(), node)
    if child.isEmpty {
      guard children[key] != nil else { return }
      children[key] = nil
      if children.isEmpty { self = SlowTree() }
    } else {
      children[key] = child
      value = nil
    }
  }

  func at(_ path: ArraySlice<String>) -> SlowTree {
    guard let front = path.first else { return self }
    return children[Array(front.utf16)]?.at(path.dropFirst()) ?? SlowTree()
  }

  // MARK: Queries

  struct Bound {
    /// The value; in the order by key the key.
    var value: Value?
    var key: String?
    var isInclusive: Bool
  }

  struct Query {
    /// `.priority`, `.key`, `.value` or a path.
    var order: String
    var start: Bound?
    var end: Bound?
    var first: Int?
    var last: Int?
  }

  /// The sort key of a child: its rank among null, leaves and objects, and the leaf.
  private func sortKey(_ order: String) -> (isObject: Bool, value: Value?) {
    switch order {
    case ".priority": return (false, priority)
    case ".value": return (!children.isEmpty, value)
    default:
      let below = at(order.split(separator: "/").map(String.init)[...])
      return (!below.children.isEmpty, below.value)
    }
  }

  private static func compare(_ left: (isObject: Bool, value: Value?), _ right: (isObject: Bool, value: Value?)) -> Int
  {
    if left.isObject != right.isObject { return left.isObject ? 1 : -1 }
    return left.isObject ? 0 : compare(left.value, right.value)
  }

  func result(of query: Query) -> SlowTree {
    var entries = children.map { ($0.key, $0.value) }
    func order(_ left: ([UInt16], SlowTree), _ right: ([UInt16], SlowTree)) -> Int {
      if query.order == ".key" { return Self.compareKeys(left.0, right.0) }
      let byValue = Self.compare(left.1.sortKey(query.order), right.1.sortKey(query.order))
      return byValue != 0 ? byValue : Self.compareKeys(left.0, right.0)
    }
    entries.sort { order($0, $1) < 0 }
    entries = entries.filter { entry in
      let isAbove = query.start.map { Self.side(entry, $0, query.order, whole: -1) } ?? 1
      let isBelow = query.end.map { Self.side(entry, $0, query.order, whole: 1) } ?? -1
      return (isAbove > 0 || isAbove == 0 && query.start?.isInclusive == true)
        && (isBelow < 0 || isBelow == 0 && query.end?.isInclusive == true)
    }
    if let first = query.first { entries = Array(entries.prefix(first)) }
    if let last = query.last { entries = Array(entries.suffix(last)) }
    let hasParameters = query.start != nil || query.end != nil || query.first != nil || query.last != nil
    guard hasParameters else { return self }
    return SlowTree(children: Dictionary(uniqueKeysWithValues: entries))
  }

  /// Where an entry is, seen from a bound; a bound without a key is at all entries of its value.
  private static func side(_ entry: ([UInt16], SlowTree), _ bound: Bound, _ order: String, whole: Int) -> Int {
    if order == ".key" {
      guard case .string(let key)? = bound.value else { return 0 }
      return compareKeys(entry.0, Array(key.utf16))
    }
    let byValue = compare(entry.1.sortKey(order), (false, bound.value))
    guard byValue == 0, let key = bound.key else { return byValue }
    return compareKeys(entry.0, Array(key.utf16))
  }
}

// MARK: To and from the types of the messages

extension SlowTree.Value {
  var leaf: DatabaseLeaf {
    switch self {
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    }
  }

  init?(_ leaf: DatabaseLeaf?) {
    switch leaf {
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .int(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    default: return nil
    }
  }
}

extension SlowTree {
  init(_ node: DatabaseNode) {
    value = Value(node.leaf)
    priority = Value(node.priority)
    var below: [[UInt16]: SlowTree] = [:]
    node.forEachChild { below[Array($0.text.utf16)] = SlowTree($1) }
    children = below
  }

  var node: DatabaseNode {
    if let value { return DatabaseNode(value.leaf, priority: priority?.leaf) }
    let below = children.map { (DatabaseKey(String(decoding: $0.key, as: UTF16.self)), $0.value.node) }
    return DatabaseNode(children: below, priority: priority?.leaf)
  }
}

extension SlowTree.Query {
  var spec: DatabaseQuerySpec {
    var spec = DatabaseQuerySpec()
    switch order {
    case ".priority": spec.index = .priority
    case ".key": spec.index = .key
    case ".value": spec.index = .value
    default: spec.index = .child(DatabasePath(order))
    }
    func bound(_ bound: SlowTree.Bound) -> DatabaseQuerySpec.Bound {
      .init(
        bound.value.map { DatabaseNode($0.leaf) } ?? .empty, key: bound.key.map { DatabaseKey($0) },
        isInclusive: bound.isInclusive)
    }
    spec.start = start.map(bound)
    spec.end = end.map(bound)
    if let first { spec.limit = .init(first, .first) }
    if let last { spec.limit = .init(last, .last) }
    return spec
  }
}

// MARK: Hostile input

extension SplitMix {
  private static let hostileKeys = [
    "a", "b", "B", "1", "01", "001", "-1", "-0", "0", "00", "2147483647", "2147483648", "-2147483648", "-2147483649",
    "00000000001", "000000000001", " ", "!", "-", "~", "é", "e\u{301}", "\u{FFFF}", "\u{E000}", "\u{1F600}", "\u{D7FF}",
    "a b", "1a", "١",
  ]

  mutating func hostileKey() -> String { Self.hostileKeys[below(oneIn(2) ? 4 : Self.hostileKeys.count)] }

  mutating func hostileValue() -> SlowTree.Value {
    switch below(8) {
    case 0: .bool(oneIn(2))
    case 1: .int([0, 1, -1, .max, .min, 1 << 53, (1 << 53) + 1, (1 << 53) + 2, -(1 << 53) - 1][below(9)])
    case 2: .double([0.5, -0.0, 1, 1e300, -1e300, .leastNonzeroMagnitude, 9_007_199_254_740_992, 1.5][below(8)])
    case 3:
      .string(
        [
          "", "a", "b", "\u{0}", "a\u{0}", "a\u{0}b", "\u{FFFF}", "\u{E000}", "\u{1F600}", "é",
          String(repeating: "x", count: 1023), String(repeating: "x", count: 1024),
          String(repeating: "x", count: 1025), String(repeating: "x", count: 1024) + "y",
        ][below(14)])
    default: .int(Int64(below(4)))
    }
  }

  mutating func hostilePath(_ depth: Int) -> [String] { (0..<depth).map { _ in hostileKey() } }

  mutating func hostileTree(_ depth: Int) -> SlowTree {
    var tree = SlowTree()
    if oneIn(5) { return tree }
    if depth == 0 || oneIn(3) {
      tree.value = hostileValue()
    } else {
      for _ in 0...below(4) {
        let child = hostileTree(depth - 1)
        if !child.isEmpty { tree.children[Array(hostileKey().utf16)] = child }
      }
    }
    if oneIn(4), !tree.isEmpty { tree.priority = hostilePriority() }
    return tree
  }

  mutating func hostilePriority() -> SlowTree.Value {
    while true {
      let value = hostileValue()
      if case .bool = value { continue }
      return value
    }
  }

  mutating func hostileQuery() -> SlowTree.Query {
    var query = SlowTree.Query(order: [".priority", ".key", ".value", "a", "a/b", "1"][below(6)])
    func bound(_ random: inout SplitMix) -> SlowTree.Bound {
      if query.order == ".key" {
        return .init(value: .string(random.hostileKey()), key: nil, isInclusive: random.oneIn(2))
      }
      let value = random.oneIn(8) ? nil : query.order == ".priority" ? random.hostilePriority() : random.hostileValue()
      return .init(value: value, key: random.oneIn(2) ? random.hostileKey() : nil, isInclusive: random.oneIn(2))
    }
    if oneIn(2) { query.start = bound(&self) }
    if oneIn(2) { query.end = bound(&self) }
    switch below(4) {
    case 0: query.first = 1 + below(3)
    case 1: query.last = 1 + below(3)
    default: break
    }
    return query
  }
}
