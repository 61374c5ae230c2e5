public import VestaDatabaseBackend
public import VestaTesting

/// Random trees and queries over few keys and values, so that random histories meet.
extension SplitMix {
  /// A key of six.
  public mutating func key() -> DatabaseKey {
    DatabaseKey(["a", "b", "c", "1", "2", "10"].randomElement(using: &self) ?? "a")
  }

  /// A path of the given number of keys.
  public mutating func path(_ depth: ClosedRange<Int>) -> DatabasePath {
    DatabasePath((0..<Int.random(in: depth, using: &self)).map { _ in key() })
  }

  /// A leaf of any kind but server values.
  public mutating func leaf() -> DatabaseLeaf {
    switch Int.random(in: 0..<5, using: &self) {
    case 0: .bool(Bool.random(using: &self))
    case 1: .string(["x", "y", "z"].randomElement(using: &self) ?? "x")
    case 2: .double(Double(Int.random(in: 0..<4, using: &self)) + 0.5)
    default: .int(Int64.random(in: 0..<6, using: &self))
    }
  }

  /// A node of at most the given number of levels; it can be empty.
  public mutating func node(depth: Int = 2) -> DatabaseNode {
    let priority: DatabaseLeaf? =
      Int.random(in: 0..<4, using: &self) == 0 ? .int(Int64.random(in: 0..<3, using: &self)) : nil
    switch Int.random(in: 0..<6, using: &self) {
    case 0: return .empty
    case 1, 2: return DatabaseNode(leaf(), priority: priority)
    default:
      guard depth > 0 else { return DatabaseNode(leaf(), priority: priority) }
      let count = Int.random(in: 1...4, using: &self)
      return DatabaseNode(children: (0..<count).map { _ in (key(), node(depth: depth - 1)) }, priority: priority)
    }
  }

  /// A query in any order, with bounds and limits or without.
  public mutating func spec() -> DatabaseQuerySpec {
    var spec = DatabaseQuerySpec()
    switch Int.random(in: 0..<5, using: &self) {
    case 0: spec.index = .key
    case 1: spec.index = .value
    case 2: spec.index = .child("a")
    case 3: spec.index = .child("b/c")
    default: break
    }
    if Int.random(in: 0..<3, using: &self) == 0 { spec.start = bound(of: spec.index) }
    if Int.random(in: 0..<3, using: &self) == 0 { spec.end = bound(of: spec.index) }
    if Bool.random(using: &self) {
      spec.limit = .init(Int.random(in: 1...3, using: &self), Bool.random(using: &self) ? .first : .last)
    }
    return spec
  }

  private mutating func bound(of index: DatabaseIndex) -> DatabaseQuerySpec.Bound {
    let value = index == .key ? DatabaseNode(.string(key().text)) : DatabaseNode(leaf())
    let key = index != .key && Bool.random(using: &self) ? key() : nil
    return .init(value, key: key, isInclusive: Bool.random(using: &self))
  }
}
