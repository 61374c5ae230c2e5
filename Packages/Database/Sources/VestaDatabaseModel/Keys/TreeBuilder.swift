public import VestaDatabaseBackend

/// Makes a node of the rows of a store, in the order of their keys.
///
/// For the rows `a/b`, `a/c`, `d`: the second one shares the key `a` with the first, which is neither read
/// nor made again; at the third one, `b` and `c` become the children of `a`. A row costs what differs from the
/// one before it.
public struct TreeBuilder {
  /// A node on the way to the last row.
  private struct Level {
    let key: DatabaseKey
    /// Where the bytes of its key end.
    let end: Int
    var leaf: DatabaseLeaf?
    var priority: DatabaseLeaf?
    var children: [(DatabaseKey, DatabaseNode)] = []

    /// A leaf counts alone: only a store that was damaged has rows below one.
    var node: DatabaseNode {
      leaf.map { DatabaseNode($0, priority: priority) } ?? DatabaseNode(children: children, priority: priority)
    }
  }

  /// The nodes from the first one down to the last row.
  private var levels: [Level]
  /// The key of the last row.
  private var last: [UInt8] = []

  /// A builder of the node whose own row has a key of this length.
  public init(below start: Int) { levels = [Level(key: .minimum, end: start)] }

  /// Adds a row.
  ///
  /// - Throws: `BytesError` for a row that is damaged.
  public mutating func add(key: [UInt8], value: [UInt8]) throws {
    let shared = sharedCount(key)
    while levels.count > 1, levels[levels.count - 1].end > shared { close() }
    var position = levels[levels.count - 1].end
    while position < key.count {
      let name = try PathCoding.key(in: key, at: &position)
      levels.append(Level(key: name, end: position))
    }
    last = key
    let (leaf, priority) = try NodeCoding.decodeRow(value)
    levels[levels.count - 1].leaf = leaf
    levels[levels.count - 1].priority = priority
  }

  /// How many bytes a key has in common with the last one.
  private func sharedCount(_ key: [UInt8]) -> Int {
    let limit = min(key.count, last.count)
    var count = min(levels[0].end, limit)
    while count < limit, key[count] == last[count] { count += 1 }
    return count
  }

  private mutating func close() {
    let level = levels.removeLast()
    levels[levels.count - 1].children.append((level.key, level.node))
  }

  /// Returns the node of all rows.
  public mutating func finish() -> DatabaseNode {
    while levels.count > 1 { close() }
    return levels[0].node
  }
}
