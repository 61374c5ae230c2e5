import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreSync

/// First results that their listener has and the cache has not taken yet.
@Suite(.timeLimit(.minutes(15)))
struct DeferredResultsTests {
  /// An embedded client, and the engine that it reads.
  private final class Client {
    let machine: ClientMachine
    /// The engine's documents, with the time of their last change.
    private var rows: [ResourcePath: (fields: MapValue, version: Int64)] = [:]
    private var version: Int64 = 10
    private var followed: Set<Int32> = []
    /// The snapshots of the listeners and the requests to the watch stream, in order.
    private(set) var told: [String] = []
    private let looksAtOnce: Bool

    /// - Parameter looksAtOnce: Whether the cache takes everything at once.
    init(looksAtOnce: Bool) {
      var configuration = ClientMachine.Configuration(database: database)
      configuration.link = .embedded
      machine = ClientMachine(configuration, local: LocalStore(database: database, user: "", policy: .eager))
      self.looksAtOnce = looksAtOnce
      machine.enableNetwork()
    }

    func open() {
      machine.watch.opened(stream: 1)
      perform()
    }

    /// The snapshots and requests since the last call.
    func takeTold() -> [String] {
      defer { told = [] }
      return told
    }

    /// Carries out what the machine wants, until it wants nothing.
    func perform() {
      if looksAtOnce { machine.cache.takeWaiting() }
      while case let actions = machine.takeActions(), !actions.isEmpty {
        machine.dropRows()
        for action in actions { perform(action) }
        if looksAtOnce { machine.cache.takeWaiting() }
      }
    }

    private func perform(_ action: ClientAction) {
      switch action {
      case .fetch(let stream, let record):
        machine.watch.receivedFirst(
          stream: stream, target: record.id, results(of: record.target), version: Timestamp(seconds: version))
      case .watch(_, let record):
        followed.insert(record.id)
        told.append("follow \(record.id) from \(record.snapshotVersion.seconds), \(record.expectedCount ?? -1)")
      case .unwatch(_, let id):
        followed.remove(id)
        told.append("leave \(id)")
      case .event(.snapshot(let id, let snapshot)):
        let documents = snapshot.documents.map { "\($0.path) \($0.fields ?? [:]) \($0.hasPendingWrites)" }
        told.append(
          "\(id): \(documents) \(snapshot.isFromCache) \(snapshot.changes.map { "\($0.kind)\($0.document.path)" })")
      case .openWrite(let stream, _): told.append("write stream \(stream)")
      default: break
      }
    }

    private func document(_ path: ResourcePath) -> CachedDocument {
      let name = ResourceName(database: database, path: path)
      guard let row = rows[path] else { return CachedDocument(name, .missing, version: Timestamp(seconds: version)) }
      return CachedDocument(name, .found(row.fields), version: Timestamp(seconds: row.version))
    }

    private func results(of target: QueryTarget) -> [CachedDocument] {
      if target.isDocument { return [document(target.path)] }
      let found = rows.keys.filter { path in
        target.collectionGroup.map { path.parent.collectionID == $0 } ?? (path.parent == target.path)
      }
      let sorted = found.map(document).sorted { DocumentOrder(target.orders).compare($0, $1) < 0 }
      return Array(sorted.prefix(target.limit ?? .max))
    }

    /// Changes a document of the engine, of which the stream tells the targets that it follows.
    func change(_ path: ResourcePath, _ number: Int64) {
      version += 1
      rows[path] = (["n": .integer(number)], version)
      for id in followed.sorted() {
        guard let target = machine.watch.targets[id]?.target, target.limit == nil,
          results(of: target).contains(where: { $0.path == path }), let message = document(path).document
        else { continue }
        machine.watch.received(stream: 1, .documentChange(DocumentChange(document: message, targetIDs: [id])))
      }
      machine.watch.received(
        stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: Timestamp(seconds: version))))
      perform()
    }
  }

  private static func queries() throws -> [LocalQuery] {
    [
      try query("rooms"), try query("rooms", limit: 2), try query("halls"), try query("rooms/a/members"),
      try LocalQuery(database: database, path: path("rooms"), orders: [NormalQuery.Order(FieldPath(["n"]))], limit: 2),
      try LocalQuery(
        database: database, path: path("rooms"), orders: [NormalQuery.Order(FieldPath(["n"]), descending: true)],
        limit: 2,
        limitType: .last),
      try query("rooms/a"), try LocalQuery(database: database, path: .root, collectionGroup: CollectionID("members")),
    ]
  }

  private static let documents = ["rooms/a", "rooms/b", "rooms/c", "halls/a", "rooms/a/members/x", "rooms/a/members/y"]

  @Test(arguments: 0..<150)
  func `it makes no difference whether the cache takes first results at once or later`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let clients = [Client(looksAtOnce: false), Client(looksAtOnce: true)]
    let queries = try Self.queries()
    var (listeners, last): ([ListenerID], ListenerID) = ([], 0)
    for client in clients { client.open() }
    for step in 0..<60 {
      let place = path(Self.documents.randomElement(using: &random) ?? "")
      let (kind, number) = (Int.random(in: 0..<12, using: &random), Int64.random(in: 0..<9, using: &random))
      let query = queries.randomElement(using: &random) ?? queries[0]
      let gone = listeners.randomElement(using: &random)
      if kind < 4 {
        last += 1
        listeners.append(last)
      } else if kind < 7 {
        listeners.removeAll { $0 == gone }
      }
      for client in clients {
        let machine = client.machine
        switch kind {
        case 0..<4:
          machine.core.listen(query, options: ListenOptions(includesMetadata: step.isMultiple(of: 2)), listener: last)
          machine.watch.opened(stream: 1)
        case 4..<7: if let gone { machine.core.unlisten(gone) }
        case 7: machine.core.write([set("\(place)", ["n": .integer(number)])], at: Timestamp(seconds: 1), callback: nil)
        case 8: machine.changeUser(number.isMultiple(of: 2) ? "alice" : "bob\(step)")
        case 9: machine.timerFired(.watchFollow)
        default: client.change(place, number)
        }
        client.perform()
      }
      let told = clients.map { $0.takeTold() }
      try #require(told[0] == told[1], "step \(step), kind \(kind)")
    }
    for listener in listeners { for client in clients { client.machine.core.unlisten(listener) } }
    for client in clients { client.perform() }
    #expect(clients[0].takeTold() == clients[1].takeTold())
    #expect(
      clients[0].machine.local.documents.all.map(\.path).sorted()
        == clients[1].machine.local.documents.all.map(\.path).sorted())
  }

  private func listen(_ client: Client, _ query: LocalQuery, _ listener: ListenerID = 1) {
    client.machine.core.listen(query, options: ListenOptions(), listener: listener)
    client.open()
  }

  @Test func `a listener that leaves after its first snapshot has put nothing into the cache`() throws {
    let client = Client(looksAtOnce: false)
    client.change(path("rooms/a"), 1)
    listen(client, try query("rooms"))
    #expect(client.told.count == 1 && client.machine.cache.waiting != nil)
    #expect(Array(client.machine.cache.store.documents.all).isEmpty)
    client.machine.core.unlisten(1)
    #expect(client.machine.cache.waiting == nil && Array(client.machine.local.documents.all).isEmpty)
  }

  @Test func `a write is based on first results that the cache has not taken yet`() throws {
    let client = Client(looksAtOnce: false)
    client.change(path("rooms/a"), 4)
    listen(client, try query("rooms"))
    let increment = Mutation(
      path("rooms/a"), .patch([:], mask: FieldMask([])), transforms: [.init(FieldPath(["n"]), .increment(.integer(1)))])
    client.machine.core.write([increment], at: Timestamp(seconds: 1), callback: nil)
    client.perform()
    #expect(client.machine.local.shown.document(path("rooms/a")).fields == ["n": .integer(5)])
    #expect(client.told.contains { $0.contains("integer(5)") && $0.contains("true") }, "\(client.told)")
  }

  @Test(arguments: ["rooms/a", "rooms"])
  func `results that are not the only ones of their collection go to the cache at once`(other: String) throws {
    let client = Client(looksAtOnce: false)
    client.change(path("rooms/a"), 4)
    listen(client, try query(other, limit: other == "rooms" ? 1 : nil))
    listen(client, try query("rooms"), 2)
    #expect(client.machine.cache.waiting == nil)
  }
}
