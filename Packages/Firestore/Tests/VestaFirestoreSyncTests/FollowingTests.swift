import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// A target after its first results were read from the engine, and before the watch stream is asked for it.
@Suite(.timeLimit(.minutes(15)))
struct FollowingTests {
  private let machine: ClientMachine
  private let version = Timestamp(seconds: 10)

  /// An embedded client with an open stream, kept open by a listener of another collection.
  init() throws {
    var configuration = ClientMachine.Configuration(database: database)
    configuration.link = .embedded
    machine = ClientMachine(configuration, local: LocalStore(database: database, user: "", policy: .eager))
    machine.enableNetwork()
    machine.core.listen(try query("lobby"), options: ListenOptions(), listener: 1)
    machine.watch.opened(stream: 1)
    for fetch in Outcome(machine).fetches { read(fetch, []) }
    machine.timerFired(.watchFollow)
    #expect(Outcome(machine).watches.count == 1)
  }

  /// The actions of the machine since the last time.
  private struct Outcome {
    var fetches: [(stream: Int, record: TargetRecord)] = []
    var watches: [TargetRecord] = []
    var unwatches = 0
    var snapshots: [ListenerID: ViewSnapshot] = [:]

    init(_ machine: ClientMachine) {
      for action in machine.takeActions() {
        switch action {
        case .fetch(let stream, let record): fetches.append((stream, record))
        case .watch(_, let record): watches.append(record)
        case .unwatch: unwatches += 1
        case .event(.snapshot(let id, let snapshot)): snapshots[id] = snapshot
        default: break
        }
      }
    }
  }

  private func room(_ id: String) -> CachedDocument {
    CachedDocument(
      ResourceName(database: database, path: path("rooms/\(id)")), .found(["n": .integer(1)]),
      version: Timestamp(seconds: 5), readTime: version)
  }

  private func read(_ fetch: (stream: Int, record: TargetRecord), _ documents: [CachedDocument]) {
    machine.watch.receivedFirst(stream: fetch.stream, target: fetch.record.id, documents, version: version)
  }

  /// Listens to the rooms, whose first results are read.
  private func listen(_ listener: ListenerID) throws -> Outcome {
    machine.core.listen(try query("rooms"), options: ListenOptions(), listener: listener)
    let fetch = try #require(Outcome(machine).fetches.first)
    read(fetch, [room("a"), room("b")])
    return Outcome(machine)
  }

  private func isFollowed(_ outcome: Outcome, from version: Timestamp) -> Bool {
    outcome.watches.count == 1 && outcome.watches[0].snapshotVersion == version
      && outcome.watches[0].target.path == path("rooms")
  }

  @Test func `a listener that leaves and returns is read again, and its target alone is followed`() throws {
    #expect(try listen(2).snapshots[2]?.ids == ["a", "b"])
    machine.core.unlisten(2)
    #expect(try listen(3).snapshots[3]?.ids == ["a", "b"])
    machine.timerFired(.watchFollow)
    let outcome = Outcome(machine)
    #expect(isFollowed(outcome, from: version) && outcome.unwatches == 0)
    machine.timerFired(.watchFollow)
    #expect(Outcome(machine).watches.isEmpty)
  }

  @Test func `results that arrive after their listener has left are dropped`() throws {
    machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 2)
    let fetch = try #require(Outcome(machine).fetches.first)
    machine.core.unlisten(2)
    read(fetch, [room("a")])
    machine.timerFired(.watchFollow)
    let outcome = Outcome(machine)
    #expect(outcome.snapshots.isEmpty && outcome.watches.isEmpty && outcome.unwatches == 0)
    #expect(!machine.local.shown.document(path("rooms/a")).isFound)
  }

  @Test(arguments: [false, true])
  func `a stream that begins again follows the target from its version on, once`(isOtherUser: Bool) throws {
    _ = try listen(2)
    if isOtherUser {
      machine.changeUser("alice")
    } else {
      machine.disableNetwork()
      machine.timerFired(.watchFollow)
      #expect(Outcome(machine).watches.isEmpty)
      machine.enableNetwork()
    }
    machine.watch.opened(stream: 2)
    let rooms = Outcome(machine).watches.filter { $0.target.path == path("rooms") }
    #expect(rooms.map(\.snapshotVersion) == [version])
    machine.timerFired(.watchFollow)
    #expect(Outcome(machine).watches.isEmpty)
  }

  @Test func `results that are older than the last snapshot of the stream are not used`() throws {
    machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 2)
    let fetch = try #require(Outcome(machine).fetches.first)
    let later = Timestamp(seconds: 20)
    for time in [later, Timestamp(seconds: 15)] {
      machine.watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: time)))
      #expect(machine.local.lastRemoteSnapshotVersion == later)
    }
    read(fetch, [room("a")])
    let outcome = Outcome(machine)
    #expect(outcome.snapshots.isEmpty && isFollowed(outcome, from: .zero))
  }

  @Test func `results of a stream that has ended are not used`() throws {
    machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 2)
    let fetch = try #require(Outcome(machine).fetches.first)
    machine.changeUser("alice")
    machine.watch.opened(stream: 2)
    let again = try #require(Outcome(machine).fetches.first)
    read(fetch, [room("a")])
    #expect(Outcome(machine).snapshots.isEmpty)
    read(again, [room("b")])
    #expect(Outcome(machine).snapshots[2]?.ids == ["b"])
  }

  @Test func `nothing is followed after the end`() throws {
    _ = try listen(2)
    machine.shutDown()
    machine.timerFired(.watchFollow)
    #expect(Outcome(machine).watches.isEmpty)
  }

  @Test func `two listeners of one target have its first results, and it is followed once`() throws {
    let orders = [NormalQuery.Order(FieldPath(["n"]), descending: false)]
    let turned = [NormalQuery.Order(FieldPath(["n"]), descending: true)]
    let first = try LocalQuery(database: database, path: path("rooms"), orders: orders, limit: 2)
    let last = try LocalQuery(database: database, path: path("rooms"), orders: turned, limit: 2, limitType: .last)
    #expect(
      machine.core.listen(first, options: ListenOptions(), listener: 2)
        == machine.core.listen(last, options: ListenOptions(), listener: 3))
    let fetches = Outcome(machine).fetches
    #expect(fetches.count == 1)
    for fetch in fetches { read(fetch, [room("a"), room("b")]) }
    let outcome = Outcome(machine)
    #expect(outcome.snapshots[2]?.ids == ["a", "b"] && outcome.snapshots[3]?.ids == ["b", "a"])
    machine.core.unlisten(2)
    machine.timerFired(.watchFollow)
    #expect(isFollowed(Outcome(machine), from: version))
  }

  @Test func `a target that only the cache has answered is followed from its version on`() throws {
    _ = try listen(2)
    var options = ListenOptions()
    options.isCacheOnly = true
    machine.core.listen(try query("rooms"), options: options, listener: 3)
    machine.core.unlisten(2)
    machine.timerFired(.watchFollow)
    #expect(Outcome(machine).watches.isEmpty)
    // Documents may have been deleted since: the stream says so only from the version on that the view has.
    machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 4)
    #expect(isFollowed(Outcome(machine), from: version))
  }

  @Test func `a document that was deleted while only the cache answered is absent for the next listener`() async throws
  {
    let world = World()
    let other = world.client()
    try await other.write(["a", "b", "c"].map { set("rooms/\($0)", [:]) }).acknowledged()
    let client = world.client(isEmbedded: true)
    let (first, cached, last) = (Received(), Received(), Received())
    let rooms = try query("rooms")
    let listener = client.listen(rooms, options: ListenOptions()) { first.receive($0) }
    _ = try await first.first { !$0.isFromCache && $0.ids == ["a", "b", "c"] }
    var options = ListenOptions()
    options.isCacheOnly = true
    let keeper = client.listen(rooms, options: options) { cached.receive($0) }
    listener.remove()
    try await other.write([Mutation(path("rooms/b"), .delete)]).acknowledged()
    let again = client.listen(rooms, options: ListenOptions(includesMetadata: true)) { last.receive($0) }
    _ = try await last.first { !$0.isFromCache && $0.ids == ["a", "c"] }
    keeper.remove()
    again.remove()
    await client.shutdown()
    await other.shutdown()
  }
}
