/// Numbers under ranges of bytes, found by a point in time that follows how many ranges hold it.
///
/// A treap by the lower bounds, in which each node knows the highest upper bound below it. Both bounds belong to a
/// range.
struct IntervalTree: Sendable {
  /// From where to where; `nil` for no end.
  struct Interval: Hashable, Sendable {
    var low: [UInt8]
    var high: [UInt8]?

    func holds(_ point: [UInt8]) -> Bool {
      !point.lexicographicallyPrecedes(low) && !(high?.lexicographicallyPrecedes(point) ?? false)
    }
  }

  private struct Node: Sendable {
    var interval: Interval
    var ids: Set<Int>
    /// Random, so that the tree is balanced whatever comes.
    var priority: UInt64
    var left: Int?
    var right: Int?
    var highest: [UInt8]?
  }

  private var nodes: [Node] = []
  private var free: [Int] = []
  private var root: Int?

  var isEmpty: Bool { root == nil }

  mutating func insert(_ id: Int, _ interval: Interval) {
    if let node = find(interval) {
      nodes[node].ids.insert(id)
      return
    }
    let node = Node(
      interval: interval, ids: [id], priority: .random(in: 0 ... .max), left: nil, right: nil, highest: interval.high)
    let (below, above) = split(root, at: interval)
    root = merge(merge(below, place(node)), above)
  }

  mutating func remove(_ id: Int, _ interval: Interval) {
    guard let node = find(interval), nodes[node].ids.remove(id) != nil, nodes[node].ids.isEmpty else { return }
    root = removing(node, from: root)
    nodes[node].interval = Interval(low: [], high: [])
    free.append(node)
  }

  /// The numbers of all ranges that hold a point.
  func ids(at point: [UInt8]) -> Set<Int> {
    var found: Set<Int> = []
    collect(at: point, from: root, into: &found)
    return found
  }

  private func collect(at point: [UInt8], from start: Int?, into found: inout Set<Int>) {
    guard let start else { return }
    let node = nodes[start]
    if let highest = node.highest, highest.lexicographicallyPrecedes(point) { return }
    collect(at: point, from: node.left, into: &found)
    if point.lexicographicallyPrecedes(node.interval.low) { return }
    if node.interval.holds(point) { found.formUnion(node.ids) }
    collect(at: point, from: node.right, into: &found)
  }

  private func find(_ interval: Interval) -> Int? {
    var current = root
    while let node = current {
      if nodes[node].interval == interval { return node }
      current = IntervalTree.isBefore(interval, nodes[node].interval) ? nodes[node].left : nodes[node].right
    }
    return nil
  }

  private mutating func place(_ node: Node) -> Int {
    if let index = free.popLast() {
      nodes[index] = node
      return index
    }
    nodes.append(node)
    return nodes.count - 1
  }

  private mutating func removing(_ node: Int, from start: Int?) -> Int? {
    guard let start else { return nil }
    if start == node { return merge(nodes[start].left, nodes[start].right) }
    if IntervalTree.isBefore(nodes[node].interval, nodes[start].interval) {
      nodes[start].left = removing(node, from: nodes[start].left)
    } else {
      nodes[start].right = removing(node, from: nodes[start].right)
    }
    update(start)
    return start
  }

  /// Parts a tree into what comes before an interval and what does not.
  private mutating func split(_ start: Int?, at interval: Interval) -> (Int?, Int?) {
    guard let start else { return (nil, nil) }
    if IntervalTree.isBefore(nodes[start].interval, interval) {
      let (below, above) = split(nodes[start].right, at: interval)
      nodes[start].right = below
      update(start)
      return (start, above)
    }
    let (below, above) = split(nodes[start].left, at: interval)
    nodes[start].left = above
    update(start)
    return (below, start)
  }

  /// Joins two trees of which the first comes before the second.
  private mutating func merge(_ first: Int?, _ second: Int?) -> Int? {
    guard let first, let second else { return first ?? second }
    if nodes[first].priority > nodes[second].priority {
      nodes[first].right = merge(nodes[first].right, second)
      update(first)
      return first
    }
    nodes[second].left = merge(first, nodes[second].left)
    update(second)
    return second
  }

  private mutating func update(_ node: Int) {
    var highest = nodes[node].interval.high
    for child in [nodes[node].left, nodes[node].right] {
      guard let child, let known = highest else { continue }
      guard let other = nodes[child].highest else {
        highest = nil
        break
      }
      if known.lexicographicallyPrecedes(other) { highest = other }
    }
    nodes[node].highest = highest
  }

  private static func isBefore(_ left: Interval, _ right: Interval) -> Bool {
    if left.low != right.low { return left.low.lexicographicallyPrecedes(right.low) }
    guard let first = left.high else { return false }
    guard let second = right.high else { return true }
    return first.lexicographicallyPrecedes(second)
  }
}
