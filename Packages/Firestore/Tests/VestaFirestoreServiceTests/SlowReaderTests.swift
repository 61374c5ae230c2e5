import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreService

/// Clients that ask for much and read slowly: their calls do not end, and what waits for them is bounded.
@Suite(.timeLimit(.minutes(10))) struct SlowReaderTests {
  private static let collections = (0..<8).map { "c\($0)" }

  /// An engine with collections of twenty documents, each of them more than a call may leave unread.
  private func filledEngine() async throws -> FirestoreEngine {
    let engine = makeEngine { $0.unreadBytes = 10_000 }
    let text = Value.string(String(repeating: "x", count: 1_000))
    for collection in Self.collections {
      _ = try await engine.commit(
        CommitRequest(database: database, writes: (0..<20).map { update("\(collection)/\($0)", ["t": text]) }),
        context: owner)
    }
    return engine
  }

  private func targets(of engine: FirestoreEngine) -> [Target] {
    Self.collections.enumerated().map { Target(id: Int32($0 + 1), .query(parent: root, .all($1))) }
  }

  @Test func `a client that asks for much at once is sent all of it, however slowly it reads`() async throws {
    let engine = try await filledEngine()
    var (slow, quick) = (try await Follower(engine), try await Follower(engine))
    for target in targets(of: engine) { slow.add(target) }
    // It shares its starts with the slow one, and waits for no reading but its own.
    for target in targets(of: engine) { quick.add(target) }
    try await quick.current(1...8)
    for number in 0..<5 {
      try await quick.snapshot(from: engine.commit(update("c1/new\(number)", [:])).commitTime)
    }
    try await slow.current(1...8)
    try await slow.snapshot(from: engine.commit(update("c2/last", [:])).commitTime)
    #expect(slow.causes.isEmpty && !slow.changes.contains(.remove))
    for (index, count) in [20, 25, 21, 20, 20, 20, 20, 20].enumerated() {
      #expect(slow.targets[Int32(index + 1)]?.count == count)
      #expect(slow.targets[Int32(index + 1)]?.count == quick.targets[Int32(index + 1)]?.count || index == 2)
    }
    slow.cancel()
    quick.cancel()
  }

  @Test func `single documents that are large wait for room as well`() async throws {
    let engine = makeEngine { $0.unreadBytes = 10_000 }
    let text = Value.string(String(repeating: "x", count: 9_000))
    for number in 0..<12 { try await engine.commit(update("c/\(number)", ["t": text])) }
    var slow = try await Follower(engine)
    for number in 0..<12 { slow.add(Target(id: Int32(number + 1), .documents([name("c/\(number)")]))) }
    // The commit is answered behind a turn that has begun all of the starts, or some of them.
    var other = try await Follower(engine)
    other.add(Target(id: 1, .documents([name("d/a")])))
    try await other.snapshot(from: engine.commit(update("d/a", [:])).commitTime)
    try await slow.current(1...12)
    #expect(slow.causes.isEmpty && slow.targets.count == 12 && slow.targets.values.allSatisfy { $0.count == 1 })
    slow.cancel()
    other.cancel()
  }

  @Test(arguments: UInt64(1)...8)
  func `targets that come and go while their client reads or not are answered in the end`(seed: UInt64) async throws {
    let engine = try await filledEngine()
    var random = SplitMix(seed: seed)
    var followers: [Follower] = []
    for _ in 0..<4 { followers.append(try await Follower(engine)) }
    let all = targets(of: engine)
    var wanted = [Set<Int32>](repeating: [], count: followers.count)
    for _ in 0..<60 {
      let index = random.below(followers.count)
      switch random.below(5) {
      case 0, 1:
        let target = random.pick(all)
        if wanted[index].insert(target.id).inserted { followers[index].add(target) }
      case 2:
        if let id = wanted[index].randomElement(using: &random) {
          wanted[index].remove(id)
          followers[index].remove(id)
        }
      case 3: try await engine.commit(update("c\(random.below(8))/n\(random.below(9))", [:]))
      default:
        // A client that leaves, and another one in its place.
        guard random.oneIn(4) else { continue }
        followers[index].cancel()
        followers[index] = try await Follower(engine)
        wanted[index] = []
      }
      if random.oneIn(3) { for _ in 0..<random.below(50) { await Task.yield() } }
    }
    for index in followers.indices {
      for target in all where !wanted[index].contains(target.id) { followers[index].add(target) }
      let last = try await engine.commit(update("other/a", ["n": .integer(Int64(index))])).commitTime
      // The last answer for each target is that it is current, as its client has asked for it last.
      var current: Set<Int32> = []
      let isThere = try await followers[index].read { response in
        guard case .targetChange(let change) = response else { return false }
        if change.kind == .current { current.formUnion(change.targetIDs) }
        if change.kind == .remove { current.subtract(change.targetIDs) }
        return current.count == all.count && change.targetIDs.isEmpty && (change.readTime ?? last) >= last
      }
      #expect(isThere && followers[index].causes.isEmpty, "seed \(seed)")
      for (number, collection) in Self.collections.enumerated() {
        let expected = try await engine.query(.all(collection)).map(\.name)
        #expect(followers[index].targets[Int32(number + 1)]?.keys.sorted() == expected.sorted(), "seed \(seed)")
      }
    }
    for follower in followers { follower.cancel() }
  }

  /// The job of a target that a machine is asked for.
  private static func job(of target: Target, of call: Int, in machine: inout WatchMachine) -> WatchMachine.Job? {
    let actions = machine.add(target, of: call, in: DatabaseName(project: "p"))
    return actions.lazy.compactMap { if case .begin(let job) = $0 { job } else { nil } }.first
  }

  @Test func `a start waits while much is held back for its call`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("scores/a", [:]))
    var query = StructuredQuery.all("scores")
    query.limit = 1
    var machine = WatchMachine(tokenInterval: .max / 2, heldBytes: 1_000)
    let limited = try #require(Self.job(of: Target(id: 2, .query(parent: root, query)), of: 1, in: &machine))
    let request = try #require(machine.pending(limited.id)?.request)
    let start = try await engine.engine(database).reading {
      try await WatchStart(request, in: $0, digest: nil, now: .max)
    }
    _ = machine.committed([], at: start.version)
    _ = machine.joined(limited.id, start)
    let watch = try #require(machine.numbers[request.subject])
    let next = try #require(Self.job(of: Target(id: 4, .query(parent: root, .all("rooms"))), of: 1, in: &machine))
    _ = machine.runAgain(watch)
    #expect(machine.pending(next.id)?.isBlocked == false)
    let document = Document(name: name("scores/a"), fields: ["t": .string(String(repeating: "x", count: 600))])
    #expect(machine.hold([.documentChange(DocumentChange(document: document, targetIDs: [2]))], for: 1).isEmpty)
    #expect(machine.pending(next.id)?.isBlocked == true)
    _ = machine.answered(watch, start.limited, [])
    #expect(machine.pending(next.id)?.isBlocked == false)
  }

  @Test func `calls that have no room leave a start to the others, and wait for one of their own`() throws {
    var machine = WatchMachine(tokenInterval: .max / 2)
    func target(_ id: Int32) -> Target { Target(id: id, .query(parent: root, .all("rooms"))) }
    func cancelled(by actions: [WatchMachine.Action]) -> [Int] {
      actions.compactMap { if case .cancel(let job) = $0 { job } else { nil } }
    }
    let shared = try #require(Self.job(of: target(2), of: 1, in: &machine))
    #expect(Self.job(of: target(4), of: 1, in: &machine) == nil)
    #expect(Self.job(of: target(2), of: 3, in: &machine) == nil)
    #expect(machine.postpone(shared.id, of: []).isEmpty)
    let postponed = machine.postpone(shared.id, of: [1])
    #expect(postponed.map(\.0) == [1])
    let own = try #require(postponed.first?.1.id)
    #expect(machine.waiting(for: own).map(\.target) == [2, 4] && machine.waiting(for: shared.id).map(\.call) == [3])
    // The shared one is still that of later targets, and ends without a target.
    #expect(Self.job(of: target(6), of: 5, in: &machine) == nil)
    #expect(machine.ended(5).isEmpty)
    #expect(cancelled(by: machine.ended(3)) == [shared.id])
    #expect(cancelled(by: machine.remove(2, of: 1)).isEmpty)
    #expect(cancelled(by: machine.remove(4, of: 1)) == [own])
    // Where all of its calls have no room, later targets begin anew.
    let first = try #require(Self.job(of: target(2), of: 1, in: &machine))
    #expect(machine.postpone(first.id, of: [1]).count == 1)
    #expect(machine.pending(first.id) == nil)
    #expect(Self.job(of: target(2), of: 3, in: &machine) != nil)
  }

  @Test func `a call has one postponed start at a time, in the order of asking`() {
    var starts = PostponedStarts()
    func job(_ id: Int) -> WatchMachine.Job {
      WatchMachine.Job(id: id, work: .requery(1, .documents([])))
    }
    #expect(starts.takeCalls().isEmpty)
    for id in 1...3 { starts.add(job(id), for: 7) }
    starts.add(job(4), for: 5)
    #expect(starts.takeCalls() == [5, 7])
    #expect(starts.takeCalls().isEmpty, "each is asked once")
    #expect(starts.next(for: 7)?.id == 1)
    #expect(starts.next(for: 7) == nil, "one has begun")
    starts.noteReading(of: 7)
    starts.noteReading(of: 5)
    starts.noteReading(of: 9)
    #expect(starts.takeCalls() == [5])
    starts.remove(2)
    starts.ended(4)
    starts.ended(1)
    #expect(starts.takeCalls() == [7])
    #expect(starts.next(for: 7)?.id == 3)
    starts.ended(3)
    #expect(starts.takeCalls().isEmpty && starts.next(for: 7) == nil)
    starts.remove(4)
    starts.noteReading(of: 5)
    #expect(starts.takeCalls().isEmpty && starts.next(for: 5) == nil)
  }
}
