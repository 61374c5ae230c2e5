import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// All rows of a database in the store.
///
/// Nothing else writes keys.
///
/// | table | key after the table and the namespace | value |
/// |---|---|---|
/// | `1` | the bytes of a path | the leaf and the priority of that path (`NodeCoding`) |
/// | `2` | engine, session, number | a path and a node: the write at the end of the session |
/// | `3` | number of an index, path of the parent, `01`, sort value, key of the child | nothing |
/// | `4` | path of the parent, `01`, sort value, key of the child | nothing: children that have a priority |
/// | `5` | | the catalog of the indexes of table 3 (`IndexCatalog`) |
/// | `6` | engine | until when its sessions are its own; with several engines on a store |
/// | `7` | version of a commit, part | what it has written (`CommitLog`); with several engines on a store |
/// | `8` | (of all namespaces) | events; see `EventOutbox` |
/// | `9` | | up to which version rows of table 7 were dropped |
struct Keys: Sendable {
  static let outbox: [UInt8] = [8]

  private let namespace: [UInt8]
  /// The most bytes of a string in the entry of an index.
  let entryBytes: Int

  init(namespace: String, entryBytes: Int = DatabaseServiceTuning().entryBytes) {
    self.namespace = KeyEncoder(.string(namespace)).bytes
    self.entryBytes = entryBytes
  }

  func data(_ path: DatabasePath) -> [UInt8] {
    var key = [1] + namespace
    PathCoding.append(path, to: &key)
    return key
  }

  func sessions() -> [UInt8] { [2] + namespace }

  func sessions(of owner: String) -> [UInt8] {
    var key = KeyEncoder(continuing: sessions())
    key.append(string: owner)
    return key.bytes
  }

  func session(_ owner: String, _ session: String) -> [UInt8] {
    var key = KeyEncoder(continuing: sessions(of: owner))
    key.append(string: session)
    return key.bytes
  }

  func operation(_ owner: String, _ session: String, _ number: Int) -> [UInt8] {
    var key = KeyEncoder(continuing: self.session(owner, session))
    key.append(int: Int64(number))
    return key.bytes
  }

  /// The engine and the session of an operation.
  func session(in key: [UInt8]) throws -> (owner: String, session: String) {
    var decoder = KeyDecoder(key, from: sessions().count)
    return (try decoder.string(), try decoder.string())
  }

  /// The place of an index: all entries of the parents at and below a path begin with it.
  func index(_ table: IndexTable, below path: DatabasePath) -> [UInt8] {
    var key = table.prefix(namespace)
    PathCoding.append(path, to: &key)
    return key
  }

  /// The entries of all declared indexes begin with this.
  func declaredIndexes() -> [UInt8] { [3] + namespace }

  /// The entries of one parent begin with this.
  func entries(_ table: IndexTable, of parent: DatabasePath) -> [UInt8] { index(table, below: parent) + [1] }

  func entry(_ table: IndexTable, of parent: DatabasePath, _ value: SortValue, _ key: DatabaseKey) -> [UInt8] {
    var bytes = entries(table, of: parent)
    value.append(to: &bytes, cutAt: entryBytes)
    PathCoding.append(key, to: &bytes)
    return bytes
  }

  func catalog() -> [UInt8] { [5] + namespace }

  func owners() -> [UInt8] { [6] + namespace }

  func owner(_ owner: String) -> [UInt8] {
    var key = KeyEncoder(continuing: owners())
    key.append(string: owner)
    return key.bytes
  }

  /// The engine of a lease.
  func owner(in key: [UInt8]) throws -> String {
    var decoder = KeyDecoder(key, from: owners().count)
    return try decoder.string()
  }

  func logStart() -> [UInt8] { [9] + namespace }

  func log(_ version: StoreVersion, _ part: Int) -> [UInt8] {
    var key = KeyEncoder(continuing: log(version))
    key.append(int: Int64(part))
    return key.bytes
  }

  private func log(_ version: StoreVersion) -> [UInt8] {
    var key = KeyEncoder(continuing: [7] + namespace)
    key.append(int: version.microseconds)
    return key.bytes
  }

  /// The rows of commits after a version.
  func log(after version: StoreVersion) -> KeyRange {
    KeyRange(from: log(version.next), to: KeyRange(prefix: [7] + namespace).upper)
  }

  /// The rows of commits up to a version.
  func log(upTo version: StoreVersion) -> KeyRange { KeyRange(from: [7] + namespace, to: log(version.next)) }

  func version(ofLog key: [UInt8]) throws -> StoreVersion {
    var decoder = KeyDecoder(key, from: 1 + namespace.count)
    return StoreVersion(microseconds: try decoder.int())
  }
}

/// Which order entries are kept for.
enum IndexTable: Sendable, Hashable {
  case priority
  case declared(Int)

  func prefix(_ namespace: [UInt8]) -> [UInt8] {
    switch self {
    case .priority: return [4] + namespace
    case .declared(let number):
      var key = KeyEncoder(continuing: [3] + namespace)
      key.append(int: Int64(number))
      return key.bytes
    }
  }
}

/// The value by which a child is ordered, as bytes in that order.
enum SortValue: Sendable, Hashable {
  case null
  case leaf(DatabaseLeaf)
  case object

  init(_ node: DatabaseNode) { self = node.leaf.map { .leaf($0) } ?? (node.isEmpty ? .null : .object) }

  /// Whether the bytes may not say all of the value: a string that fills the entry looks as one that was cut.
  ///
  /// Longer strings are cut in keys; a reader that meets one that fills the entry reads the children instead.
  func isCut(at limit: Int) -> Bool {
    if case .leaf(.string(let text)) = self { text.utf8.count >= limit } else { false }
  }

  func append(to bytes: inout [UInt8], cutAt limit: Int) {
    switch self {
    case .null: bytes.append(0x02)
    case .object: bytes.append(0x09)
    case .leaf(.bool(let value)): bytes.append(value ? 0x05 : 0x04)
    case .leaf(.string(let text)):
      bytes.append(0x07)
      let all = text.utf8.map { $0 == 0xEE || $0 == 0xEF ? $0 + 0x10 : $0 }
      OrderedBytes.append(escaping: Array(all.prefix(limit)), to: &bytes)
      OrderedBytes.appendEnd(to: &bytes)
    case .leaf(let leaf):
      guard let number = leaf.number else { return bytes.append(0x03) }
      bytes.append(0x06)
      append(OrderedDouble.bits(of: number), count: 8, to: &bytes)
      append(UInt64(bitPattern: Int64(rest(of: leaf, beyond: number)) + 0x8000), count: 2, to: &bytes)
    }
  }

  /// Returns the difference between a whole number and the nearest double.
  private func rest(of leaf: DatabaseLeaf, beyond number: Double) -> Int {
    guard case .int(let value) = leaf, let nearest = Int64(exactly: number) else { return 0 }
    return Int(clamping: value.subtractingReportingOverflow(nearest).partialValue)
  }

  private func append(_ number: UInt64, count: Int, to bytes: inout [UInt8]) {
    for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  /// How many bytes a value takes at a place of a key, and whether it may have been cut.
  static func skip(_ bytes: [UInt8], from start: Int, cutAt limit: Int) throws -> (end: Int, isCut: Bool) {
    guard start < bytes.count else { throw BytesError(.malformed, "An index entry is cut.") }
    switch bytes[start] {
    case 0x06: return (start + 11, false)
    case 0x07:
      var position = start + 1
      var length = 0
      while position + 1 < bytes.count {
        if bytes[position] == 0 {
          if bytes[position + 1] == OrderedBytes.end { return (position + 2, length >= limit) }
          position += 1
        }
        position += 1
        length += 1
      }
      throw BytesError(.malformed, "A string of an index entry has no end.")
    default: return (start + 1, false)
    }
  }
}
