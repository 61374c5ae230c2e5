import VestaDatabaseBackend
import VestaDatabaseModel

/// An event as the specification has it.
struct ExpectedEvent: CustomStringConvertible {
  let path: DatabasePath
  let kind: SyncEventKind
  let name: String?
  let previous: String?
  let hash: String

  init(_ fields: [String: Any], base: DatabasePath) throws {
    guard let type = fields["type"] as? String, let kind = Self.kinds[type] else {
      throw UnreadableCase(description: "an event of unknown type")
    }
    self.kind = kind
    path = base.appending(DatabasePath(fields["path"] as? String ?? ""))
    name = fields["name"] as? String
    previous = fields["prevName"] as? String
    hash = NodeHash.hash(try NodeImport(at: .root).node(fields["data"]))
  }

  private static let kinds: [String: SyncEventKind] = [
    "value": .value, "child_added": .childAdded, "child_removed": .childRemoved, "child_changed": .childChanged,
    "child_moved": .childMoved,
  ]

  func matches(_ event: ActualEvent) -> Bool {
    guard path == event.path, kind == event.kind, hash == event.hash else { return false }
    if kind == .value { return true }
    return name == event.name && (kind == .childRemoved || previous == event.previous)
  }

  var description: String { "\(kind) \(name ?? "") after \(previous ?? "-") at \(path)" }
}

/// An event as the tree has raised it.
struct ActualEvent: CustomStringConvertible {
  let path: DatabasePath
  let kind: SyncEventKind
  let name: String?
  let previous: String?
  let hash: String
  let listener: String

  /// `nil` for the end of a listener.
  init?(_ event: SyncEvent) {
    guard case .data(let kind, let key, let node, let previous) = event.content else { return nil }
    self.kind = kind
    path = event.path
    name = key?.text
    self.previous = previous?.text
    hash = NodeHash.hash(node.node)
    listener = "\(event.registration) \(event.path) \(event.spec)"
  }

  var description: String { "\(kind) \(name ?? "") after \(previous ?? "-") at \(path)" }
}
