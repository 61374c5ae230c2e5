import VestaDatabaseBackend
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The service of a ``ListenModel``: the hub of a room, a tree for the store, and what the room does in steps.
final class ListenModelService {
  /// The next piece of a read.
  private enum Read {
    case first(Int, DatabaseListen, Int)
    case activate(Int, DatabaseListen, Int, DatabaseNode, StoreVersion)
    case again(Set<Int>)
    case replace([Int: DatabaseNode], StoreVersion)
  }

  /// The next piece of what happens in turn.
  enum Turn {
    case listen(DatabaseListen, Int)
    case unlisten(DatabasePath, DatabaseQuerySpec, Int?, Int)
    /// A commit; the number of the request where it is the client's.
    case commit(DatabasePathValue, Int?)
    case publish(DatabasePathValue, StoreVersion)
    case refresh([Int: [DatabasePathValue]], StoreVersion)
    case update(ListenHub.Reading, [DatabasePath: DatabaseNode], StoreVersion)
    case restore([Int])
    case answer(Int, StoreVersion)
    case removeEnding
  }

  private(set) var tree: DatabaseNode
  private(set) var turns: [Turn] = []
  private var version = StoreVersion(rawValue: 1)
  private var running: [Read] = []
  /// The requests of the client that wait for their turn or have it.
  private var jobs = 0
  private let room: Room
  private let connection: EngineConnection
  private let sent = Log<DatabaseServerMessage>()

  var reads: Range<Int> { running.indices }
  private var hub: ListenHub { room.hub }

  init(_ tree: DatabaseNode) {
    self.tree = tree
    room = Room(namespace: "test", owner: "o", options: DatabaseServiceOptions()) { ModelStore() }
    connection = EngineConnection(
      room: room, session: "s", DatabaseConnectRequest(namespace: "test"), CallerCheck(), admit: { $0 },
      receive: { [sent] in sent.add($0) })
  }

  /// The messages since the last call.
  func takeMessages() -> [DatabaseServerMessage] {
    connection.deliver()
    return sent.drain()
  }

  // MARK: Requests

  /// Takes a request of the client: a listen begins at once where nothing of the client waits.
  func take(_ request: DatabaseRequest, _ id: Int) {
    switch request {
    case .listen(let listen):
      if jobs == 0 { return start(listen, id) }
      turns.append(.listen(listen, id))
    case .unlisten(let path, let spec, let tag): turns.append(.unlisten(path, spec, tag, id))
    case .put(let path, let node, _): turns.append(.commit(DatabasePathValue(path, node), id))
    default: return
    }
    jobs += 1
  }

  /// Takes a write of another client.
  func takeForeign(_ value: DatabasePathValue) { turns.append(.commit(value, nil)) }

  private func start(_ listen: DatabaseListen, _ id: Int) {
    running.append(.first(hub.add(connection, listen), listen, id))
  }

  // MARK: In turn

  func runTurn() {
    switch turns.removeFirst() {
    case .listen(let listen, let id):
      jobs -= 1
      start(listen, id)
    case .unlisten(let path, let spec, let tag, let id):
      jobs -= 1
      hub.remove(connection, path, spec, tag)
      connection.enqueue([.reply(id, .ok)])
    case .commit(let value, let id): commit(value, id)
    case .publish(let value, let version): publish(value, version)
    case .refresh(let places, let version): refresh(places, version)
    case .update(let reading, let children, let version): update(reading, children, version)
    case .restore(let ids): _ = hub.restore(Set(ids))
    case .answer(let id, let version):
      jobs -= 1
      hub.reply(.reply(id, .ok), to: connection, version)
    case .removeEnding: hub.removeEnding(of: connection)
    }
  }

  private func commit(_ value: DatabasePathValue, _ id: Int?) {
    tree = tree.setting(value.path, to: value.node)
    version = version.next
    turns.insert(.publish(value, version), at: 0)
    if let id { turns.insert(.answer(id, version), at: 1) }
  }

  private func publish(_ value: DatabasePathValue, _ version: StoreVersion) {
    let published = hub.publish([[value]], version)
    if !published.disturbed.isEmpty { turns.insert(.restore(published.disturbed), at: 0) }
    if !published.places.isEmpty { turns.insert(.refresh(published.places, version), at: 0) }
  }

  private func refresh(_ places: [Int: [DatabasePathValue]], _ version: StoreVersion) {
    let reading = hub.reading(places, version)
    var children: [DatabasePath: DatabaseNode] = [:]
    for (number, place) in reading.places {
      for (key, node) in place.children where node == nil {
        let path = place.path.child(key)
        if place.indexes.contains(where: { hub.mayTake(number, $0, key, tree[path]) }) { children[path] = tree[path] }
      }
    }
    turns.insert(.update(reading, children, version), at: 0)
  }

  private func update(_ reading: ListenHub.Reading, _ children: [DatabasePath: DatabaseNode], _ version: StoreVersion) {
    let updated = hub.update(reading, children: children, version, isExact: true)
    let whole = reading.whole.union(updated.again)
    hub.beginReading(whole)
    if !whole.isEmpty { running.append(.again(whole)) }
  }

  // MARK: Reads

  func runRead(_ index: Int) {
    if let next = next(running[index]) { running[index] = next } else { running.remove(at: index) }
  }

  private func next(_ read: Read) -> Read? {
    switch read {
    case .first(let watch, let listen, let id):
      return .activate(watch, listen, id, window(listen.path, listen.spec), version)
    case .activate(let watch, let listen, let id, let node, let version):
      let isStale = hub.activate(
        watch, of: connection, node, version, data: listen.firstData(of: node), reply: .reply(id, .ok))
      turns.append(.removeEnding)
      return isStale ? .again([watch]) : nil
    case .again(let watches):
      return .replace(hub.queries(watches).mapValues { window($0.path, $0.spec) }, version)
    case .replace(let results, let version):
      let again = hub.replace(results, version).again
      return again.isEmpty ? nil : .again(again)
    }
  }

  private func window(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> DatabaseNode {
    NodeWindow.window(of: tree[path], spec)
  }
}
