import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreService
import VestaStoreInteropFakes
import VestaTesting

/// Sixteen bytes that depend on all of the text; enough to test filters with, whose real digest is elsewhere.
@Sendable private func someDigest(_ bytes: [UInt8]) -> [UInt8] {
  var generator = SplitMix(seed: bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
  return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
}

/// A listener that keeps the documents that it receives, as a client does.
struct Follower {
  private let call: ListenCall
  private var iterator: AsyncThrowingStream<[ListenResponse], any Error>.Iterator
  private var waiting: [ListenResponse] = []
  /// The documents of each target, by name.
  private(set) var targets: [Int32: [String: Document]] = [:]
  private(set) var token: [UInt8] = []
  private(set) var readTime = Timestamp(seconds: 0)
  private(set) var changes: [TargetChange.Kind] = []
  private(set) var causes: [FirestoreServiceError] = []
  private(set) var filters: [ExistenceFilter] = []
  private(set) var messages = 0
  /// How often it received a document that it had already.
  private(set) var repetitions = 0

  init(_ engine: FirestoreEngine, as context: CallContext = owner) async throws {
    call = try await engine.listen(database: database, context: context)
    iterator = call.responses.makeAsyncIterator()
  }

  func add(_ target: Target) { call.send(.addTarget(target)) }
  func remove(_ id: Int32) { call.send(.removeTarget(id: id)) }
  func cancel() { call.cancel() }

  /// Continues with another follower's state of a target.
  mutating func adopt(_ id: Int32, from other: Follower) { targets[id] = other.targets[id] }

  /// Reads up to a response that satisfies a condition; `false` when the call ends before.
  mutating func read(until isLast: (ListenResponse) -> Bool) async throws -> Bool {
    while true {
      while !waiting.isEmpty {
        let response = waiting.removeFirst()
        apply(response)
        if isLast(response) { return true }
      }
      guard let batch = try await iterator.next(isolation: #isolation) else { return false }
      waiting = batch
    }
  }

  /// Reads up to a global snapshot at or after a version.
  mutating func snapshot(from time: Timestamp = Timestamp(seconds: 0)) async throws {
    let isThere = try await read { response in
      guard case .targetChange(let change) = response, change.kind == .noChange, change.targetIDs.isEmpty else {
        return false
      }
      return change.readTime.map { $0 >= time } ?? false
    }
    #expect(isThere)
  }

  /// Reads until targets are current, and up to the global snapshot behind the last of them.
  mutating func current(_ ids: some Collection<Int32>) async throws {
    var missing = Set(ids)
    let isThere = try await read { response in
      guard case .targetChange(let change) = response else { return false }
      if change.kind == .current { missing.subtract(change.targetIDs) }
      return missing.isEmpty && change.kind == .noChange && change.targetIDs.isEmpty
    }
    #expect(isThere)
  }

  private mutating func apply(_ response: ListenResponse) {
    switch response {
    case .targetChange(let change):
      changes.append(change.kind)
      if let cause = change.cause { causes.append(cause) }
      if !change.resumeToken.isEmpty { token = change.resumeToken }
      if let time = change.readTime {
        #expect(time >= readTime)
        readTime = time
      }
      if change.kind == .reset || change.kind == .remove { for id in change.targetIDs { targets[id] = [:] } }
    case .documentChange(let change):
      messages += 1
      for id in change.targetIDs {
        if targets[id]?[change.document.name] == change.document { repetitions += 1 }
        targets[id, default: [:]][change.document.name] = change.document
      }
      for id in change.removedTargetIDs { targets[id, default: [:]][change.document.name] = nil }
    case .documentDelete(let delete):
      messages += 1
      for id in delete.removedTargetIDs { targets[id, default: [:]][delete.document] = nil }
    case .documentRemove(let remove):
      messages += 1
      for id in remove.removedTargetIDs { targets[id, default: [:]][remove.document] = nil }
    case .filter(let filter): filters.append(filter)
    }
  }
}

struct ListenTests {
  private func target(_ id: Int32, _ query: StructuredQuery, resume: Target.Resume? = nil) -> Target {
    Target(id: id, .query(parent: root, query), resume: resume)
  }

  @Test func `a new target of one document is answered by one batch`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let call = try await engine.listen(database: database, context: owner)
    call.send(.addTarget(Target(id: 2, .documents([name("rooms/a")]))))
    for try await batch in call.responses {
      guard case .targetChange(let first)? = batch.first, case .targetChange(let last)? = batch.last else {
        Issue.record("no target changes: \(batch)")
        break
      }
      #expect(first.kind == .add && last.kind == .noChange && last.readTime != nil && batch.count == 4)
      break
    }
    call.cancel()
  }

  @Test func `a target begins with what is there and is current`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    var follower = try await Follower(engine)
    follower.add(target(2, .all("rooms")))
    try await follower.snapshot()
    #expect(follower.changes == [.add, .current, .noChange])
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/a")])
  }

  @Test func `a commit arrives as one snapshot for all targets of the call`() async throws {
    let engine = makeEngine()
    var follower = try await Follower(engine)
    var big = StructuredQuery.all("rooms")
    big.filter = .field(path: "n", .greaterThan, .integer(5))
    follower.add(target(2, .all("rooms")))
    follower.add(target(4, big))
    try await follower.snapshot()
    try await follower.snapshot()
    let first = try await engine.commit(update("rooms/a", ["n": .integer(9)]), update("rooms/b", ["n": .integer(1)]))
    try await follower.snapshot(from: first.commitTime)
    #expect(follower.messages == 2)
    #expect(follower.targets[4]?.count == 1)
    let second = try await engine.commit(update("rooms/a", ["n": .integer(2)]), .delete(name("rooms/b")))
    try await follower.snapshot(from: second.commitTime)
    #expect(follower.messages == 4)
    #expect(follower.targets[4]?.isEmpty == true)
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/a")])
  }

  @Test func `a write that changes nothing is not sent to listeners`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    var follower = try await Follower(engine)
    follower.add(target(2, .all("rooms")))
    try await follower.snapshot()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let last = try await engine.commit(update("rooms/b", ["n": .integer(1)]))
    try await follower.snapshot(from: last.commitTime)
    #expect(follower.messages == 2)
  }

  @Test func `a limited query gets the replacement in the same snapshot`() async throws {
    let engine = makeEngine()
    for id in ["a", "b", "c"] { try await engine.commit(update("rooms/\(id)", [:])) }
    var query = StructuredQuery.all("rooms")
    query.limit = 2
    var follower = try await Follower(engine)
    follower.add(target(2, query))
    try await follower.snapshot()
    let commit = try await engine.commit(.delete(name("rooms/a")))
    try await follower.snapshot(from: commit.commitTime)
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/b"), name("rooms/c")])
  }

  @Test func `documents are followed by name`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", [:]))
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .documents([name("rooms/a"), name("rooms/b")])))
    try await follower.snapshot()
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/a")])
    let commit = try await engine.commit(update("rooms/b", [:]), update("rooms/c", [:]))
    try await follower.snapshot(from: commit.commitTime)
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/a"), name("rooms/b")])
  }

  @Test func `removal is acknowledged and a bad target ends alone`() async throws {
    let engine = makeEngine()
    var follower = try await Follower(engine)
    follower.add(target(0, .all("rooms")))
    follower.add(target(4, StructuredQuery(from: [.init(collectionID: "__bad__")])))
    follower.add(target(2, .all("rooms")))
    var ends = 0
    let areEnded = try await follower.read { response in
      if case .targetChange(let change) = response, change.kind == .remove { ends += 1 }
      return ends == 2
    }
    #expect(areEnded && follower.causes.map(\.code) == [.invalidArgument, .invalidArgument])
    follower.remove(2)
    #expect(
      try await follower.read { response in
        if case .targetChange(let change) = response { return change.kind == .remove && change.cause == nil }
        return false
      })
    follower.cancel()
    #expect(try await follower.read { _ in false } == false)
  }

  @Test func `a once target is removed when it is current`() async throws {
    let engine = makeEngine()
    var follower = try await Follower(engine)
    var once = target(2, .all("rooms"))
    once.once = true
    follower.add(once)
    #expect(
      try await follower.read { response in
        if case .targetChange(let change) = response { return change.kind == .remove }
        return false
      })
    #expect(follower.changes == [.add, .current, .noChange, .remove])
  }

  @Test func `a token resumes after a restart with what was missed`() async throws {
    let store = ModelStore()
    let first = makeEngine(on: store)
    for id in ["a", "b", "c"] { try await first.commit(update("rooms/\(id)", ["n": .integer(1)])) }
    var follower = try await Follower(first)
    follower.add(target(2, .all("rooms")))
    try await follower.snapshot()
    let token = follower.token
    try await first.commit(update("rooms/b", ["n": .integer(2)]), .delete(name("rooms/c")))

    let second = makeEngine(on: store)
    var later = try await Follower(second)
    var resumed = target(2, .all("rooms"), resume: .token(token))
    resumed.expectedCount = 3
    later.add(resumed)
    try await later.snapshot()
    #expect(later.messages == 2)
    #expect(later.changes == [.add, .current, .noChange])
    #expect(later.filters == [ExistenceFilter(targetID: 2, count: 2)])
    #expect(later.targets[2]?.keys.sorted() == [name("rooms/b")])
  }

  @Test func `a listener with a wrong count is sent the names that are unchanged`() async throws {
    let store = ModelStore()
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 1
    options.md5 = someDigest
    let engine = FirestoreEngine(store: store, options: options)
    for number in 0..<40 { try await engine.commit(update("rooms/\(number)", ["n": .integer(1)])) }
    var follower = try await Follower(engine)
    follower.add(target(2, .all("rooms")))
    try await follower.snapshot()
    try await engine.commit(update("rooms/0", ["n": .integer(2)]), .delete(name("rooms/1")))

    // It believes that there were two more: the responses leave it with 41 documents, where there are 39.
    var later = try await Follower(engine)
    var resumed = target(2, .all("rooms"), resume: .token(follower.token))
    resumed.expectedCount = 42
    later.add(resumed)
    try await later.current([2])
    let filter = try #require(later.filters.first)
    #expect(filter.count == 39)
    let names = try BloomFilter(try #require(filter.unchangedNames), digest: someDigest)
    for number in 2..<40 { #expect(names.mayContain(name("rooms/\(number)"))) }
    let strangers = (1000..<11_000).count { names.mayContain(name("rooms/\($0)")) }
    #expect(strangers < 10)
    #expect(!names.mayContain(name("rooms/1")))
  }

  @Test func `a listener with the right count is sent none`() async throws {
    let engine = makeEngine()
    for id in ["a", "b"] { try await engine.commit(update("rooms/\(id)", [:])) }
    var follower = try await Follower(engine)
    follower.add(target(2, .all("rooms")))
    try await follower.snapshot()
    try await engine.commit(update("rooms/c", [:]), .delete(name("rooms/a")))
    var later = try await Follower(engine)
    var resumed = target(2, .all("rooms"), resume: .token(follower.token))
    resumed.expectedCount = 2
    later.add(resumed)
    try await later.current([2])
    #expect(later.filters.isEmpty)
  }

  @Test func `a search for nearest vectors cannot be followed`() async throws {
    var query = StructuredQuery.all("rooms")
    query.findNearest = FindNearest(
      vectorField: "v", queryVector: .vector([1, 2]), distanceMeasure: .euclidean, limit: 3)
    var follower = try await Follower(makeEngine())
    follower.add(target(2, query))
    _ = try await follower.read { response in
      if case .targetChange(let change) = response { return change.kind == .remove }
      return false
    }
    #expect(follower.causes.map(\.code) == [.invalidArgument])
    #expect(follower.changes == [.remove])
  }

  @Test(arguments: [[UInt8](), [9, 9], [1, 0, 0, 0, 0, 0, 0, 0, 1]])
  func `a token that is too old or none starts over`(token: [UInt8]) async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", [:]))
    var follower = try await Follower(engine)
    follower.add(target(2, .all("rooms"), resume: .token(token)))
    try await follower.snapshot()
    #expect(follower.changes == [.add, .reset, .current, .noChange])
    #expect(follower.targets[2]?.count == 1)
  }

  @Test func `a target resumes from any time up to the clock's or the last commit's, and starts over from a later one`()
    async throws
  {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let last = try #require(try await engine.commit(update("rooms/a", [:])).commitTime.microseconds)
    func changes(from time: Int64) async throws -> [TargetChange.Kind] {
      var follower = try await Follower(engine)
      follower.add(target(2, .all("rooms"), resume: .readTime(Timestamp(microseconds: time))))
      try await follower.snapshot()
      follower.cancel()
      return follower.changes
    }
    // Nothing is committed for long: the version that a client was sent in between is ahead of the last commit.
    clock.advance(seconds: 1_000)
    for time in [last, last + 1, clock.now] {
      #expect(try await changes(from: time) == [.add, .current, .noChange])
    }
    #expect(try await changes(from: clock.now + 1) == [.add, .reset, .current, .noChange])
    // A clock that is put back is behind it.
    clock.jump(to: last - 1_000_000)
    #expect(try await changes(from: last) == [.add, .current, .noChange])
    #expect(try await changes(from: last + 1) == [.add, .reset, .current, .noChange])
  }

  @Test func `closing the engine ends its calls`() async throws {
    let engine = makeEngine()
    var follower = try await Follower(engine)
    try await engine.close()
    let error = await failure { _ = try await follower.read { _ in false } }
    #expect(error?.code == .unavailable)
  }

  @Test func `a closed engine observes its store no longer`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await engine.commit(update("rooms/a", [:]))
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    try await follower.snapshot()
    #expect(store.observerCount == 2, "the listeners, and the documents that were read lately")
    try await engine.close()
    #expect(store.observerCount == 0)
  }

  @Test func `a write call answers in order and ends with the first failure`() async throws {
    let engine = makeEngine()
    let call = try await engine.write(database: database, context: owner)
    call.send(WriteRequest(database: database))
    call.send(WriteRequest(writes: [update("rooms/a", [:])]))
    call.send(WriteRequest(writes: [update("rooms/b", [:], precondition: .exists(true))]))
    call.send(WriteRequest(writes: [update("rooms/c", [:])]))
    var responses: [WriteResponse] = []
    let error = await failure { for try await batch in call.responses { responses += batch } }
    #expect(responses.map(\.writeResults.count) == [0, 1])
    #expect(responses.first?.streamID.isEmpty == false)
    #expect(error?.code == .notFound)
    #expect(try await engine.get("rooms/c") == nil)
  }

  @Test func `requests of a write call are pending until their answers are read`() async throws {
    let engine = makeEngine()
    let call = try await engine.write(database: database, context: owner)
    call.send(WriteRequest(database: database))
    for number in 1..<20 { call.send(WriteRequest(writes: [update("rooms/\(number)", [:])])) }
    // They are committed, and their sender is held back all the same while it reads nothing.
    while try await engine.get("rooms/19") == nil { await Task.yield() }
    #expect(call.pendingRequests == 20)
    let isReady = Locked(false)
    async let ready: Void = {
      try await call.ready(below: 16)
      isReady.withLock { $0 = true }
    }()
    for _ in 0..<100 { await Task.yield() }
    #expect(!isReady.withLock { $0 })
    call.finish()
    var count = 0
    for try await batch in call.responses { count += batch.count }
    try await ready
    #expect(count == 20 && call.pendingRequests == 0)
  }
}
