import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreService

/// Listeners that cost other callers nothing.
@Suite struct ListenLoadTests {
  private static func scores(_ limit: Int32) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "scores")], orderBy: [.init(fieldPath: "n", .descending)], limit: limit)
  }

  @Test func `a quiet target gets a new token while others write, and resumes at no cost`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", [:]), update("halls/a", [:]))
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    try await follower.snapshot()
    let first = follower.token
    // Many hours, much longer than the past is kept.
    for number in 0..<60 {
      clock.advance(seconds: 400)
      try await engine.commit(update("halls/\(number)", [:]))
      // The first of these events brings the token: the hub's timer on the way, a commit of the pruner, or this one. It
      // may be as old as the interval of 300 s and the quarter of it between two looks, which is less than a round.
      try await follower.snapshot(from: Timestamp(microseconds: clock.now - 375_000_000))
    }
    #expect(follower.token != first)
    follower.cancel()
    // Each look of the hub's timer takes a version: where the clock stands still, the token may be ahead of it.
    clock.advance(seconds: 1)
    var again = try await Follower(engine)
    again.adopt(2, from: follower)
    again.add(Target(id: 2, .query(parent: root, .all("rooms")), resume: .token(follower.token)))
    try await again.snapshot()
    #expect(!again.changes.contains(.reset) && again.targets[2]?.count == 1)
    again.cancel()
  }

  @Test func `a listener of a limited query that is asked again holds up no other listener`() async throws {
    let store = HeldStore()
    let engine = makeEngine(on: store)
    for number in 0..<200 { try await engine.commit(update("scores/\(number)", ["n": .integer(Int64(number))])) }
    _ = try await engine.query(Self.scores(3))
    try await engine.engine(database).indexes.settle()
    var chat = try await Follower(engine)
    chat.add(Target(id: 2, .query(parent: root, .all("chat"))))
    try await chat.snapshot()
    var both = try await Follower(engine)
    both.add(Target(id: 2, .query(parent: root, .all("chat"))))
    both.add(Target(id: 4, .query(parent: root, Self.scores(3))))
    while both.targets[4]?.count != 3 { try await both.snapshot() }
    let entries = KeyRange(prefix: try await engine.engine(database).keys.entries)
    for number in 0..<5 {
      // More results leave than are known to follow: the query that is asked again is held, and the chat
      // continues.
      store.hold(entries)
      let best = (0..<20).map { Write.delete(name("scores/\(199 - 20 * number - $0)")) }
      _ = try await engine.commit(CommitRequest(database: database, writes: best), context: owner)
      await store.arrival()
      let time = try await engine.commit(update("chat/\(number)", [:])).commitTime
      try await chat.snapshot(from: time)
      store.release()
      try await both.snapshot(from: time)
      #expect(chat.targets[2]?.count == number + 1)
      #expect(both.targets[2]?.count == number + 1)
      let expected = try await engine.query(Self.scores(3)).map(\.name)
      #expect(Set(both.targets[4]?.keys.map(\.self) ?? []) == Set(expected))
    }
    chat.cancel()
    both.cancel()
  }

  @Test func `the responses that are held while a query runs again have a limit, and the token is good beyond it`()
    async throws
  {
    let store = HeldStore()
    var options = FirestoreServiceOptions()
    options.takeTime()
    options.automaticIndexUses = 1
    options.unreadBytes = 200_000
    let engine = FirestoreEngine(store: store, options: options)
    for number in 0..<60 { try await engine.commit(update("scores/\(number)", ["n": .integer(Int64(number))])) }
    _ = try await engine.query(Self.scores(3))
    try await engine.engine(database).indexes.settle()
    let entries = KeyRange(prefix: try await engine.engine(database).keys.entries)
    let text = Value.string(String(repeating: "x", count: 20_000))
    var chat = try await Follower(engine)
    chat.add(Target(id: 2, .query(parent: root, .all("chat"))))
    try await chat.snapshot()
    for manyDocuments in [false, true] {
      var both = try await Follower(engine)
      both.add(Target(id: 2, .query(parent: root, .all("chat"))))
      both.add(Target(id: 4, .query(parent: root, Self.scores(3))))
      try await both.current([2, 4])
      let best = try await engine.query(Self.scores(20))
      store.hold(entries)
      _ = try await engine.commit(
        CommitRequest(database: database, writes: best.map { Write.delete($0.name) }), context: owner)
      await store.arrival()
      let before = both.messages
      var last = Timestamp(seconds: 0)
      for number in 0..<100 {
        let write = update("chat/\(manyDocuments ? number : 0)", ["t": text, "n": .integer(Int64(number))])
        last = try await engine.commit(write).commitTime
        try await chat.snapshot(from: last)
      }
      if manyDocuments {
        let ending = await failure { while try await both.read(until: { _ in false }) {} }
        #expect(ending?.code == .resourceExhausted)
        store.release()
        var again = try await Follower(engine)
        again.adopt(2, from: both)
        again.add(Target(id: 2, .query(parent: root, .all("chat")), resume: .token(both.token)))
        try await again.current([2])
        #expect(again.targets[2] == chat.targets[2])
        again.cancel()
      } else {
        store.release()
        try await both.snapshot(from: last)
        // Of a hundred states of the document few were kept.
        #expect(both.messages - before < 30)
        #expect(both.targets[2] == chat.targets[2])
        both.cancel()
      }
    }
    chat.cancel()
  }

  @Test func `results that leave are followed by known ones, without another query`() async throws {
    let store = HeldStore()
    let engine = makeEngine(on: store)
    for number in 0..<60 { try await engine.commit(update("scores/\(number)", ["n": .integer(Int64(number))])) }
    _ = try await engine.query(Self.scores(3))
    try await engine.engine(database).indexes.settle()
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .query(parent: root, Self.scores(3))))
    while follower.targets[2]?.count != 3 { try await follower.snapshot() }
    // The first one that leaves has the query asked again; what follows is known from then on.
    var time = try await engine.commit(.delete(name("scores/59"))).commitTime
    try await follower.snapshot(from: time)
    let entries = KeyRange(prefix: try await engine.engine(database).keys.entries)
    store.hold(entries)
    for number in 0..<10 {
      time = try await engine.commit(.delete(name("scores/\(58 - number)"))).commitTime
      try await follower.snapshot(from: time)
      let expected = (1...3).map { name("scores/\(58 - number - $0)") }
      #expect(Set(follower.targets[2]?.keys.map(\.self) ?? []) == Set(expected))
    }
    #expect(store.waitingCount == 0)
    store.release()
    follower.cancel()
  }

  @Test func `a limited query whose results leave while it runs is answered, and nothing waits for it`() async throws {
    let store = HeldStore()
    let engine = makeEngine(on: store)
    for number in 0..<400 { try await engine.commit(update("scores/\(number)", ["n": .integer(Int64(number))])) }
    _ = try await engine.query(Self.scores(3))
    try await engine.engine(database).indexes.settle()
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .query(parent: root, Self.scores(3))))
    while follower.targets[2]?.count != 3 { try await follower.snapshot() }
    let entries = KeyRange(prefix: try await engine.engine(database).keys.entries)
    var last = Timestamp(seconds: 0)
    var next = 399
    store.hold(entries)
    try await engine.commit(.delete(name("scores/\(next)")))
    // The first answer is out of date when it arrives, by more results than its spare; the second one has a longer
    // spare.
    for round in 0..<2 {
      await store.arrival()
      let writes = (1...24).map { Write.delete(name("scores/\(next - $0)")) }
      last = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner).commitTime
      next -= 24
      if round == 0 { store.release(holding: entries) } else { store.release() }
    }
    try await follower.snapshot(from: last)
    let expected = (1...3).map { name("scores/\(next - $0)") }
    #expect(Set(follower.targets[2]?.keys.map(\.self) ?? []) == Set(expected))
    follower.cancel()
  }

  @Test func `a listener that does not read gets the latest state of a document that changes all the time`()
    async throws
  {
    let engine = makeEngine { $0.unreadBytes = 400_000 }
    let text = Value.string(String(repeating: "x", count: 50_000))
    try await engine.commit(update("rooms/a", ["t": text]))
    var slow = try await Follower(engine)
    slow.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    try await slow.snapshot()
    var quick = try await Follower(engine)
    quick.add(Target(id: 2, .documents([name("rooms/a")])))
    var last = Timestamp(seconds: 0)
    for number in 0..<40 {
      last = try await engine.commit(update("rooms/a", ["t": text, "n": .integer(Int64(number))])).commitTime
      try await quick.snapshot(from: last)
    }
    let before = slow.messages
    try await slow.snapshot(from: last)
    #expect(slow.targets[2]?[name("rooms/a")]?.fields["n"] == .integer(39))
    #expect(slow.messages - before < 20)
    slow.cancel()
    quick.cancel()
  }

  @Test func `a listener that does not read is ended by bytes, and resumes where it was`() async throws {
    let engine = makeEngine { $0.unreadBytes = 400_000 }
    let text = Value.string(String(repeating: "x", count: 50_000))
    try await engine.commit(update("rooms/0", ["t": text]))
    var slow = try await Follower(engine)
    slow.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    try await slow.snapshot()
    var quick = try await Follower(engine)
    quick.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    // Different documents: there is nothing to merge.
    for number in 0..<20 {
      let write = update("rooms/\(number)", ["t": text, "n": .integer(Int64(number))])
      try await quick.snapshot(from: try await engine.commit(write).commitTime)
    }
    let ending = await failure { while try await slow.read(until: { _ in false }) {} }
    #expect(ending?.code == .resourceExhausted)
    var again = try await Follower(engine)
    again.adopt(2, from: slow)
    again.add(Target(id: 2, .query(parent: root, .all("rooms")), resume: .token(slow.token)))
    try await again.snapshot()
    #expect(again.targets[2]?.count == 20)
    #expect(again.targets[2]?[name("rooms/19")]?.fields["n"] == .integer(19))
    again.cancel()
    quick.cancel()
  }

  @Test func `a machine holds a call back while its query is asked again, and no other`() throws {
    var machine = WatchMachine(tokenInterval: 1_000_000)
    let base = DatabaseName(project: "p")
    _ = machine.committed([], at: 10)
    let target = Target(id: 2, .query(parent: root, Self.scores(1)))
    let added = machine.add(target, of: 1, in: base)
    #expect(added.count == 2)
    // A second call asks for the same, and shares the start.
    #expect(machine.add(Target(id: 4, target.subject), of: 2, in: base).count == 1)
    // The id is in use: the caller gets an error, and its target is removed.
    let refused = machine.add(target, of: 1, in: base)
    guard case .send(1, let responses)? = refused.last, case .targetChange(let change)? = responses.first else {
      Issue.record("nothing is sent")
      return
    }
    #expect(change.kind == .remove && change.cause?.code == .invalidArgument)
    #expect(machine.remove(9, of: 1).count == 1)
    #expect(machine.ended(2).count == 1)
    #expect(!machine.isFollowing)
  }
}
