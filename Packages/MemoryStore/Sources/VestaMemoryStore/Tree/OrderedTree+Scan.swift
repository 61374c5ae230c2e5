import VestaStoreInterop

extension OrderedTree {
  /// The visitor of a scan, called with each entry.
  typealias Visitor = (_ key: [UInt8], _ value: [UInt8]) throws -> ScanStep

  /// Visits the entries of a range in order.
  ///
  /// - Returns: Whether the visitor wanted to continue to the end.
  func scan(_ range: KeyRange, order: ScanOrder, _ visit: Visitor) rethrows -> Bool {
    guard !range.isEmpty else { return true }
    let lower = range.lower.isEmpty ? nil : range.lower
    switch order {
    case .ascending: return try OrderedTree.ascend(root, from: lower, to: range.upper, visit)
    case .descending: return try OrderedTree.descend(root, from: lower, to: range.upper, visit)
    }
  }

  // Only the first and the last child of a range have to look at its bounds; those between get none.

  private static func ascend(
    _ node: TreeNode,
    from lower: [UInt8]?,
    to upper: [UInt8]?,
    _ visit: Visitor
  ) rethrows -> Bool {
    let end = node.end(below: upper)
    guard !node.isLeaf else {
      for position in (lower.map(node.position(of:)) ?? 0)..<end
      where try visit(node.keys[position], node.values[position]) == .stop { return false }
      return true
    }
    let first = lower.map(node.child(for:)) ?? 0
    for index in first...end {
      let shouldContinue = try ascend(
        node.children[index],
        from: index == first ? lower : nil,
        to: index == end ? upper : nil,
        visit
      )
      if !shouldContinue { return false }
    }
    return true
  }

  private static func descend(
    _ node: TreeNode,
    from lower: [UInt8]?,
    to upper: [UInt8]?,
    _ visit: Visitor
  ) rethrows -> Bool {
    let end = node.end(below: upper)
    guard !node.isLeaf else {
      for position in ((lower.map(node.position(of:)) ?? 0)..<end).reversed()
      where try visit(node.keys[position], node.values[position]) == .stop { return false }
      return true
    }
    let first = lower.map(node.child(for:)) ?? 0
    for index in (first...end).reversed() {
      let shouldContinue = try descend(
        node.children[index],
        from: index == first ? lower : nil,
        to: index == end ? upper : nil,
        visit
      )
      if !shouldContinue { return false }
    }
    return true
  }
}
