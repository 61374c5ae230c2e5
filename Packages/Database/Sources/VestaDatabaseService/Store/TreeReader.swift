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

  /// Whether anything is at a place or below it.
  func exists(_ path: DatabasePath) async throws -> Bool {
    try await !reader.entries(in: KeyRange(prefix: keys.data(path)), limit: 1).isEmpty
  }

  /// A node with all that is below it.
  func node(_ path: DatabasePath) async throws -> DatabaseNode {
    if path.back?.isPriority == true, let parent = path.parent {
      return try await row(parent)?.priority.map { DatabaseNode($0) } ?? .empty
    }
    let prefix = keys.data(path)
    return TreeRows.node(of: try await rows(in: KeyRange(prefix: prefix), below: prefix.count))
  }

  /// Returns the value by which a child is ordered; `nil` when there is no such child.
  func sortState(_ child: DatabasePath, _ path: DatabasePath) async throws -> SortValue? {
    guard try await exists(child) else { return nil }
    let place = child.appending(path)
    if let leaf = try await row(place)?.leaf { return .leaf(leaf) }
    return try await exists(place) ? .object : .null
  }

  /// A node that stands among its siblings where a child stands, and has no more than that takes.
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

  private func rows(in range: KeyRange, below start: Int) async throws -> [TreeRows.Row] {
    var rows: [TreeRows.Row] = []
    _ = try await reader.scan(range, order: .ascending, limit: nil) { key, value in
      rows.append(try Self.row(key.bytes, value.bytes, start))
      return .next
    }
    return rows
  }

  private static func row(_ key: [UInt8], _ value: [UInt8], _ start: Int) throws -> TreeRows.Row {
    do {
      let (leaf, priority) = try NodeCoding.decodeRow(value)
      return TreeRows.Row(keys: try PathCoding.decode(key, from: start), leaf: leaf, priority: priority)
    } catch {
      throw damaged("The row \(Hex.encode(key))", error)
    }
  }

  // MARK: Children in the order of their keys

  /// The children of a place in the order of their keys.
  ///
  /// - Parameters:
  ///   - range: The bounds of the keys, both part of the range unless they say otherwise.
  ///   - limit: How many at the most, from the side of the order.
  ///   - isWanted: Whether a child counts, by what its own row says.
  func children(
    of path: DatabasePath, from lower: DatabaseKey?, to upper: DatabaseKey?, order: ScanOrder, limit: Int?,
    isWanted: (DatabaseLeaf?) -> Bool = { _ in true }
  ) async throws -> [(DatabaseKey, DatabaseNode)] {
    let prefix = keys.data(path)
    let range = KeyRange(
      from: Self.bound(prefix, lower, isUpper: false) ?? prefix + [2],
      to: Self.bound(prefix, upper, isUpper: true) ?? KeyRange(prefix: prefix).upper)
    var groups: [(key: DatabaseKey, rows: [TreeRows.Row])] = []
    var wanted = 0
    _ = try await reader.scan(range, order: order, limit: nil) { key, value in
      let row = try Self.row(key.bytes, value.bytes, prefix.count)
      guard let front = row.keys.first else { return .next }
      if groups.last?.key == front {
        groups[groups.count - 1].rows.append(row)
        return .next
      }
      if let last = groups.last, isWanted(last.rows.priority) { wanted += 1 }
      if let limit, wanted >= limit { return .stop }
      groups.append((front, [row]))
      return .next
    }
    var children: [(DatabaseKey, DatabaseNode)] = []
    for group in groups where isWanted(group.rows.priority) {
      if let limit, children.count == limit { break }
      let rows = order == .ascending ? group.rows : group.rows.reversed()
      children.append((group.key, TreeRows.node(of: rows)[DatabasePath([group.key])]))
    }
    return children
  }

  private static func bound(_ prefix: [UInt8], _ key: DatabaseKey?, isUpper: Bool) -> [UInt8]? {
    guard let key, key != .minimum, key != .maximum else { return nil }
    var bytes = prefix
    PathCoding.append(key, to: &bytes)
    return isUpper ? KeyRange(prefix: bytes).upper : bytes
  }
}

extension [TreeRows.Row] {
  /// The priority of the child that these rows are of.
  fileprivate var priority: DatabaseLeaf? { first { $0.keys.count == 1 }?.priority }
}
