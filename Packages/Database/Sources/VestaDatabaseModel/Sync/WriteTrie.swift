public import VestaDatabaseBackend

/// Values at several paths, of which none is below another: the data of a multi-path write.
public struct WriteTrie: Sendable, Hashable {
  /// The written value at this path; there are no children then.
  public private(set) var value: DatabaseNode?

  /// The values below this path.
  public private(set) var children: [DatabaseKey: WriteTrie]

  /// No value anywhere.
  public static let empty = WriteTrie()

  /// No value anywhere.
  public init() {
    value = nil
    children = [:]
  }

  /// One value, at the path itself.
  public init(_ value: DatabaseNode) {
    self.value = value
    children = [:]
  }

  /// Values by their paths.
  public init(_ values: [DatabasePath: DatabaseNode]) {
    self.init()
    for (path, node) in values { add(node, at: path) }
  }

  /// Whether there is no value.
  public var isEmpty: Bool { value == nil && children.isEmpty }

  /// Adds a value, which replaces those below it and becomes part of one above it.
  public mutating func add(_ node: DatabaseNode, at path: DatabasePath) {
    if let value {
      self.value = value.setting(path, to: node)
    } else if let front = path.front {
      children[front, default: .empty].add(node, at: path.withoutFront)
    } else {
      self = WriteTrie(node)
    }
  }

  /// Adds the values of another trie on top, below a path.
  public mutating func add(_ other: WriteTrie, at path: DatabasePath) { other.forEach(at: path) { add($1, at: $0) } }

  /// Removes the values at and below a path.
  public mutating func remove(_ path: DatabasePath) {
    guard let front = path.front else {
      self = .empty
      return
    }
    guard children[front]?.remove(path.withoutFront) != nil else { return }
    if children[front]?.isEmpty == true { children[front] = nil }
  }

  /// Returns the node at a path from a value at it or above it; `nil` when there is none.
  public func completeNode(at path: DatabasePath) -> DatabaseNode? {
    if let value { return value[path] }
    guard let front = path.front else { return nil }
    return children[front]?.completeNode(at: path.withoutFront)
  }

  /// The part of the trie below a path; one value where a value at or above the path covers it.
  public func child(_ path: DatabasePath) -> WriteTrie {
    if let value { return path.isRoot ? self : WriteTrie(value[path]) }
    guard let front = path.front else { return self }
    return children[front]?.child(path.withoutFront) ?? .empty
  }

  /// The children of which everything is known.
  public var completeChildren: [(DatabaseKey, DatabaseNode)] {
    var result: [(DatabaseKey, DatabaseNode)] = []
    if let value {
      value.forEachChild { result.append(($0, $1)) }
    } else {
      for (key, child) in sortedChildren { if let node = child.value { result.append((key, node)) } }
    }
    return result
  }

  /// A node with the values in their places, set one after another in the order of ``writeOrder``.
  public func applied(to node: DatabaseNode) -> DatabaseNode {
    if let value { return value }
    return writeOrder.reduce(node) { $0.setting($1.path, to: $1.node) }
  }

  /// The values in the order in which they are written, which is that of the paths with priorities last.
  ///
  /// The order shows: a node whose last child is removed before another is added has lost its priority. The service and
  /// all clients have to write in the same one.
  public var writeOrder: [(path: DatabasePath, node: DatabaseNode)] {
    if let value { return [(.root, value)] }
    var values: [(path: DatabasePath, node: DatabaseNode)] = []
    func add(_ key: DatabaseKey, _ child: WriteTrie) {
      for (path, node) in child.writeOrder { values.append((DatabasePath([key]).appending(path), node)) }
    }
    for (key, child) in sortedChildren where !key.isPriority { add(key, child) }
    if let priority = children[.priority] { add(.priority, priority) }
    return values
  }

  /// The children in the order of their keys.
  var sortedChildren: [(key: DatabaseKey, value: WriteTrie)] { children.sorted { $0.key < $1.key } }

  /// Calls the body for each value, in the order of the paths.
  public func forEach(at path: DatabasePath = .root, _ body: (DatabasePath, DatabaseNode) throws -> Void) rethrows {
    if let value { return try body(path, value) }
    for (key, child) in sortedChildren { try child.forEach(at: path.child(key), body) }
  }

  /// The values with their paths, in order.
  public var values: [(path: DatabasePath, node: DatabaseNode)] {
    var values: [(DatabasePath, DatabaseNode)] = []
    forEach { values.append(($0, $1)) }
    return values
  }

  /// The trie with each value replaced.
  public func mapped(_ transform: (DatabasePath, DatabaseNode) throws -> DatabaseNode) rethrows -> WriteTrie {
    var result = WriteTrie.empty
    try forEach { result.add(try transform($0, $1), at: $0) }
    return result
  }
}
