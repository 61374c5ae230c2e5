public import VestaDatabaseBackend

/// Keys that Swift takes for one: `é` as one scalar and as two.
///
/// A Swift dictionary holds one of such children, so `plainValue` shows the first of them only. A dictionary that a
/// program derives from it says nothing of the others.
extension DatabaseNode {
  /// This node, made from what `plainValue` showed of another one, with the children that it could not show.
  ///
  /// Of `{é (one scalar): 1, é (two scalars): 2}` a dictionary has the first. Written back with `é: 3`, the node has 3
  /// and 2; written back without `é`, both children are absent.
  public func keepingTwins(of old: DatabaseNode) -> DatabaseNode { withTwins(of: old) ?? self }

  /// The node with the twins that another one has; `nil` when there are none.
  private func withTwins(of old: DatabaseNode) -> DatabaseNode? {
    guard childCount > 0, old.childCount > 0 else { return nil }
    var changed: DatabaseNode?
    var seen: Set<String> = []
    lazy var names = wideNames
    old.forEachChild { key, child in
      let isWide = key.text.utf8.contains { $0 >= 0x80 }
      let isHidden = isWide && !seen.insert(key.text).inserted
      let mine = self[key]
      if !mine.isEmpty {
        if let whole = mine.withTwins(of: child) { changed = (changed ?? self).setting(DatabasePath([key]), to: whole) }
      } else if isHidden, names.contains(key.text) {
        changed = (changed ?? self).setting(DatabasePath([key]), to: child)
      }
    }
    return changed
  }

  /// The keys beyond ASCII; only those can have twins.
  private var wideNames: Set<String> {
    var names: Set<String> = []
    forEachChild { key, _ in
      if key.text.utf8.contains(where: { $0 >= 0x80 }) { names.insert(key.text) }
    }
    return names
  }
}
