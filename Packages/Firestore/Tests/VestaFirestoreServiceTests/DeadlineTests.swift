import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Calls whose deadline passes: before they begin, while they wait, and while they are open.
@Suite struct DeadlineTests {
  private let clock = ManualClock()

  private func late(_ duration: Duration = .seconds(1)) -> CallContext {
    owner.limited(to: duration, by: clock.service)
  }

  private func code(_ body: () async throws -> Void) async -> ServiceCode? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? FirestoreServiceError)?.code
    }
  }

  @Test func `a call that arrives after its deadline does nothing`() async throws {
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let context = late()
    clock.advance(by: .seconds(1))
    let write = update("rooms/a", ["n": .integer(2)])
    let commit = CommitRequest(database: database, writes: [write])
    #expect(await code { _ = try await engine.commit(commit, context: context) } == .deadlineExceeded)
    let batch = BatchWriteRequest(database: database, writes: [write])
    #expect(await code { _ = try await engine.batchWrite(batch, context: context) } == .deadlineExceeded)
    let get = BatchGetDocumentsRequest(database: database, documents: [name("rooms/a")])
    #expect(
      await code { try await engine.batchGet(get, context: context) { _ in Issue.record("answered") } }
        == .deadlineExceeded)
    let query = RunQueryRequest(parent: root, query: .all("rooms"))
    #expect(
      await code { try await engine.runQuery(query, context: context) { _ in Issue.record("answered") } }
        == .deadlineExceeded)
    #expect(
      await code { _ = try await engine.listen(database: database, context: context) } == .deadlineExceeded)
    #expect(await code { _ = try await engine.write(database: database, context: context) } == .deadlineExceeded)
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(1))
  }

  @Test func `a query that reads for long ends with its deadline, and not when it has read all`() async throws {
    let store = CountingStore()
    let clock = clock
    // From a point on each look at the clock takes a tenth of a second.
    let looks = Locked<Int64?>(nil)
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 1_000
    options.clock = ServiceClock(
      now: {
        clock.now
          + looks.withLock { looks in
            looks = looks.map { $0 + 1 }
            return (looks ?? 0) * 100_000
          }
      },
      schedule: { clock.schedule(after: $0, $1) })
    let engine = FirestoreEngine(store: store, options: options)
    for first in stride(from: 0, to: 3_000, by: 500) {
      let writes = (first..<first + 500).map { update("rooms/\($0)", ["n": .integer(Int64($0))]) }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
    let query = StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")])
    let request = RunQueryRequest(parent: root, query: query)
    let all = try await store.rows { try await engine.query(query) }
    #expect(all.rows.total >= 3_000 && all.result.count == 3_000)
    let context = late()
    looks.withLock { $0 = 0 }
    let (rows, ending) = try await store.rows {
      await code { try await engine.runQuery(request, context: context) { _ in Issue.record("answered") } }
    }
    #expect(ending == .deadlineExceeded && rows.total < 3_000, "\(rows)")
  }

  @Test func `a scan asks at an interval of rows whether it may continue`() async throws {
    let store = ModelStore()
    _ = try await store.write { transaction in
      for number in 0..<1_000 { try await transaction.put([], for: [UInt8(number / 256), UInt8(number % 256)]) }
    }
    let checks = Locked(0)
    let visited = try await store.read { reader in
      let checked = CheckedReader(base: reader, rowsBetweenChecks: 256) { checks.withLock { $0 += 1 } }
      return try await checked.scan(KeyRange(prefix: []), order: .ascending, limit: nil) { _, _ in .next }.visited
    }
    #expect(visited == 1_000)
    #expect(checks.withLock { $0 } == 1 + 1_000 / 256)
  }

  @Test func `a commit that waits past its deadline changes nothing and waits no longer`() async throws {
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let id = try await engine.begin()
    _ = try await engine.get("rooms/a", .transaction(id))
    let pool = try await engine.engine(database).transactions
    let context = late()
    let writes = [update("rooms/b", ["n": .integer(2)]), update("rooms/a", ["n": .integer(2)])]
    let commit = Task {
      await code { _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: context) }
    }
    while pool.waitingCount == 0 { await Task.yield() }
    clock.advance(by: .seconds(1))
    #expect(await commit.value == .deadlineExceeded)
    #expect(pool.waitingCount == 0)
    #expect(try await engine.get("rooms/b") == nil)
    try await engine.commit(update("rooms/a", ["n": .integer(3)]), in: id)
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(3))
  }

  @Test func `a batch of writes says which of them its deadline has prevented`() async throws {
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let id = try await engine.begin()
    _ = try await engine.get("rooms/a", .transaction(id))
    let pool = try await engine.engine(database).transactions
    let context = late()
    let request = BatchWriteRequest(
      database: database, writes: ["b", "a", "c"].map { update("rooms/\($0)", ["n": .integer(2)]) })
    let batch = Task { try await engine.batchWrite(request, context: context) }
    while pool.waitingCount == 0 { await Task.yield() }
    clock.advance(by: .seconds(1))
    let codes = try await batch.value.results.map { result -> ServiceCode? in
      if case .failure(let error) = result { error.code } else { nil }
    }
    #expect(codes == [nil, .deadlineExceeded, .deadlineExceeded])
    #expect(try await engine.get("rooms/b") != nil)
    #expect(try await engine.get("rooms/c") == nil)
  }

  @Test func `a query hands out nothing after its deadline`() async throws {
    let engine = makeEngine(clock)
    for number in 0..<3 { try await engine.commit(update("rooms/\(number)", [:])) }
    let context = late()
    var received = 0
    let (clock, request) = (clock, RunQueryRequest(parent: root, query: .all("rooms")))
    #expect(
      await code {
        try await engine.runQuery(request, context: context) { _ in
          received += 1
          clock.advance(by: .seconds(1))
        }
      } == .deadlineExceeded)
    #expect(received == 1)
  }

  @Test func `a deadline at any point leaves no transaction that its caller does not know`() async throws {
    // Each look at the clock advances the time by a second.
    let clock = clock
    let running = ServiceClock(
      now: {
        clock.advance(by: .seconds(1))
        return clock.now
      }, schedule: { clock.schedule(after: $0, $1) })
    let engine = makeEngine(clock) {
      $0.clock = running
      $0.transactionIdleTime = .seconds(100_000)
      $0.transactionLifetime = .seconds(100_000)
    }
    try await engine.commit(update("rooms/a", [:]))
    let pool = try await engine.engine(database).transactions
    let request = RunQueryRequest(
      parent: root, query: .all("rooms"), consistency: .newTransaction(.readWrite()))
    var outcomes: Set<ServiceCode?> = []
    for seconds in 1...40 {
      let (context, before) = (late(.seconds(seconds)), pool.openCount)
      var known = 0
      outcomes.insert(
        await code { try await engine.runQuery(request, context: context) { known += $0.transaction == nil ? 0 : 1 } })
      #expect(pool.openCount - before == known)
    }
    #expect(outcomes == [nil, .deadlineExceeded])
  }

  @Test func `a listen call ends at its deadline`() async throws {
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", [:]))
    let call = try await engine.listen(database: database, context: late())
    call.send(.addTarget(Target(id: 2, .documents([name("rooms/a")]))))
    let (clock, timers) = (clock, clock.deadlines.count)
    #expect(timers >= 1)
    var hasAnswered = false
    #expect(
      await code {
        for try await _ in call.responses where !hasAnswered {
          hasAnswered = true
          clock.advance(by: .seconds(1))
        }
      } == .deadlineExceeded)
    #expect(hasAnswered)
  }

  @Test func `a listen call that ends before its deadline leaves no timer`() async throws {
    let engine = makeEngine(clock)
    let call = try await engine.listen(database: database, context: late())
    #expect(!clock.deadlines.isEmpty)
    call.finish()
    for try await _ in call.responses {}
    while !clock.deadlines.isEmpty { await Task.yield() }
  }

  @Test func `a write call ends at its deadline`() async throws {
    let engine = makeEngine(clock)
    let call = try await engine.write(database: database, context: late())
    call.send(WriteRequest())
    let clock = clock
    #expect(
      await code {
        for try await _ in call.responses { clock.advance(by: .seconds(1)) }
      } == .deadlineExceeded)
  }
}
