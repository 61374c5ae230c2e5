import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// An acknowledged write of which the watch stream never says anything.
@Suite struct AwaitedSnapshotTests {
  private let machine: ClientMachine
  private var snapshots: [ViewSnapshot] = []
  private var watched: [TargetRecord] = []
  private var unwatched: [Int32] = []
  private var timers: Set<TimerName> = []
  private let target: Int32

  /// A client with a current listener to the open rooms, of which there are none.
  init() throws {
    machine = ClientMachine(
      ClientMachine.Configuration(database: database), local: LocalStore(database: database, user: "", policy: .eager))
    machine.enableNetwork()
    let open = Filter.field(path: "open", .equal, .boolean(true))
    target = try #require(
      machine.core.listen(try query("rooms", [open]), options: ListenOptions(includesMetadata: true), listener: 1))
    machine.watch.opened(stream: 1)
    machine.watch.received(stream: 1, .targetChange(TargetChange(.add, targetIDs: [target])))
    machine.watch.received(
      stream: 1,
      .targetChange(TargetChange(.current, targetIDs: [target], resumeToken: [1], readTime: Timestamp(seconds: 1))))
    machine.watch.received(
      stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: Timestamp(seconds: 1))))
    perform()
    #expect(snapshots.last?.isFromCache == false)
    watched = []
  }

  private mutating func perform() {
    for action in machine.takeActions() {
      switch action {
      case .event(.snapshot(_, let snapshot)): snapshots.append(snapshot)
      case .watch(_, let record): watched.append(record)
      case .unwatch(_, let id): unwatched.append(id)
      case .startTimer(let name, _): timers.insert(name)
      case .cancelTimer(let name): timers.remove(name)
      default: break
      }
    }
  }

  /// Writes a room that is open, and has it acknowledged at version 5.
  private mutating func writeRoom() {
    machine.core.write([set("rooms/a", ["open": .boolean(true)])], at: Timestamp(seconds: 1), callback: nil)
    if machine.writes.stream.state == .starting { machine.writes.opened(stream: 1) }
    if !machine.writes.hasShakenHands {
      machine.writes.received(stream: 1, WriteResponse(streamID: "s", streamToken: [1]))
    }
    machine.writes.received(
      stream: 1,
      WriteResponse(
        streamToken: [2], writeResults: [WriteResult(updateTime: Timestamp(seconds: 5))],
        commitTime: Timestamp(seconds: 5)))
    perform()
  }

  /// Fires the timer as often as it takes.
  private mutating func waitLong() {
    for _ in 0..<5 where timers.remove(.awaited) != nil {
      machine.timerFired(.awaited)
      perform()
    }
  }

  private var name: String { ResourceName(database: database, path: path("rooms/a")).description }

  private mutating func answer(_ id: Int32, _ fields: MapValue?, version: Int64) {
    let time = Timestamp(seconds: version)
    machine.watch.received(stream: 1, .targetChange(TargetChange(.add, targetIDs: [id])))
    if let fields {
      let document = Document(name: name, fields: fields, createTime: time, updateTime: time)
      machine.watch.received(stream: 1, .documentChange(DocumentChange(document: document, targetIDs: [id])))
    }
    machine.watch.received(
      stream: 1, .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: [2], readTime: time)))
    machine.watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [2], readTime: time)))
    perform()
  }

  @Test(arguments: [true, false])
  mutating func `a document of which nothing is said is asked for, and leaves the results`(exists: Bool) throws {
    writeRoom()
    #expect(snapshots.last?.ids == ["a"])
    waitLong()
    let asked = try #require(watched.last)
    #expect(asked.target.path == path("rooms/a") && asked.purpose == .limboResolution)
    answer(asked.id, exists ? ["open": .boolean(false)] : nil, version: 6)
    #expect(snapshots.last?.ids == [] && snapshots.last?.isFromCache == false)
    #expect(unwatched == [asked.id])
    waitLong()
    #expect(watched.count == 1 && machine.core.limbo.active.isEmpty)
  }

  @Test mutating func `a document that is asked for again is asked for once more`() throws {
    for round in 1...2 {
      writeRoom()
      waitLong()
      #expect(watched.count == round)
      answer(try #require(watched.last).id, ["open": .boolean(false)], version: 6)
    }
    #expect(unwatched.count == 2)
  }

  @Test mutating func `nothing is asked for when the stream brings the write`() {
    writeRoom()
    let time = Timestamp(seconds: 5)
    let document = Document(name: name, fields: ["open": .boolean(true)], createTime: time, updateTime: time)
    machine.watch.received(stream: 1, .documentChange(DocumentChange(document: document, targetIDs: [target])))
    machine.watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [3], readTime: time)))
    perform()
    #expect(snapshots.last?.hasPendingWrites == false)
    waitLong()
    #expect(watched.isEmpty && !timers.contains(.awaited))
  }

  @Test mutating func `a listener that leaves ends the request`() throws {
    writeRoom()
    waitLong()
    let asked = try #require(watched.last)
    machine.core.unlisten(1)
    perform()
    #expect(unwatched.contains(asked.id) && machine.core.limbo.active.isEmpty)
  }

  @Test mutating func `a refused request removes the document that no user may see`() throws {
    writeRoom()
    waitLong()
    let asked = try #require(watched.last)
    machine.watch.received(
      stream: 1,
      .targetChange(
        TargetChange(.remove, targetIDs: [asked.id], cause: FirestoreServiceError(.permissionDenied, "No."))))
    perform()
    #expect(snapshots.last?.ids == [] && machine.core.limbo.active.isEmpty)
  }
}

/// First results that were read before an own write was committed, and arrive after its answer.
@Suite struct HeldDocumentTests {
  @Test(arguments: [false, true])
  func `results from before an acknowledged write do not bring back what it replaced`(isDeleted: Bool) throws {
    var configuration = ClientMachine.Configuration(database: database)
    configuration.link = .embedded
    let machine = ClientMachine(configuration, local: LocalStore(database: database, user: "", policy: .eager))
    machine.enableNetwork()
    machine.core.listen(try query("lobby"), options: ListenOptions(), listener: 1)
    machine.watch.opened(stream: 1)
    _ = machine.takeActions()
    let write = isDeleted ? Mutation(path("rooms/a"), .delete) : set("rooms/a", ["n": .integer(2)])
    machine.core.write([write], at: Timestamp(seconds: 1), callback: nil)
    machine.core.listen(try query("rooms"), options: ListenOptions(includesMetadata: true), listener: 2)
    var fetch: (stream: Int, record: TargetRecord)?
    for case .fetch(let stream, let record) in machine.takeActions() { fetch = (stream, record) }
    let (stream, record) = try #require(fetch)
    machine.writes.opened(stream: 1)
    machine.writes.received(stream: 1, WriteResponse(streamID: "s", streamToken: [1]))
    let committed = Timestamp(seconds: 9)
    machine.writes.received(
      stream: 1,
      WriteResponse(
        streamToken: [2], writeResults: [WriteResult(updateTime: isDeleted ? nil : committed)], commitTime: committed))
    let name = ResourceName(database: database, path: path("rooms/a"))
    let old = CachedDocument(
      name, .found(["n": .integer(1)]), version: Timestamp(seconds: 3), readTime: Timestamp(seconds: 8))
    machine.watch.receivedFirst(stream: stream, target: record.id, [old], version: Timestamp(seconds: 8))
    var shown: [ViewSnapshot] = []
    for case .event(.snapshot(2, let snapshot)) in machine.takeActions() { shown.append(snapshot) }
    #expect(shown.last?.isFromCache == false)
    let numbers = shown.map { $0.documents.map { $0.fields?["n"] } }
    #expect(!numbers.isEmpty && numbers.allSatisfy { $0 == (isDeleted ? [] : [.integer(2)]) })
    #expect(machine.cache.store.uses.held.isEmpty)
  }
}
