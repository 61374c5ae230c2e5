import VestaBytes

/// The place of a node: keys from the root down.
public struct DatabasePath: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The keys, the topmost first.
  public private(set) var keys: ArraySlice<DatabaseKey>

  /// The path of the root.
  public static let root = DatabasePath([])

  /// A path of keys.
  public init(_ keys: some Sequence<DatabaseKey>) { self.keys = ArraySlice(keys) }

  /// Reads a path; empty parts between slashes are dropped.
  public init(_ text: String) {
    keys = ArraySlice(text.parts(at: "/", omittingEmpty: true).map { DatabaseKey(String($0)) })
  }

  /// A path from a literal.
  public init(stringLiteral text: String) { self.init(text) }

  private init(slice: ArraySlice<DatabaseKey>) { keys = slice }

  /// Whether this is the root.
  public var isRoot: Bool { keys.isEmpty }

  /// How many keys it has.
  public var count: Int { keys.count }

  /// The topmost key.
  public var front: DatabaseKey? { keys.first }

  /// The last key; `nil` for the root.
  public var back: DatabaseKey? { keys.last }

  /// The path without its topmost key.
  public var withoutFront: DatabasePath { DatabasePath(slice: keys.dropFirst()) }

  /// The path of the parent; `nil` for the root.
  public var parent: DatabasePath? { keys.isEmpty ? nil : DatabasePath(slice: keys.dropLast()) }

  /// The path of a child.
  public func child(_ key: DatabaseKey) -> DatabasePath {
    var copy = self
    copy.keys.append(key)
    return copy
  }

  /// The path of a descendant.
  public func appending(_ other: DatabasePath) -> DatabasePath {
    if other.isRoot { return self }
    if isRoot { return other }
    var copy = self
    copy.keys.append(contentsOf: other.keys)
    return copy
  }

  /// Whether another path is this one or below it.
  public func contains(_ other: DatabasePath) -> Bool { other.keys.starts(with: keys) }

  /// Returns the rest of another path below this one; `nil` when it is not at or below this one.
  public func relative(_ other: DatabasePath) -> DatabasePath? {
    contains(other) ? DatabasePath(slice: other.keys.dropFirst(keys.count)) : nil
  }

  /// The keys with slashes between them; empty for the root.
  public var text: String { keys.lazy.map(\.text).joined(separator: "/") }

  /// The path with a slash at the front.
  public var description: String { "/" + text }
}

extension DatabasePath {
  /// Two paths of which one is at or above the other; `nil` when none is above another.
  ///
  /// O(n log n): in the order of the keys, what is below a path follows it at once.
  public static func overlap(in paths: [DatabasePath]) -> (upper: DatabasePath, lower: DatabasePath)? {
    let sorted = paths.sorted { $0.keys.lexicographicallyPrecedes($1.keys) }
    for (upper, lower) in zip(sorted, sorted.dropFirst()) where upper.contains(lower) { return (upper, lower) }
    return nil
  }
}
