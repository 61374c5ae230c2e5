/// Which children of a node are wanted, and in which order.
public struct DatabaseQuerySpec: Hashable, Sendable {
  /// One end of a range.
  public struct Bound: Hashable, Sendable {
    /// The value, a leaf or empty; in the order by key a string.
    public var value: DatabaseNode
    /// The key among equal values; `nil` for all of them.
    public var key: DatabaseKey?
    /// Whether the bound itself is in the range.
    public var isInclusive: Bool

    /// An end of a range.
    public init(_ value: DatabaseNode, key: DatabaseKey? = nil, isInclusive: Bool = true) {
      self.value = value
      self.key = key
      self.isInclusive = isInclusive
    }
  }

  /// Which end of the range a limit counts from.
  public enum Side: Hashable, Sendable {
    /// The first ones.
    case first
    /// The last ones.
    case last
  }

  /// How many children at the most.
  public struct Limit: Hashable, Sendable {
    /// The number; at least one.
    public var count: Int
    /// Counted from where.
    public var side: Side

    /// A limit.
    public init(_ count: Int, _ side: Side) {
      self.count = count
      self.side = side
    }
  }

  /// The order.
  public var index: DatabaseIndex
  /// The lower end; `nil` for none.
  public var start: Bound?
  /// The upper end; `nil` for none.
  public var end: Bound?
  /// How many; `nil` for all.
  public var limit: Limit?

  /// A query; without arguments that for everything.
  public init(index: DatabaseIndex = .priority, start: Bound? = nil, end: Bound? = nil, limit: Limit? = nil) {
    self.index = index
    self.start = start
    self.end = end
    self.limit = limit
  }

  /// The query for everything, in the order by priority.
  public static let all = DatabaseQuerySpec()

  /// Whether it wants all children, in whatever order.
  public var loadsAllData: Bool { start == nil && end == nil && limit == nil }

  /// Whether it is ``all``.
  public var isDefault: Bool { loadsAllData && index == .priority }

  /// The lowest position in the range.
  public var startPosition: DatabasePosition? {
    guard let start else { return nil }
    if index == .key { return DatabasePosition(value: .empty, key: Self.key(of: start.value, or: .minimum)) }
    return DatabasePosition(value: start.value, key: start.key ?? (start.isInclusive ? .minimum : .maximum))
  }

  /// The highest position in the range.
  public var endPosition: DatabasePosition? {
    guard let end else { return nil }
    if index == .key { return DatabasePosition(value: .empty, key: Self.key(of: end.value, or: .maximum)) }
    return DatabasePosition(value: end.value, key: end.key ?? (end.isInclusive ? .maximum : .minimum))
  }

  /// Whether a position is in the range.
  public func contains(_ position: DatabasePosition) -> Bool { startIsBelow(position) && endIsAbove(position) }

  /// Whether a child is in the range.
  public func contains(_ key: DatabaseKey, _ node: DatabaseNode) -> Bool {
    if start == nil && end == nil { return true }
    return contains(index.position(of: key, node))
  }

  /// Whether a position is not below the range.
  public func startIsBelow(_ position: DatabasePosition) -> Bool {
    guard let bound = startPosition else { return true }
    return start?.isInclusive == true ? !(position < bound) : bound < position
  }

  /// Whether a position is not above the range.
  public func endIsAbove(_ position: DatabasePosition) -> Bool {
    guard let bound = endPosition else { return true }
    return end?.isInclusive == true ? !(bound < position) : position < bound
  }

  private static func key(of value: DatabaseNode, or other: DatabaseKey) -> DatabaseKey {
    guard case .string(let text)? = value.leaf else { return other }
    if text == DatabaseKey.minimum.text { return .minimum }
    return text == DatabaseKey.maximum.text ? .maximum : DatabaseKey(text)
  }
}
