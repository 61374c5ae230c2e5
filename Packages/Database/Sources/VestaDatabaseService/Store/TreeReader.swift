import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Reads the tree of a database from the store, and no more of it than is asked for.
struct TreeReader {
  let reader: any StoreReader
  let keys: Keys

  /// Returns the leaf and the priority in the row of a path; `nil` when it has none.
  func row(_ path: DatabasePath) async throws -> (leaf: DatabaseLeaf?, priority: DatabaseLeaf?)? {
    try await reader.get(keys.data(path)).map { try Self.decode($0, at: path) }
  }

  /// Returns what the row of a path says.
  ///
  /// - Throws: `StoreError` with `corrupt` for a damaged row; nothing takes such a row for one that is not there.
  static func decode(
    _ bytes: [UInt8], at path: DatabasePath
  ) throws -> (leaf: DatabaseLeaf?, priority: DatabaseLeaf?) {
    do { return try NodeCoding.decodeRow(bytes) } catch { throw damaged("The row of \(path)", error) }
  }

  private static func damaged(_ row: String, _ error: any Error) -> StoreError {
    StoreError(
      .corrupt, operation: "read", message: "\(row) is damaged: \(error).", hint: "Restore a backup of the store.")
  }

  private static func add(_ key: [UInt8], _ value: [UInt8], to tree: inout TreeBuilder) throws {
    do { try tree.add(key: key, value: value) } catch { throw damaged("The row \(Hex.encode(key))", error) }
  }

  /// Whether anything is at a path or below it.
  func exists(_ path: DatabasePath) async throws -> Bool {
    try await reader.firstKey(in: KeyRange(prefix: keys.data(path))) != nil
  }

  /// A node with all that is below it.
  func node(_ path: DatabasePath) async throws -> DatabaseNode { try await node(path, rows: nil) ?? .empty }

  /// A node with all that is below it; `nil` when it has more rows than are to be read.
  func node(_ path: DatabasePath, rows: Int?) async throws -> DatabaseNode? {
    if path.back?.isPriority == true, let parent = path.parent {
      return try await row(parent)?.priority.map { DatabaseNode($0) } ?? .empty
    }
    let prefix = keys.data(path)
    var tree = TreeBuilder(below: prefix.count)
    let limit = rows.map { $0 + 1 }
    let end = try await reader.scan(KeyRange(prefix: prefix), order: .ascending, limit: limit) { key, value in
      try Self.add(key.bytes, value.bytes, to: &tree)
      return .next
    }
    if let rows, end.visited > rows { return nil }
    return tree.finish()
  }

  /// Returns the value by which a child is ordered; `nil` when there is no such child.
  func sortState(_ child: DatabasePath, _ path: DatabasePath) async throws -> SortValue? {
    guard try await exists(child) else { return nil }
    let place = child.appending(path)
    if let leaf = try await row(place)?.leaf { return .leaf(leaf) }
    return try await exists(place) ? .object : .null
  }

  /// A node with just enough content to have the same position among its siblings as a child.
  func sample(_ child: DatabasePath, _ index: DatabaseIndex) async throws -> DatabaseNode {
    switch index {
    case .key: return .empty
    case .priority: return DatabaseNode(.bool(true), priority: try await row(child)?.priority)
    case .value: return try await sample(child)
    case .child(let path) where path.back?.isPriority == true: return try await node(child)
    case .child(let path): return DatabaseNode.empty.setting(path, to: try await sample(child.appending(path)))
    }
  }

  /// A leaf, or a node with a child of no meaning for a node that has children.
  private func sample(_ place: DatabasePath) async throws -> DatabaseNode {
    if let leaf = try await row(place)?.leaf { return DatabaseNode(leaf) }
    return try await exists(place) ? DatabaseNode(children: [("x", DatabaseNode(.bool(true)))]) : .empty
  }

  // MARK: Children in the order of their keys

  /// The children of a path in the order of their keys.
  ///
  /// - Parameters:
  ///   - range: The bounds of the keys, both part of the range unless they say otherwise.
  ///   - limit: How many at the most, from the side of the order.
  ///   - isWanted: Whether a child counts, by its priority.
  func children(
    of path: DatabasePath, from lower: DatabaseKey?, to upper: DatabaseKey?, order: ScanOrder, limit: Int?,
    isWanted: (DatabaseLeaf?) -> Bool = { _ in true }
  ) async throws -> [(DatabaseKey, DatabaseNode)] {
    let prefix = keys.data(path)
    let range = KeyRange(
      from: Self.bound(prefix, lower, isUpper: false) ?? prefix + [2],
      to: Self.bound(prefix, upper, isUpper: true) ?? KeyRange(prefix: prefix).upper)
    var children: [(DatabaseKey, DatabaseNode)] = []
    var child: ChildRows?
    func take(_ rows: ChildRows?) throws {
      guard let rows, case let (key, node) = try rows.read(order), isWanted(node.priority) else { return }
      children.append((key, node))
    }
    _ = try await reader.scan(range, order: order, limit: nil) { key, value in
      let (key, value) = (key.bytes, value.bytes)
      if child?.add(key, value) != true {
        try take(child.take())
        if let limit, children.count >= limit { return .stop }
        child = try ChildRows(key, value, below: prefix.count)
      }
      return .next
    }
    try take(child)
    return children
  }

  /// The keys of the children of a path, in their order; as many reads as keys.
  func childKeys(of path: DatabasePath, after key: DatabaseKey?, limit: Int) async throws -> [DatabaseKey] {
    let prefix = keys.data(path)
    let upper = KeyRange(prefix: prefix).upper
    var lower = Self.bound(prefix, key, isUpper: true) ?? prefix + [2]
    var found: [DatabaseKey] = []
    while found.count < limit, let next = try await reader.firstKey(in: KeyRange(from: lower, to: upper)) {
      var end = prefix.count
      found.append(try PathCoding.key(in: next, at: &end))
      guard let after = KeyRange(prefix: Array(next[..<end])).upper else { break }
      lower = after
    }
    return found
  }

  /// The rows of one child, in the order in which they are scanned.
  private struct ChildRows {
    private let key: DatabaseKey
    /// The key of the child's own row, whether there is one or not.
    private let place: ArraySlice<UInt8>
    private var rows: [(key: [UInt8], value: [UInt8])]

    init(_ key: [UInt8], _ value: [UInt8], below start: Int) throws {
      var end = start
      self.key = try PathCoding.key(in: key, at: &end)
      place = key[..<end]
      rows = [(key, value)]
    }

    /// Adds a row, if it is one of the child.
    mutating func add(_ key: [UInt8], _ value: [UInt8]) -> Bool {
      guard key.starts(with: place) else { return false }
      rows.append((key, value))
      return true
    }

    func read(_ order: ScanOrder) throws -> (DatabaseKey, DatabaseNode) {
      var tree = TreeBuilder(below: place.count)
      for row in order == .ascending ? rows : rows.reversed() { try TreeReader.add(row.key, row.value, to: &tree) }
      return (key, tree.finish())
    }
  }

  private static func bound(_ prefix: [UInt8], _ key: DatabaseKey?, isUpper: Bool) -> [UInt8]? {
    guard let key, key != .minimum, key != .maximum else { return nil }
    var bytes = prefix
    PathCoding.append(key, to: &bytes)
    return isUpper ? KeyRange(prefix: bytes).upper : bytes
  }
}
