import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreModel
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Listeners with little room whose starts are postponed, while others write, leave, and are denied.
@Suite(.timeLimit(.minutes(10))) struct PostponedOracleTests {
  /// The number of documents of each collection, and the length of their texts.
  private static let shapes = [(2, 10), (4, 1_500), (12, 300), (30, 40), (25, 700), (1, 9_000)]

  /// The engine, clock and rules of a test, which its listeners and writers share.
  private struct World: Sendable {
    let seed: UInt64
    let clock = ManualClock()
    let engine: FirestoreEngine
    let gatekeeper: ManualFirestoreGuard?

    init(seed: UInt64) {
      self.seed = seed
      var data = SplitMix(seed: seed)
      var options = FirestoreServiceOptions()
      options.clock = clock.service
      options.automaticIndexUses = 1
      options.automaticIndexesPerCollection = 1000
      options.unreadBytes = data.pick([8_000, 20_000, 60_000])
      if data.oneIn(2) { options.tuning = .random(seed: seed) }
      gatekeeper = data.oneIn(2) ? ManualFirestoreGuard() : nil
      engine = FirestoreEngine(
        store: ModelStore(clock: clock.ofStore), options: options, gatekeeper: gatekeeper)
    }

    /// Other rules: a collection is denied to queries, and documents with a number.
    func changeRules(_ data: inout SplitMix) {
      let (collection, number) = ("c\(data.below(9))", Int64(data.below(30)))
      gatekeeper?.change { question in
        switch question.subject {
        case .list(let query): query.query.from.first?.collectionID != collection
        case .get(_, let document): document?.fields["n"] != .integer(number)
        case .commit: true
        }
      }
    }

    func write(_ data: inout SplitMix) async throws {
      var writes: [Write] = []
      for _ in 0..<1 + data.below(3) {
        let number = data.below(shapes.count)
        let path = "c\(number)/\(data.below(shapes[number].0))"
        // A commit has one write of each document at most; another random one is left out.
        guard !writes.contains(where: { $0.name == name(path) }) else { continue }
        writes.append(data.oneIn(5) ? .delete(name(path)) : update(path, fields(number, &data)))
      }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }

    /// Writes every document.
    func fill(_ data: inout SplitMix) async throws {
      for (number, shape) in shapes.enumerated() {
        let writes = (0..<shape.0).map { update("c\(number)/\($0)", fields(number, &data)) }
        _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
      }
    }

    func fields(_ number: Int, _ data: inout SplitMix) -> MapValue {
      let text = String(repeating: "x", count: shapes[number].1 / 2 + data.below(shapes[number].1))
      return ["n": .integer(Int64(data.below(10))), "t": .string(text)]
    }

    func context(_ data: inout SplitMix) -> CallContext {
      var context = CallContext(caller: .user(VerifiedUser(uid: "ada")))
      if data.oneIn(4) { context = context.limited(to: .seconds(1 + data.below(5)), by: clock.service) }
      return gatekeeper == nil ? owner : context
    }
  }

  private static func subject(_ data: inout SplitMix) -> Target.Subject {
    let number = data.below(shapes.count)
    if data.oneIn(5) {
      return .documents((0..<1 + data.below(4)).map { _ in name("c\(number)/\(data.below(shapes[number].0))") })
    }
    var query = StructuredQuery.all("c\(number)")
    if data.oneIn(3) { query.filter = .field(path: "n", .greaterThan, .integer(Int64(data.below(8)))) }
    if data.oneIn(3) {
      query.orderBy = [.init(fieldPath: "n", data.pick([.ascending, .descending]))]
      query.limit = Int32(1 + data.below(6))
    }
    return .query(parent: root, query)
  }

  /// A client that asks for targets, reads now and then, and leaves and comes back.
  private static func live(_ world: World, _ number: Int, isReading: Bool) async throws -> (Int, [ServiceCode]) {
    var data = SplitMix(seed: world.seed &* 1_000 &+ UInt64(number))
    var contexts = SplitMix(seed: world.seed &* 77 &+ UInt64(number))
    var listener = try await AppListener(
      world.engine, as: { world.context(&contexts) }, tellsCounts: data.oneIn(2), "seed \(world.seed), \(number)")
    // Its own document tells it how far it has read: each mark is another one, as nothing is sent of a write that
    // changes nothing.
    let mark: Int32 = 10_000
    var lastMark: Int64 = 100
    func commitMark() async throws -> Timestamp {
      lastMark += 1
      return try await world.engine.commit(update("m/\(number)", ["n": .integer(lastMark)])).commitTime
    }
    listener.add(mark, .documents([name("m/\(number)")]))
    var lastID: Int32 = 0
    for _ in 0..<40 {
      switch data.below(14) {
      case 0...4:
        lastID += 1
        listener.add(lastID, subject(&data), once: data.oneIn(8))
      case 5, 6:
        let ids = listener.listened.filter { $0.key != mark && !$0.value.once }.keys.sorted()
        guard !ids.isEmpty else { continue }
        let id = data.pick(ids)
        let subject = listener.listened[id]?.subject
        listener.remove(id)
        // The same number again, before the removal is acknowledged; a denial would look like the answer.
        if world.gatekeeper == nil, data.oneIn(2), let subject { listener.add(id, subject) }
      case 7, 8: if isReading { try await listener.read(upTo: commitMark(), batches: 1 + data.below(4)) }
      case 9: if isReading { try await listener.read(upTo: commitMark()) }
      case 10: if data.oneIn(2) { try await listener.reconnect() }
      case 11:
        world.changeRules(&data)
        world.clock.advance(by: .milliseconds(data.below(900)))
      case 12: for _ in 0..<data.below(60) { await Task.yield() }
      default: try await world.write(&data)
      }
    }
    repeat { try await listener.read(upTo: commitMark()) } while !listener.missing.isEmpty
    try await listener.read(upTo: commitMark())
    listener.cancel()
    return (listener.checks, listener.endings)
  }

  @Test(arguments: UInt64(1)...6) func `what a listener keeps is what the database had`(seed: UInt64) async throws {
    let world = World(seed: seed)
    var data = SplitMix(seed: seed &+ 99)
    try await world.fill(&data)
    try await withThrowingTaskGroup(of: (Int, [ServiceCode]).self) { group in
      for number in 0..<5 {
        group.addTask { try await Self.live(world, number, isReading: number > 0) }
      }
      group.addTask {
        var data = SplitMix(seed: seed &* 31)
        for _ in 0..<100 { try await world.write(&data) }
        return (1, [])
      }
      for try await (checks, endings) in group {
        #expect(checks > 0)
        let expected: Set<ServiceCode> = [.resourceExhausted, .deadlineExceeded]
        #expect(expected.isSuperset(of: endings), "seed \(seed): \(endings)")
      }
    }
    try await world.engine.close()
  }

  /// How a call ends is its own: by its client, or with the engine; either while starts are postponed.
  @Test(arguments: UInt64(1)...3) func `calls with postponed starts end`(seed: UInt64) async throws {
    let world = World(seed: seed)
    var data = SplitMix(seed: seed)
    try await world.fill(&data)
    var listeners: [AppListener] = []
    for number in 0..<4 {
      var listener = try await AppListener(world.engine, as: { owner }, tellsCounts: true, "\(seed), \(number)")
      for id in 1...Int32(20) { listener.add(id, Self.subject(&data)) }
      let now = try await world.engine.commit(update("m/\(number)", [:])).commitTime
      try await listener.read(upTo: now, batches: 1 + number)
      listeners.append(listener)
    }
    // What none of them has read is more than it may be for some.
    let left = await failure { try await listeners[0].finish() }
    #expect([nil, .resourceExhausted].contains(left?.code), "seed \(seed): \(String(describing: left))")
    try await world.engine.close()
    for index in 1..<4 {
      let error = await failure { try await listeners[index].finish() }
      #expect([.unavailable, .resourceExhausted].contains(error?.code), "seed \(seed): \(String(describing: error))")
    }
  }

  @Test func `a token is that of the targets alone which have been sent their first results`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", [:]))
    let base = try await engine.engine(database)
    var machine = WatchMachine(tokenInterval: .max / 2)
    func add(_ id: Int32, _ collection: String) throws -> (Int, StartRequest) {
      let actions = machine.add(Target(id: id, .query(parent: root, .all(collection))), of: 1, in: base.name)
      let job = try #require(actions.lazy.compactMap { if case .begin(let job) = $0 { job.id } else { nil } }.first)
      return (job, try #require(machine.pending(job)?.request))
    }
    func begin(_ job: Int, _ request: StartRequest) async throws -> [TargetChange] {
      try await base.reading { snapshot in
        let start = try await WatchStart(request, in: snapshot, digest: nil, now: .max)
        _ = machine.committed([], at: snapshot.version)
        return Self.changes(in: machine.joined(job, start))
      }
    }
    func commit(_ number: Int64) async throws -> [ListenResponse] {
      try await engine.commit(update("rooms/a", ["n": .integer(number)]))
      return try await base.reading { snapshot in
        let changes = try await WatchChange.all(after: machine.version ?? 0, .everything, in: snapshot)
        return machine.committed(changes, at: snapshot.version).flatMap {
          if case .send(_, let responses) = $0 { responses } else { [] as [ListenResponse] }
        }
      }
    }
    let rooms = try add(2, "rooms")
    #expect(try await begin(rooms.0, rooms.1).last?.resumeToken.isEmpty == false)
    let people = try add(4, "people")
    var unread = UnreadResponses(limit: 2_000)
    for number in 1...20 {
      let responses = try await commit(Int64(number))
      let told = Self.changes(in: [.send(1, responses)])
      #expect(told.map(\.targetIDs) == [[2], []] && told.map(\.resumeToken.isEmpty) == [false, true])
      #expect(unread.add(responses) == .kept, "they are merged as other snapshots")
    }
    #expect(UnreadResponses.merged(unread.responses).count == 3)
    let told = try await begin(people.0, people.1)
    #expect(told.map(\.kind) == [.current, .noChange] && told.last?.resumeToken.isEmpty == false)
    #expect(Self.changes(in: [.send(1, try await commit(30))]).map(\.targetIDs) == [[]])
  }

  private static func changes(in actions: [WatchMachine.Action]) -> [TargetChange] {
    actions.flatMap { if case .send(_, let responses) = $0 { responses } else { [] as [ListenResponse] } }
      .compactMap { if case .targetChange(let change) = $0 { change } else { nil } }
  }

  @Test func `what has room leaves half of the limit to changes, whatever its size`() {
    for size in [500, 900, 1_900, 2_100, 9_000] {
      var (unread, number) = (UnreadResponses(limit: 4_000), 0)
      func change(_ size: Int) -> [ListenResponse] {
        number += 1
        let document = Document(name: name("r/\(number)"), fields: ["t": .string(String(repeating: "x", count: size))])
        return [.documentChange(DocumentChange(document: document, targetIDs: [2]))]
      }
      while unread.hasRoom { #expect(unread.add(change(size)) == .kept) }
      #expect(unread.add(change(900)) == .kept, "\(size)")
      #expect(unread.add(change(2_000)) == .tooMany, "\(size)")
    }
  }
}
