/// A value of a leaf of the Realtime Database, or of a priority.
public enum DatabaseScalar: Sendable, Hashable {
  /// Null.
  case null
  /// A boolean.
  case bool(Bool)
  /// A number.
  case number(Double)
  /// A string.
  case string(String)
}

/// A node of the tree, without its children.
public enum DatabaseRulesNode: Sendable, Hashable {
  /// There is nothing.
  case missing
  /// A value.
  case leaf(DatabaseScalar, priority: DatabaseScalar)
  /// A node with children.
  case parent(priority: DatabaseScalar)

  /// Whether something is there.
  public var exists: Bool {
    if case .missing = self { return false }
    return true
  }

  var priority: DatabaseScalar {
    switch self {
    case .missing: .null
    case .leaf(_, let priority), .parent(let priority): priority
    }
  }
}

/// A state of the tree that rules look at.
///
/// An adapter of a store answers from what its transaction reads.
public protocol DatabaseRulesData {
  /// Returns the node at a path.
  func node(at path: [String]) -> DatabaseRulesNode

  /// Returns the names of the children at a path; asked below written paths alone.
  func childNames(at path: [String]) -> [String]

  /// Whether there is something at each of several names below a path.
  ///
  /// By default each is looked for by ``node(at:)``, up to the first one that is missing; a state that has the children
  /// of a path at hand answers faster.
  func allExist(_ names: [String], below path: [String]) -> Bool

  /// The number of answers so far that stand for nodes which have yet to be read.
  ///
  /// Such a decision means nothing. It continues as if nothing had been refused, so that everything to be read is known
  /// after few attempts. Zero for data that is there.
  var missedCount: Int { get }
}

extension DatabaseRulesData {
  /// Zero: everything is there.
  public var missedCount: Int { 0 }

  /// Looks for each by ``node(at:)``.
  public func allExist(_ names: [String], below path: [String]) -> Bool {
    var child = path
    return names.allSatisfy { name in
      child.removeLast(child.count - path.count)
      child.append(name)
      return node(at: child).exists
    }
  }
}

/// A tree in memory.
public indirect enum DatabaseTree: Sendable, Hashable, DatabaseRulesData {
  /// Nothing.
  case missing
  /// A value.
  case leaf(DatabaseScalar, priority: DatabaseScalar = .null)
  /// Children by name; none of them is missing.
  case parent([String: DatabaseTree], priority: DatabaseScalar = .null)

  /// The subtree at a path.
  public func tree(at path: some Collection<String>) -> DatabaseTree {
    var tree = self
    for name in path {
      guard case .parent(let children, _) = tree, let child = children[name] else { return .missing }
      tree = child
    }
    return tree
  }

  /// The tree with a subtree in place of the one at a path; nodes without children are removed.
  public func setting(_ value: DatabaseTree, at path: some Collection<String>) -> DatabaseTree {
    guard let first = path.first else {
      if case .parent(let children, _) = value, children.isEmpty { return .missing }
      return value
    }
    var (children, priority): ([String: DatabaseTree], DatabaseScalar) = ([:], .null)
    if case .parent(let own, let itsPriority) = self { (children, priority) = (own, itsPriority) }
    let child = (children[first] ?? .missing).setting(value, at: path.dropFirst())
    // No `nil` here: it would be the literal for a missing tree, and stay as a child.
    if child == .missing { children.removeValue(forKey: first) } else { children[first] = child }
    return children.isEmpty ? .missing : .parent(children, priority: priority)
  }

  /// Returns the node at a path.
  public func node(at path: [String]) -> DatabaseRulesNode {
    switch tree(at: path) {
    case .missing: .missing
    case .leaf(let value, let priority): .leaf(value, priority: priority)
    case .parent(_, let priority): .parent(priority: priority)
    }
  }

  /// Returns the names of the children at a path.
  public func childNames(at path: [String]) -> [String] {
    guard case .parent(let children, _) = tree(at: path) else { return [] }
    return children.keys.sorted()
  }

  /// Whether there is something at each of several names below a path.
  public func allExist(_ names: [String], below path: [String]) -> Bool {
    guard case .parent(let children, _) = tree(at: path) else { return names.isEmpty }
    // A literal may say that a child is missing.
    return names.allSatisfy { name in children[name].map { $0.node(at: []).exists } ?? false }
  }
}

/// The parameters of a query, the variable `query`.
public struct DatabaseRulesQuery: Sendable, Hashable {
  /// The order of a query.
  public enum Order: Sendable, Hashable {
    /// None, as of a plain read.
    case none
    /// By keys.
    case key
    /// By values.
    case value
    /// By priorities.
    case priority
    /// By a child.
    case child(String)
  }

  /// The order.
  public var order: Order
  /// The value at which results begin.
  public var startAt: DatabaseScalar = .null
  /// The value at which results end.
  public var endAt: DatabaseScalar = .null
  /// The value of all results.
  public var equalTo: DatabaseScalar = .null
  /// The number of first results.
  public var limitToFirst: Int?
  /// The number of last results.
  public var limitToLast: Int?

  /// The parameters of a plain read, or of a query with an order.
  public init(_ order: Order = .none) { self.order = order }
}
