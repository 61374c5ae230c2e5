import VestaDatabaseBackend

/// From where to where the children of a window can stand.
struct PositionInterval: Sendable {
  /// The lowest position; `nil` for no bound.
  let lower: DatabasePosition?
  /// The highest position; `nil` for no bound.
  let upper: DatabasePosition?

  func startsAtOrBelow(_ position: DatabasePosition) -> Bool { lower.map { !(position < $0) } ?? true }

  func endsAtOrAbove(_ position: DatabasePosition) -> Bool { upper.map { !($0 < position) } ?? true }
}

/// Intervals by number, found by a position that they contain.
///
/// A tree in the order of the lower ends, in which each node knows the highest upper end below it: what ends below a
/// position is passed over in whole branches. It keeps its balance by weights that are as good as random, so a change
/// costs O(log n), and a look at a position O(log n) for each interval that is found there.
struct IntervalTree: Sendable {
  private struct Node {
    let id: Int
    let interval: PositionInterval
    let weight: UInt64
    /// The highest upper end at and below the node; `nil` for no bound.
    var highest: DatabasePosition?
    var left = -1
    var right = -1
  }

  private var nodes: [Node] = []
  private var free: [Int] = []
  private var root = -1

  mutating func insert(_ id: Int, _ interval: PositionInterval) {
    let node = Node(id: id, interval: interval, weight: Self.weight(of: id), highest: interval.upper)
    let place = free.popLast() ?? nodes.count
    if place == nodes.count { nodes.append(node) } else { nodes[place] = node }
    let (left, right) = split(root, at: interval.lower, id)
    root = merge(merge(left, place), right)
  }

  mutating func remove(_ id: Int, _ interval: PositionInterval) {
    let (left, rest) = split(root, at: interval.lower, id)
    let (one, right) = split(rest, at: interval.lower, id + 1)
    if one >= 0 { free.append(one) }
    root = merge(left, right)
  }

  /// Calls the body for the intervals that contain a position.
  ///
  /// - Returns: How many intervals it has looked at.
  @discardableResult
  func visit(_ position: DatabasePosition, _ body: (Int) -> Void) -> Int { visit(root, position, body) }

  private func visit(_ place: Int, _ position: DatabasePosition, _ body: (Int) -> Void) -> Int {
    guard place >= 0, nodes[place].highest.map({ !($0 < position) }) ?? true else { return 0 }
    let interval = nodes[place].interval
    var seen = 1 + visit(nodes[place].left, position, body)
    if interval.startsAtOrBelow(position) {
      if interval.endsAtOrAbove(position) { body(nodes[place].id) }
      seen += visit(nodes[place].right, position, body)
    }
    return seen
  }

  // MARK: Balance

  private static func weight(of id: Int) -> UInt64 {
    var bits = UInt64(bitPattern: Int64(id)) &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return bits ^ (bits >> 27)
  }

  /// Parts a branch into what comes before an interval, and the rest.
  private mutating func split(_ place: Int, at lower: DatabasePosition?, _ id: Int) -> (left: Int, right: Int) {
    guard place >= 0 else { return (-1, -1) }
    if isBefore(nodes[place], lower, id) {
      let (left, right) = split(nodes[place].right, at: lower, id)
      nodes[place].right = left
      note(place)
      return (place, right)
    }
    let (left, right) = split(nodes[place].left, at: lower, id)
    nodes[place].left = right
    note(place)
    return (left, place)
  }

  private func isBefore(_ node: Node, _ lower: DatabasePosition?, _ id: Int) -> Bool {
    switch (node.interval.lower, lower) {
    case (nil, nil): return node.id < id
    case (nil, _?): return true
    case (_?, nil): return false
    case (let own?, let other?): return own < other || (!(other < own) && node.id < id)
    }
  }

  private mutating func merge(_ left: Int, _ right: Int) -> Int {
    if left < 0 { return right }
    if right < 0 { return left }
    if nodes[left].weight > nodes[right].weight {
      nodes[left].right = merge(nodes[left].right, right)
      note(left)
      return left
    }
    nodes[right].left = merge(left, nodes[right].left)
    note(right)
    return right
  }

  /// Notes the highest end of a branch anew.
  private mutating func note(_ place: Int) {
    var highest = nodes[place].interval.upper
    for branch in [nodes[place].left, nodes[place].right] where branch >= 0 {
      guard let known = highest else { break }
      guard let other = nodes[branch].highest else {
        highest = nil
        break
      }
      if known < other { highest = other }
    }
    nodes[place].highest = highest
  }
}
