/// Who waits for whom: pure; it finds out that a wait would never end.
///
/// Example: the load of A waits for B. B's load now wants to wait for A: the path from A leads to B already, so this
/// wait would close a cycle, and is refused with the path.
package struct WaitGraph<Node: Hashable> {
  /// The nodes for which each node waits, and how often.
  private var awaited: [Node: [Node: Int]] = [:]

  package init() {}

  /// Whether there are no waiters.
  package var isEmpty: Bool { awaited.isEmpty }

  /// The nodes of `waiting` begin to wait for a node.
  package mutating func add(_ node: Node, by waiting: [Node]) {
    for one in waiting { awaited[one, default: [:]][node, default: 0] += 1 }
  }

  /// The nodes of `waiting` no longer wait for a node.
  package mutating func remove(_ node: Node, by waiting: [Node]) {
    for one in waiting {
      guard let count = awaited[one]?[node] else { continue }
      awaited[one]?[node] = count > 1 ? count - 1 : nil
      if awaited[one]?.isEmpty == true { awaited[one] = nil }
    }
  }

  /// The nodes from `node` to the first of `targets` that it waits for, itself included; `nil` when it waits for none.
  package func path(from node: Node, to targets: [Node]) -> [Node]? {
    var before: [Node: Node?] = [node: nil]
    var next = [node]
    while let one = next.popLast() {
      if targets.contains(one) {
        var path = [one]
        while let last = path.first, let earlier = before[last] ?? nil { path.insert(earlier, at: 0) }
        return path
      }
      for other in awaited[one, default: [:]].keys where before[other] == nil {
        before[other] = .some(one)
        next.append(other)
      }
    }
    return nil
  }
}
