/// Values at field paths, found also by the paths above and below.
///
/// Writing a field makes what was known of it, of the fields in it and of the maps around it void.
/// `removeAll(touching:)` does that, at a cost that follows the length of the path and what it removes, and not the
/// number of entries.
struct FieldPathTable<Element: Sendable>: Sendable {
  private var entries: [FieldPath: Element] = [:]
  /// The number of entries below each path.
  private var below: [FieldPath: Int] = [:]

  var paths: some Collection<FieldPath> { entries.keys }

  subscript(path: FieldPath) -> Element? {
    get { entries[path] }
    _modify { yield &entries[path] }
  }

  /// Adds an entry at a path that has none.
  mutating func insert(_ element: Element, at path: FieldPath) {
    guard entries.updateValue(element, forKey: path) == nil else { return }
    for length in 0..<path.names.count { below[FieldPath(Array(path.names.prefix(length))), default: 0] += 1 }
  }

  /// The paths of entries at, above or below a path.
  func paths(touching path: FieldPath) -> [FieldPath] {
    if entries.isEmpty { return [] }
    var found = (0...path.names.count).map { FieldPath(Array(path.names.prefix($0))) }.filter { entries[$0] != nil }
    if below[path] != nil { found += entries.keys.filter { $0 != path && $0.hasPrefix(path) } }
    return found
  }

  /// Removes the entries at, above and below a path.
  mutating func removeAll(touching path: FieldPath) {
    for path in paths(touching: path) { remove(path) }
  }

  mutating func removeAll() { (entries, below) = ([:], [:]) }

  /// Removes the entry of a path.
  @discardableResult
  mutating func remove(_ path: FieldPath) -> Element? {
    guard let element = entries.removeValue(forKey: path) else { return nil }
    for length in 0..<path.names.count {
      let above = FieldPath(Array(path.names.prefix(length)))
      below[above] = below[above].flatMap { $0 > 1 ? $0 - 1 : nil }
    }
    return element
  }
}
