import VestaDatabaseBackend

/// Numbers by paths, for finding those above, at and below a path.
struct PlaceTrie {
  private var ids: Set<Int> = []
  private var children: [DatabaseKey: PlaceTrie] = [:]

  /// Whether it has no number, and keeps nothing of its earlier ones.
  var isEmpty: Bool { ids.isEmpty && children.isEmpty }

  mutating func insert(_ id: Int, at keys: ArraySlice<DatabaseKey>) {
    guard let front = keys.first else {
      ids.insert(id)
      return
    }
    children[front, default: PlaceTrie()].insert(id, at: keys.dropFirst())
  }

  mutating func remove(_ id: Int, at keys: ArraySlice<DatabaseKey>) {
    guard let front = keys.first else {
      ids.remove(id)
      return
    }
    children[front]?.remove(id, at: keys.dropFirst())
    if children[front]?.isEmpty == true { children[front] = nil }
  }

  func ids(at keys: ArraySlice<DatabaseKey>) -> Set<Int> {
    guard let front = keys.first else { return ids }
    return children[front]?.ids(at: keys.dropFirst()) ?? []
  }

  /// Calls the body for the numbers above, at and below a path.
  func visit(_ keys: ArraySlice<DatabaseKey>, _ body: (Int) -> Void) {
    for id in ids { body(id) }
    if let front = keys.first {
      children[front]?.visit(keys.dropFirst(), body)
    } else {
      for child in children.values { child.visit([], body) }
    }
  }
}
