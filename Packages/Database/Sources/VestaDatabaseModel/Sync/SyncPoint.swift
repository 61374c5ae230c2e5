import VestaDatabaseBackend

/// The views of one place, and the places below it that have views.
struct SyncPoint: Sendable {
  /// The views in the order in which they were made.
  var views: [View] = []
  var children: [DatabaseKey: SyncPoint] = [:]

  var isEmpty: Bool { views.isEmpty && children.isEmpty }
  var completeView: View? { views.first { $0.spec.loadsAllData } }
  var hasCompleteView: Bool { completeView != nil }

  /// Whether a view here or below knows a part of the server's data only.
  var hasFilteredData: Bool {
    views.contains { $0.cache.server.isFiltered } || children.values.contains { $0.hasFilteredData }
  }

  func view(for spec: DatabaseQuerySpec) -> View? { views.first { $0.spec == spec } }

  func completeServerNode(at path: DatabasePath) -> DatabaseNode? {
    for view in views { if let node = view.completeServerNode(at: path) { return node } }
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
    return views + children.sorted { $0.key < $1.key }.flatMap { $0.value.distinctViews }
  }

  /// The views that need no listen of their own once a complete view of this place listens.
  var shadowedViews: [View] {
    views.filter { !$0.spec.loadsAllData } + children.sorted { $0.key < $1.key }.flatMap { $0.value.distinctViews }
  }

  /// The parts of an operation at this point that are for listens to everything below it.
  func parts(of operation: SyncOperation, at path: DatabasePath) -> [(path: DatabasePath, operation: SyncOperation)] {
    if hasCompleteView { return [(path, operation)] }
    return children.sorted { $0.key.text < $1.key.text }.flatMap { key, point in
      operation.child(key).map { point.parts(of: $0, at: path.child(key)) } ?? []
    }
  }

  /// Applies an operation to the views that it concerns, those of the deepest places first.
  mutating func apply(
    _ operation: SyncOperation, server: DatabaseNode?, writes: WritesBelow, _ sink: inout SyncSink
  ) {
    let server = server ?? completeServerNode(at: .root)
    if let front = operation.path.front {
      apply(operation, to: front, server, writes, &sink)
    } else {
      for key in children.keys.sorted(by: { $0.text < $1.text }) { apply(operation, to: key, server, writes, &sink) }
    }
    for index in views.indices {
      if case .query(let spec) = operation.source, views[index].spec != spec { continue }
      let (events, changes) = views[index].apply(operation, writes: writes, completeServer: server)
      sink.events += events
      if !changes.isEmpty, !views[index].spec.loadsAllData {
        sink.filteredChanges.append((views[index].path, views[index].spec, changes))
      }
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
