import VestaDatabaseBackend

/// The views of one path, and the paths below it that have views.
struct SyncPoint: Sendable {
  /// The views in the order in which they were made.
  private(set) var views = OrderedTable<DatabaseQuerySpec, View>()
  /// The queries that load all data, of which there are as many as orders at the most.
  private var complete: [DatabaseQuerySpec] = []
  var children: [DatabaseKey: SyncPoint] = [:]

  var isEmpty: Bool { views.isEmpty && children.isEmpty }
  var completeView: View? { complete.first.flatMap { views[$0] } }
  var hasCompleteView: Bool { !complete.isEmpty }

  /// Whether a view here or below does not know all of the server's data, or knows older data.
  func lacks(_ node: DatabaseNode) -> Bool {
    views.values.contains { !$0.cache.server.isComplete(for: .root) || $0.cache.server.node != node }
      || children.contains { $0.value.lacks(node[$0.key]) }
  }

  func view(for spec: DatabaseQuerySpec) -> View? { views[spec] }

  mutating func add(_ view: View) {
    views.append(view, for: view.spec)
    if view.spec.loadsAllData { complete.append(view.spec) }
  }

  mutating func removeView(_ spec: DatabaseQuerySpec) {
    views.remove(spec)
    complete.removeAll { $0 == spec }
  }

  /// Changes the view of a query.
  mutating func updateView<Result>(_ spec: DatabaseQuerySpec, _ body: (inout View) -> Result) -> Result? {
    views.index(of: spec).flatMap { views.update($0, body) }
  }

  func completeServerNode(at path: DatabasePath) -> DatabaseNode? {
    if path.isRoot {
      // A query says nothing of all data at its path.
      for spec in complete { if let node = views[spec]?.completeServerNode(at: path) { return node } }
      return nil
    }
    for view in views.values { if let node = view.completeServerNode(at: path) { return node } }
    return nil
  }

  subscript(path: DatabasePath) -> SyncPoint? {
    guard let front = path.front else { return self }
    return children[front]?[path.withoutFront]
  }

  /// Changes the point at a path, which is made where it is missing and dropped when it is empty afterwards.
  mutating func update<Result>(_ path: DatabasePath, _ body: (inout SyncPoint) -> Result) -> Result {
    guard let front = path.front else { return body(&self) }
    let result = children[front, default: SyncPoint()].update(path.withoutFront, body)
    if children[front]?.isEmpty == true { children[front] = nil }
    return result
  }

  /// The views that must listen themselves when nothing above this point does.
  var distinctViews: [View] {
    if let completeView { return [completeView] }
    return Array(views.values) + children.sorted { $0.key < $1.key }.flatMap { $0.value.distinctViews }
  }

  /// The views that need no separate listen once a complete view of this path listens.
  var shadowedViews: [View] {
    views.values.filter { !$0.spec.loadsAllData }
      + children.sorted { $0.key < $1.key }.flatMap { $0.value.distinctViews }
  }

  /// The parts of an operation at this point that are for listens to everything below it.
  func parts(of operation: SyncOperation, at path: DatabasePath) -> [(path: DatabasePath, operation: SyncOperation)] {
    if hasCompleteView { return [(path, operation)] }
    return children.sorted { $0.key.text < $1.key.text }.flatMap { key, point in
      operation.child(key).map { point.parts(of: $0, at: path.child(key)) } ?? []
    }
  }

  /// Applies an operation to the views that it concerns, the deepest paths first.
  mutating func apply(
    _ operation: SyncOperation, server: DatabaseNode?, writes: WritesBelow, _ sink: inout SyncSink
  ) {
    let server = server ?? completeServerNode(at: .root)
    if let front = operation.path.front {
      apply(operation, to: front, server, writes, &sink)
    } else {
      for key in children.keys.sorted(by: { $0.text < $1.text }) { apply(operation, to: key, server, writes, &sink) }
    }
    applyToViews(operation, server, writes, &sink)
  }

  /// Applies an operation to the views of this point alone.
  mutating func applyToViews(
    _ operation: SyncOperation, _ server: DatabaseNode?, _ writes: WritesBelow, _ sink: inout SyncSink
  ) {
    let concerned =
      if case .query(let spec) = operation.source { views.index(of: spec).map { [$0] } ?? [] } else { views.indices }
    for index in concerned {
      let applied = views.update(index) { view in
        (view.apply(operation, writes: writes, completeServer: server), view.path, view.spec)
      }
      guard let ((events, changes), path, spec) = applied else { continue }
      sink.events += events
      if !changes.isEmpty, !spec.loadsAllData { sink.filteredChanges.append((path, spec, changes)) }
    }
  }

  private mutating func apply(
    _ operation: SyncOperation, to key: DatabaseKey, _ server: DatabaseNode?, _ writes: WritesBelow,
    _ sink: inout SyncSink
  ) {
    guard let below = operation.child(key) else { return }
    children[key]?.apply(below, server: server?[key], writes: writes.child(key), &sink)
  }
}

/// Gathers what an operation raises.
struct SyncSink: Sendable {
  var events: [SyncEvent] = []
  /// How the children of filtered views have changed.
  var filteredChanges: [(path: DatabasePath, spec: DatabaseQuerySpec, changes: [ChildChange])] = []
}
