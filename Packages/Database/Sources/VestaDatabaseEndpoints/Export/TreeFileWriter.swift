import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire

/// Writes the rows of a tree as one value of JSON with priorities, piece by piece; pure.
///
/// ```
/// a: priority 1   ->  {"a":{
/// a/b: 2          ->  "b":2
/// c: 3            ->  ,".priority":1},"c":3
/// (end)           ->  }
/// ```
struct TreeFileWriter {
  private struct Place {
    var key: DatabaseKey?
    var priority: DatabaseLeaf?
    var hasMembers = false
  }

  /// The objects that are open, the root first; empty before the first row.
  private var open: [Place] = []
  private var isLeaf = false
  private var bytes: [UInt8] = []

  /// Takes rows in the order of their paths.
  ///
  /// - Returns: The next bytes of the file.
  mutating func add(_ rows: [DatabaseRow]) -> [UInt8] {
    for row in rows { add(row) }
    return take()
  }

  /// The last bytes of the file.
  mutating func finish() -> [UInt8] {
    if open.isEmpty, !isLeaf { bytes += "null".utf8 }
    close(to: 0)
    return take()
  }

  private mutating func take() -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  private mutating func add(_ row: DatabaseRow) {
    let keys = row.path.keys
    if let leaf = row.leaf {
      if let last = keys.last {
        descend(to: keys.dropLast())
        name(last.text)
      } else {
        isLeaf = true
      }
      bytes += NodeWire.bytes(of: DatabaseNode(leaf, priority: row.priority))
    } else {
      descend(to: keys[...])
      open[open.count - 1].priority = row.priority
    }
  }

  /// Closes and opens objects until that of a path is the innermost one.
  private mutating func descend(to keys: ArraySlice<DatabaseKey>) {
    if open.isEmpty {
      open = [Place()]
      bytes.append(UInt8(ascii: "{"))
    }
    let common = zip(open.dropFirst(), keys).prefix { $0.0.key == $0.1 }.count
    close(to: common + 1)
    for key in keys.dropFirst(common) {
      name(key.text)
      bytes.append(UInt8(ascii: "{"))
      open.append(Place(key: key))
    }
  }

  private mutating func name(_ name: String) {
    if open[open.count - 1].hasMembers { bytes.append(UInt8(ascii: ",")) }
    open[open.count - 1].hasMembers = true
    bytes += ((try? JSONValue.string(name).json()) ?? []) + [UInt8(ascii: ":")]
  }

  private mutating func close(to count: Int) {
    while open.count > count, let place = open.last {
      if let priority = place.priority {
        name(".priority")
        bytes += NodeWire.bytes(of: DatabaseNode(priority))
      }
      bytes.append(UInt8(ascii: "}"))
      open.removeLast()
    }
  }
}
