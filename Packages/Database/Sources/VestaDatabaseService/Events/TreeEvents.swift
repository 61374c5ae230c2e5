import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEngineInterop
import VestaEventsInterop
import VestaStoreInterop

/// The events of one write: the form for functions that listen to references.
///
/// A function listens to references of one depth, `rooms/{room}`. A write above them changes every reference below it
/// that differs afterwards; a write at or below one of them changes that one.
///
/// | written | pattern | references that are looked at |
/// |---|---|---|
/// | `rooms/a/title` | `rooms/{room}` | `rooms/a` |
/// | `rooms` | `rooms/{room}` | all children of `rooms`, before and after |
struct TreeEvents {
  static let types: Set<EventType> = [.valueCreated, .valueUpdated, .valueDeleted]

  /// The size up to which an event has its values, in bytes; a store would refuse larger ones, and the write with them.
  static let maximumSize = 8_388_608

  private struct Look {
    let pattern: EventPattern
    /// The depth of the references.
    let length: Int
    /// The reference itself, or the path above that is written.
    let root: DatabasePath
  }

  private let outbox: EventOutbox
  private let interest: EventInterest
  private let actor: EventActor?
  private let scope: String
  private let looks: [Look]
  private var before: [DatabasePath: DatabaseNode] = [:]

  /// The events of the engine, whose outbox is in the store of the tree.
  static let offer = EventOffer(
    service: "firebasedatabase.googleapis.com", keys: Keys.outbox, types: types,
    data: { record in
      let nodes = try ChangedNodes(fieldBytes: record.payload)
      func value(_ bytes: [UInt8]?) throws -> JSONValue? {
        guard let bytes else { return nil }
        return bytes.isEmpty ? .null : json(try NodeCoding.decode(bytes))
      }
      var data = JSONObject()
      data["before"] = try value(nodes.before)
      data["after"] = try value(nodes.after)
      return EventData(data)
    })

  /// The events of a write; `nil` when it can change nothing that has a listener.
  ///
  /// - Parameters:
  ///   - outbox: The outbox of the engine.
  ///   - cause: The call of the write.
  ///   - scope: The namespace.
  ///   - paths: Where the write puts something.
  init?(_ outbox: EventOutbox?, _ cause: EventCause, scope: String, writing paths: [DatabasePath]) {
    guard let outbox, let interest = outbox.interest(in: cause) else { return nil }
    actor = cause.actor
    self.outbox = outbox
    self.interest = interest
    self.scope = scope
    looks = interest.subscriptions.flatMap { subscription -> [Look] in
      guard subscription.scope.map({ $0 == scope }) ?? true, let pattern = subscription.pattern,
        let length = pattern.length
      else { return [] }
      return paths.compactMap { path in
        guard pattern.touches(path.keys.map { Substring($0.text) }) else { return nil }
        return Look(pattern: pattern, length: length, root: DatabasePath(path.keys.prefix(length)))
      }
    }
    if looks.isEmpty { return nil }
  }

  /// Reads the nodes before the write.
  mutating func begin(_ reader: TreeReader) async throws {
    for look in looks where before[look.root] == nil { before[look.root] = try await reader.node(look.root) }
  }

  /// Reads the nodes after the write, and records what is different.
  func finish(_ reader: TreeReader, in transaction: any StoreTransaction) async throws {
    var after: [DatabasePath: DatabaseNode] = [:]
    for root in before.keys { after[root] = try await reader.node(root) }
    var changes: [DatabasePath: (before: DatabaseNode, after: DatabaseNode)] = [:]
    for look in looks {
      let (old, new) = (before[look.root] ?? .empty, after[look.root] ?? .empty)
      for path in TreeEvents.references(below: look.root, look.length - look.root.count, old, new) {
        let relative = look.root.relative(path) ?? .root
        let change = (before: old[relative], after: new[relative])
        if change.before != change.after { changes[path] = change }
      }
    }
    var drafts: [EventDraft] = []
    for (path, change) in changes.sorted(by: { $0.key.text < $1.key.text }) {
      if let draft = try draft(path, change.before, change.after) { drafts.append(draft) }
    }
    try await outbox.append(drafts, in: transaction)
  }

  private func draft(_ path: DatabasePath, _ before: DatabaseNode, _ after: DatabaseNode) throws -> EventDraft? {
    let type: EventType = before.isEmpty ? .valueCreated : after.isEmpty ? .valueDeleted : .valueUpdated
    let functions = interest.functions(for: type, scope: scope, path: path.text)
    guard !functions.isEmpty else { return nil }
    var nodes = ChangedNodes(
      before: before.isEmpty ? nil : NodeCoding.encode(before), after: after.isEmpty ? nil : NodeCoding.encode(after))
    nodes.limit(to: TreeEvents.maximumSize)
    return EventDraft(
      type, scope: scope, path: path.text, functions: functions, actor: actor, payload: try nodes.fieldBytes())
  }

  /// The references at a depth below a path, in the order of their keys.
  private static func references(
    below root: DatabasePath, _ depth: Int, _ before: DatabaseNode, _ after: DatabaseNode
  ) -> [DatabasePath] {
    guard depth > 0 else { return [root] }
    var keys: Set<DatabaseKey> = []
    before.forEachChild { key, _ in keys.insert(key) }
    after.forEachChild { key, _ in keys.insert(key) }
    return keys.sorted().flatMap { key in
      // Equal nodes have no references that differ.
      before[key] == after[key] ? [] : references(below: root.child(key), depth - 1, before[key], after[key])
    }
  }

  /// A node as JSON, without priorities.
  static func json(_ node: DatabaseNode) -> JSONValue {
    if let leaf = node.leaf {
      switch leaf {
      case .bool(let value): return .bool(value)
      case .int(let value): return .integer(value)
      case .double(let value): return .number(value)
      case .string(let value): return .string(value)
      // The server has replaced these before a write is kept.
      case .timestamp, .incrementInt, .incrementDouble: return .null
      }
    }
    guard !node.isEmpty else { return .null }
    var object = JSONObject()
    node.forEachChild { key, child in object[key.text] = json(child) }
    return .object(object)
  }
}

/// A node before and after a change, as an event keeps it; empty for a value that was too large to be kept.
struct ChangedNodes: FieldRecord {
  var before: [UInt8]?
  var after: [UInt8]?

  mutating func visit(_ visitor: inout some RecordVisitor) throws {
    try visitor.field(1, &before)
    try visitor.field(2, &after)
  }

  /// Leaves values out, that of before first, until the rest is small enough.
  mutating func limit(to size: Int) {
    if (before?.count ?? 0) + (after?.count ?? 0) > size, before != nil { before = [] }
    if (after?.count ?? 0) > size { after = [] }
  }
}
