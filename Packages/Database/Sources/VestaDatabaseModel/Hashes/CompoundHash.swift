import VestaBytes
public import VestaDatabaseBackend

/// The hashes of ranges of leaves, by which a client that has most of the data is sent the rest only.
///
/// By the example of `{a: {b: 1, c: 2}, d: 3}` cut after `a/b`: the first range has the leaf `a/b`, its string is
/// `("a":("b":(number:3ff…)))`; the second one has `a/c` and `d`. A service whose `d` is another finds that its string
/// of the second range has another hash, and sends `a/c` and `d`.
public enum CompoundHash {
  /// The hashes of a node, in ranges whose length grows with the root of the size; `nil` for a small node.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - minimumSize: The size above which there are ranges, in estimated bytes.
  ///   - shortest: The least length of a range.
  public static func hash(
    of node: DatabaseNode, from minimumSize: Int = 1024, shortest: Int = 512
  ) -> DatabaseCompoundHash? {
    let size = NodeSize.estimate(node)
    guard size > minimumSize else { return nil }
    let longest = max(shortest, Int(Double(size * 100).squareRoot()))
    var result = DatabaseCompoundHash(posts: [], hashes: [])
    var range = RangeText()
    forEachLeaf(of: node) { path, leaf in
      range.add(leaf, at: path)
      guard range.length > longest, path.back?.isPriority != true else { return }
      result.posts.append(path)
      result.hashes.append(range.hash)
      range = RangeText()
    }
    if range.length > 0 {
      // The last leaf ends a range too; later data of a service is a separate range.
      var last = DatabasePath.root
      forEachLeaf(of: node) { path, _ in last = path }
      result.posts.append(last)
      result.hashes.append(range.hash)
    }
    result.hashes.append("")
    return result
  }

  /// The ranges in which a node differs from the one that has the hashes.
  ///
  /// All of the node in one range when the hashes do not say what they should.
  public static func differences(of node: DatabaseNode, from compound: DatabaseCompoundHash) -> [DatabaseRangeMerge] {
    let whole = [DatabaseRangeMerge(after: nil, through: nil, node)]
    let posts = compound.posts
    guard compound.hashes.count == posts.count + 1, zip(posts, posts.dropFirst()).allSatisfy({ precedes($0, $1) })
    else { return whole }
    var merges: [DatabaseRangeMerge] = []
    var leaves: [(DatabasePath, DatabaseNode)] = []
    var isComplete = true
    func endRange(_ number: Int) {
      defer { leaves = [] }
      var range = RangeText()
      for (path, leaf) in leaves { range.add(leaf, at: path) }
      guard range.hash != compound.hashes[number] else { return }
      let part = self.node(of: leaves)
      var count = 0
      forEachLeaf(of: part) { _, _ in count += 1 }
      // A priority whose node has its children in the next range cannot be said by this one.
      if count != leaves.count { isComplete = false }
      let start = number == 0 ? nil : posts[number - 1]
      merges.append(DatabaseRangeMerge(after: start, through: number < posts.count ? posts[number] : nil, part))
    }
    var number = 0
    forEachLeaf(of: node) { path, leaf in
      while number < posts.count, precedes(posts[number], path) {
        endRange(number)
        number += 1
      }
      leaves.append((path, leaf))
    }
    for rest in number...posts.count { endRange(rest) }
    return isComplete && !merges.isEmpty ? merges : whole
  }

  /// A node with ranges of its leaves replaced.
  public static func apply(_ merges: [DatabaseRangeMerge], to node: DatabaseNode) -> DatabaseNode {
    var leaves: [(DatabasePath, DatabaseNode)] = []
    forEachLeaf(of: node) { path, leaf in
      let isReplaced = merges.contains { merge in
        (merge.start.map { precedes($0, path) } ?? true) && (merge.end.map { !precedes($0, path) } ?? true)
      }
      if !isReplaced { leaves.append((path, leaf)) }
    }
    for merge in merges { forEachLeaf(of: merge.node) { leaves.append(($0, $1)) } }
    return self.node(of: leaves)
  }

  // MARK: Leaves

  /// Calls the body for each leaf with its own priority, and for the priority of each node with children, in order.
  private static func forEachLeaf(
    of node: DatabaseNode, at path: DatabasePath = .root, _ body: (DatabasePath, DatabaseNode) -> Void
  ) {
    if node.isEmpty { return }
    if node.leaf != nil { return body(path, node) }
    if let priority = node.priority { body(path.child(.priority), DatabaseNode(priority)) }
    node.forEachChild { forEachLeaf(of: $1, at: path.child($0), body) }
  }

  /// Whether the first sorts before the second in the order of leaves.
  static func precedes(_ left: DatabasePath, _ right: DatabasePath) -> Bool {
    left.keys.lexicographicallyPrecedes(right.keys) { left, right in
      if left.isPriority != right.isPriority { return left.isPriority }
      return left < right
    }
  }

  /// A node of leaves; priorities last, because a node has to be there to have one.
  private static func node(of leaves: [(DatabasePath, DatabaseNode)]) -> DatabaseNode {
    var node = DatabaseNode.empty
    for (path, leaf) in leaves where path.back?.isPriority != true { node = node.setting(path, to: leaf) }
    for (path, leaf) in leaves where path.back?.isPriority == true { node = node.setting(path, to: leaf) }
    return node
  }
}

/// The string of a range of leaves, which its hash is of.
private struct RangeText {
  private var text = ""
  private var open: [DatabaseKey] = []

  var length: Int { text.utf8.count }

  var hash: String {
    if text.isEmpty { return "" }
    let closed = text + String(repeating: ")", count: open.count + 1)
    return Base64.standard.encode(SHA1.digest([UInt8](closed.utf8)))
  }

  mutating func add(_ leaf: DatabaseNode, at path: DatabasePath) {
    let keys = Array(path.keys)
    var shared = 0
    while shared < open.count, shared < keys.count, open[shared] == keys[shared] { shared += 1 }
    if text.isEmpty {
      text = "("
    } else {
      text += String(repeating: ")", count: open.count - shared) + ","
    }
    for key in keys[shared...] { text += Self.quoted(key.text) + ":(" }
    open = keys
    if let priority = leaf.priority { text += "priority:" + Self.text(of: priority) + ":" }
    if let value = leaf.leaf { text += Self.text(of: value) }
  }

  private static func text(of leaf: DatabaseLeaf) -> String {
    if case .string(let value) = leaf { return "string:" + quoted(value) }
    return NodeHash.text(of: leaf)
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\\" || scalar == "\"" { quoted.unicodeScalars.append("\\") }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}
