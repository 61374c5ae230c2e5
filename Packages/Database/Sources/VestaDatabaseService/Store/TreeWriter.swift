import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Writes nodes into the store, with their indexes, and no more rows than the write names.
struct TreeWriter {
  let transaction: any StoreTransaction
  let keys: Keys
  let catalog: IndexCatalog
  /// Whether the rows of the paths that are written have been read by the transaction, and cost nothing.
  var hasRows = false

  private var reader: TreeReader { TreeReader(reader: transaction, keys: keys) }

  /// Replaces a node; an empty one removes it.
  func write(_ path: DatabasePath, _ node: DatabaseNode) async throws {
    if path.back?.isPriority == true, let place = path.parent { return try await writePriority(place, node.leaf) }
    let affected = affectedEntries(path)
    var before: [EntryState] = []
    for entry in affected { before.append(try await state(of: entry)) }
    let isThere = try await removeRows(path, forLeaf: node.leaf != nil)
    // Where something was, no leaf is above it.
    if !isThere { try await replaceLeavesAbove(path, isRemoval: node.isEmpty) }
    try await writeRows(path, node)
    if node.isEmpty, isThere { try await removeEmptyParents(path) }
    for (entry, before) in zip(affected, before) {
      try await move(entry, from: before, to: try await state(of: entry))
    }
  }

  // MARK: Rows

  /// A leaf above a new node becomes a node with children and keeps its priority.
  private func replaceLeavesAbove(_ path: DatabasePath, isRemoval: Bool) async throws {
    if isRemoval || path.isRoot { return }
    let places = Array(sequence(first: path) { $0.parent }.dropFirst())
    let rows = try await transaction.get(places.map { keys.data($0) })
    for (place, bytes) in zip(places, rows) {
      guard let bytes, case let (leaf, priority) = try TreeReader.decode(bytes, at: place), leaf != nil else {
        continue
      }
      if let priority {
        try await transaction.put(NodeCoding.encode(leaf: nil, priority: priority), for: keys.data(place))
      } else {
        try await transaction.delete(keys.data(place))
      }
    }
  }

  /// Removes what is at and below a path, with its entries.
  ///
  /// - Parameter isForLeaf: Whether the row of the path itself is about to be replaced, and need not go first.
  /// - Returns: Whether anything was there.
  private func removeRows(_ path: DatabasePath, forLeaf isForLeaf: Bool) async throws -> Bool {
    let key = keys.data(path)
    let range = KeyRange(prefix: key)
    let old = try await firstRows(path, key)
    guard let first = old.first else { return false }
    if first.key == key, let parent = path.parent, let name = path.back {
      // A damaged row is replaced or removed like any other; the place of its entry is unknown.
      if let row = try? TreeReader.decode(first.value, at: path) {
        if let priority = row.priority {
          try await transaction.delete(keys.entry(.priority, of: parent, .leaf(priority), name))
        }
      } else {
        try await removeEntries(of: name, in: .priority, of: parent)
      }
    }
    guard old.count > 1 || first.key != key else {
      if !isForLeaf { try await transaction.delete(key) }
      return true
    }
    try await transaction.deleteRange(range)
    try await transaction.deleteRange(KeyRange(prefix: keys.index(.priority, below: path)))
    for index in catalog.entries {
      try await transaction.deleteRange(KeyRange(prefix: keys.index(.declared(index.number), below: path)))
    }
    return true
  }

  /// The first two rows of a path.
  private func firstRows(_ path: DatabasePath, _ key: [UInt8]) async throws -> [StoreEntry] {
    // Nothing is below a leaf.
    if hasRows, let row = try await transaction.get(key), (try? TreeReader.decode(row, at: path))?.leaf != nil {
      return [StoreEntry(key: key, value: row)]
    }
    return try await transaction.entries(in: KeyRange(prefix: key), limit: 2)
  }

  private func writeRows(_ path: DatabasePath, _ node: DatabaseNode) async throws {
    var rows: [(key: [UInt8], value: [UInt8])] = []
    TreeRows.forEach(of: node, prefix: keys.data(path)) { rows.append(($0, $1)) }
    for row in rows { try await transaction.put(row.value, for: row.key) }
    for key in entries(of: node, at: path) { try await transaction.put([], for: key) }
  }

  /// The entries of the indexes whose parents are at or below a path, and that of the node's own priority.
  private func entries(of node: DatabaseNode, at path: DatabasePath) -> [[UInt8]] {
    var found: [[UInt8]] = []
    if let priority = node.priority, let parent = path.parent, let name = path.back {
      found.append(keys.entry(.priority, of: parent, .leaf(priority), name))
    }
    guard node.childCount > 0 else { return found }
    for index in catalog.entries where index.definition.matches(path.keys) {
      node.forEachChild { key, child in
        let value = SortValue(index.definition.index.sortValue(of: child))
        found.append(keys.entry(.declared(index.number), of: path, value, key))
      }
    }
    node.forEachChild { key, child in
      if child.childCount > 0 || child.priority != nil { found += entries(of: child, at: path.child(key)) }
    }
    return found
  }

  /// A node without a child is deleted, and its priority with it.
  ///
  /// One whose row is damaged stays: it is unknown whether it has a value.
  private func removeEmptyParents(_ path: DatabasePath) async throws {
    var place = path.parent
    while let current = place {
      guard let bytes = try await transaction.get(keys.data(current)) else {
        guard try await !reader.exists(current) else { return }
        place = current.parent
        continue
      }
      guard let row = try? TreeReader.decode(bytes, at: current) else { return }
      let below = try await transaction.entries(in: KeyRange(prefix: keys.data(current)), limit: 2)
      guard row.leaf == nil, below.count == 1 else { return }
      try await transaction.delete(keys.data(current))
      if let priority = row.priority, let parent = current.parent, let name = current.back {
        try await transaction.delete(keys.entry(.priority, of: parent, .leaf(priority), name))
      }
      place = current.parent
    }
  }

  private func row(_ path: DatabasePath) async throws -> (leaf: DatabaseLeaf?, priority: DatabaseLeaf?)? {
    try await reader.row(path)
  }

  private func writePriority(_ path: DatabasePath, _ priority: DatabaseLeaf?) async throws {
    guard try await reader.exists(path) else { return }
    let old = try await row(path)
    if let before = old?.priority, let parent = path.parent, let name = path.back {
      try await transaction.delete(keys.entry(.priority, of: parent, .leaf(before), name))
    }
    if let priority, let parent = path.parent, let name = path.back {
      try await transaction.put([], for: keys.entry(.priority, of: parent, .leaf(priority), name))
    }
    if old?.leaf == nil, priority == nil {
      try await transaction.delete(keys.data(path))
    } else {
      try await transaction.put(NodeCoding.encode(leaf: old?.leaf, priority: priority), for: keys.data(path))
    }
  }

  // MARK: Entries of parents above

  private struct Entry {
    let table: IndexTable
    let parent: DatabasePath
    let key: DatabaseKey
    /// Where the sort value is, below the child.
    let path: DatabasePath
    var child: DatabasePath { parent.child(key) }
  }

  /// The entries that a write below their parent can change.
  private func affectedEntries(_ path: DatabasePath) -> [Entry] {
    catalog.entries.compactMap { index in
      let definition = index.definition, depth = definition.pattern.count
      guard depth < path.count, definition.matches(path.keys.prefix(depth)) else { return nil }
      let key = path.keys[path.keys.startIndex + depth]
      return Entry(
        table: .declared(index.number), parent: DatabasePath(path.keys.prefix(depth)), key: key, path: definition.path)
    }
  }

  /// The place of an entry in its index, as the rows say.
  private enum EntryState: Equatable {
    /// `nil` for no entry.
    case known(SortValue?)
    /// A row that is needed is damaged.
    case unknown
  }

  private func state(of entry: Entry) async throws -> EntryState {
    do {
      return .known(try await reader.sortState(entry.child, entry.path))
    } catch StoreError.Code.corrupt {
      return .unknown
    }
  }

  private func move(_ entry: Entry, from before: EntryState, to after: EntryState) async throws {
    // An entry whose rows are damaged stays where it is until they are written.
    guard before != after, case .known(let after) = after else { return }
    switch before {
    case .known(let before?): try await transaction.delete(keys.entry(entry.table, of: entry.parent, before, entry.key))
    case .known(nil): break
    case .unknown: try await removeEntries(of: entry.key, in: entry.table, of: entry.parent)
    }
    if let after { try await transaction.put([], for: keys.entry(entry.table, of: entry.parent, after, entry.key)) }
  }

  /// Removes the entries of a child wherever they are, by reading the entries of all its siblings.
  private func removeEntries(of name: DatabaseKey, in table: IndexTable, of parent: DatabasePath) async throws {
    let prefix = keys.entries(table, of: parent)
    var found: [[UInt8]] = []
    _ = try await transaction.scan(KeyRange(prefix: prefix), order: .ascending, limit: nil) { key, _ in
      let bytes = key.bytes
      if var position = try? SortValue.skip(bytes, from: prefix.count, cutAt: keys.entryBytes).end,
        (try? PathCoding.key(in: bytes, at: &position)) == name
      {
        found.append(bytes)
      }
      return .next
    }
    for key in found { try await transaction.delete(key) }
  }
}
