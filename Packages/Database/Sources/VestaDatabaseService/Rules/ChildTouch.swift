import VestaDatabaseBackend

/// The children of a path that a commit touches.
enum ChildTouch: Sendable {
  /// The children that it touches: their current nodes, or `nil` where the store has to be asked.
  case children([DatabaseKey: DatabaseNode?])
  /// It replaces all of them.
  case everything

  /// The children that a commit touches.
  ///
  /// - Parameters:
  ///   - values: The data written by the commit, in order, by paths below the parent; the root for a value of the
  ///     parent itself.
  ///   - node: A child as it was before the commit; `nil` for one that is not known.
  init(_ values: [(path: DatabasePath, node: DatabaseNode)], _ node: (DatabaseKey) -> DatabaseNode?) {
    var known: [DatabaseKey: DatabaseNode?] = [:]
    for (path, value) in values {
      guard let key = path.front else {
        self = .everything
        return
      }
      if key.isPriority { continue }
      let below = path.withoutFront
      if below.isRoot {
        known[key] = .some(value)
      } else if let earlier = known[key] {
        known[key] = .some(earlier?.setting(below, to: value))
      } else {
        known[key] = .some(node(key)?.setting(below, to: value))
      }
    }
    self = .children(known)
  }
}
