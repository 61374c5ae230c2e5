/// A set of intervals with a member for each, which finds the intervals that contain a point.
///
/// By the example of the listeners of queries by age: listener 7 has 0 to 20, listener 8 has 18 and more. A document
/// with the age 19 is of interest to both, one with 30 to listener 8 alone, and of ten thousand listeners of ages
/// above 40 none is looked at for either.
///
/// A tree in the order of the lower bounds, in which each node knows the highest upper bound at and below it: a branch
/// that ends below the point is left out as a whole. It is a treap: random weights keep it balanced for any input, so
/// a change costs O(log n) comparisons, and a search O(log n) for each interval that is found.
public struct IntervalTree<Bound: Comparable, Member: Comparable> {
  @usableFromInline
  struct Node {
    @usableFromInline let member: Member
    @usableFromInline var interval: ClosedInterval<Bound>
    @usableFromInline let weight: UInt64
    /// The highest upper bound at and below the node; `nil` for no bound.
    @usableFromInline var highest: Bound?
    @usableFromInline var left = -1
    @usableFromInline var right = -1

    @inlinable
    init(member: Member, interval: ClosedInterval<Bound>, weight: UInt64) {
      self.member = member
      self.interval = interval
      self.weight = weight
      highest = interval.upper
    }
  }

  /// The nodes of the tree and the free ones; a branch is the index of its topmost node, or negative when it is empty.
  @usableFromInline var nodes: [Node] = []
  @usableFromInline var free: [Int] = []
  @usableFromInline var root = -1
  /// The state of the generator of weights, random at first: choosing intervals cannot unbalance the tree.
  @usableFromInline var seed = UInt64.random(in: 0 ... .max)

  /// A tree without intervals.
  @inlinable
  public init() {}

  /// Whether the tree has no interval.
  @inlinable
  public var isEmpty: Bool { root < 0 }

  /// Adds an interval for a member, which may have several; does nothing when it has this one.
  @inlinable
  public mutating func insert(_ member: Member, _ interval: ClosedInterval<Bound>) {
    root = inserting(Node(member: member, interval: interval, weight: nextWeight()), into: root)
  }

  /// Removes an interval of a member; does nothing when the member does not have it.
  @inlinable
  public mutating func remove(_ member: Member, _ interval: ClosedInterval<Bound>) {
    root = removing(member, interval, from: root)
    if root < 0 {
      nodes = []
      free = []
    }
  }

  /// Calls a closure with the member of each interval that contains a point; with a member of several, for each.
  ///
  /// - Parameters:
  ///   - point: The point.
  ///   - body: Receives the members, in the order of the lower bounds.
  /// - Returns: The number of intervals that were looked at.
  @inlinable
  @discardableResult
  public func visit(_ point: Bound, _ body: (Member) -> Void) -> Int { visit(root, point, body) }

  @inlinable
  func visit(_ branch: Int, _ point: Bound, _ body: (Member) -> Void) -> Int {
    guard branch >= 0 else { return 0 }
    if let highest = nodes[branch].highest, highest < point { return 0 }
    var seen = 1 + visit(nodes[branch].left, point, body)
    if nodes[branch].interval.startsAtOrBelow(point) {
      if nodes[branch].interval.endsAtOrAbove(point) { body(nodes[branch].member) }
      seen += visit(nodes[branch].right, point, body)
    }
    return seen
  }

  // MARK: Nodes

  @inlinable
  mutating func store(_ node: Node) -> Int {
    guard let index = free.popLast() else {
      nodes.append(node)
      return nodes.count - 1
    }
    nodes[index] = node
    return index
  }

  /// The next number of SplitMix64.
  @inlinable
  mutating func nextWeight() -> UInt64 {
    seed &+= 0x9E37_79B9_7F4A_7C15
    var bits = seed
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  @inlinable
  mutating func release(_ index: Int) {
    nodes[index].interval = ClosedInterval(lower: nil, upper: nil)
    nodes[index].highest = nil
    free.append(index)
  }

  /// Negative, zero or positive, as a node sorts before an interval of a member, is it, or sorts after it: by the lower
  /// bound, then by the member, then by the upper bound.
  @inlinable
  func order(_ node: Int, _ member: Member, _ interval: ClosedInterval<Bound>) -> Int {
    let lower = IntervalTree.order(nodes[node].interval.lower, interval.lower, absent: -1)
    if lower != 0 { return lower }
    if nodes[node].member < member { return -1 }
    if member < nodes[node].member { return 1 }
    return IntervalTree.order(nodes[node].interval.upper, interval.upper, absent: 1)
  }

  /// - Parameter absent: The order of the absent bound among others: negative for first, positive for last.
  @inlinable
  static func order(_ left: Bound?, _ right: Bound?, absent: Int) -> Int {
    guard let left else { return right == nil ? 0 : absent }
    guard let right else { return -absent }
    return left < right ? -1 : right < left ? 1 : 0
  }

  // MARK: Branches

  /// Puts a node in at the height of its weight: above the first branch that is lighter.
  ///
  /// - Returns: The branch with the node.
  @inlinable
  mutating func inserting(_ node: Node, into branch: Int) -> Int {
    guard branch >= 0 else { return store(node) }
    let order = order(branch, node.member, node.interval)
    if order == 0 { return branch }
    if node.weight > nodes[branch].weight {
      guard !contains(node.member, node.interval, in: branch) else { return branch }
      let (left, right) = split(branch, before: node.member, node.interval)
      let index = store(node)
      nodes[index].left = left
      nodes[index].right = right
      update(index)
      return index
    }
    if order < 0 {
      let right = inserting(node, into: nodes[branch].right)
      nodes[branch].right = right
    } else {
      let left = inserting(node, into: nodes[branch].left)
      nodes[branch].left = left
    }
    update(branch)
    return branch
  }

  /// - Returns: The branch without the interval of the member.
  @inlinable
  mutating func removing(_ member: Member, _ interval: ClosedInterval<Bound>, from branch: Int) -> Int {
    guard branch >= 0 else { return branch }
    let order = order(branch, member, interval)
    if order == 0 {
      let rest = merge(nodes[branch].left, nodes[branch].right)
      release(branch)
      return rest
    }
    if order < 0 {
      let right = removing(member, interval, from: nodes[branch].right)
      nodes[branch].right = right
    } else {
      let left = removing(member, interval, from: nodes[branch].left)
      nodes[branch].left = left
    }
    update(branch)
    return branch
  }

  @inlinable
  func contains(_ member: Member, _ interval: ClosedInterval<Bound>, in branch: Int) -> Bool {
    var branch = branch
    while branch >= 0 {
      let order = order(branch, member, interval)
      if order == 0 { return true }
      branch = order < 0 ? nodes[branch].right : nodes[branch].left
    }
    return false
  }

  /// Divides a branch into the nodes before an interval of a member, which is not in it, and those after it.
  @inlinable
  mutating func split(
    _ branch: Int, before member: Member, _ interval: ClosedInterval<Bound>
  ) -> (left: Int, right: Int) {
    guard branch >= 0 else { return (-1, -1) }
    if order(branch, member, interval) < 0 {
      let (left, right) = split(nodes[branch].right, before: member, interval)
      nodes[branch].right = left
      update(branch)
      return (branch, right)
    }
    let (left, right) = split(nodes[branch].left, before: member, interval)
    nodes[branch].left = right
    update(branch)
    return (left, branch)
  }

  /// Joins two branches of which the first precedes the second.
  @inlinable
  mutating func merge(_ left: Int, _ right: Int) -> Int {
    if left < 0 { return right }
    if right < 0 { return left }
    if nodes[left].weight > nodes[right].weight {
      let joined = merge(nodes[left].right, right)
      nodes[left].right = joined
      update(left)
      return left
    }
    let joined = merge(left, nodes[right].left)
    nodes[right].left = joined
    update(right)
    return right
  }

  /// Finds the highest upper bound of a branch from its sub-branches.
  @inlinable
  mutating func update(_ branch: Int) {
    var highest = nodes[branch].interval.upper
    raise(&highest, nodes[branch].left)
    raise(&highest, nodes[branch].right)
    nodes[branch].highest = highest
  }

  @inlinable
  func raise(_ highest: inout Bound?, _ branch: Int) {
    guard branch >= 0, let known = highest else { return }
    guard let other = nodes[branch].highest else {
      highest = nil
      return
    }
    if known < other { highest = other }
  }
}

extension IntervalTree.Node: Sendable where Bound: Sendable, Member: Sendable {}
extension IntervalTree: Sendable where Bound: Sendable, Member: Sendable {}
