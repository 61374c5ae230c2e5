import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

/// The end of a process, as its store sees it.
private struct Dead: Error {}

/// A process's way to a store: after some operations the process is dead, and nothing of it reaches the store.
///
/// The last operation is not made, or made without the process learning of it.
private final class MortalStore: OrderedStore {
  private let base: ModelStore
  private let left: Locked<Int>
  private let makesLast: Bool

  init(_ base: ModelStore, operations: Int, makesLast: Bool) {
    self.base = base
    left = Locked(operations)
    self.makesLast = makesLast
  }

  var isDead: Bool { left.withLock { $0 < 0 } }

  /// Whether this is the last operation, which is made in vain.
  private func step() throws -> Bool {
    let left = left.withLock { left in
      left -= 1
      return left
    }
    guard left >= 0 || (left == -1 && makesLast) else { throw Dead() }
    return left < 0
  }

  nonisolated(nonsending) func read<Result>(
    _ body: nonisolated(nonsending) (any StoreReader) async throws -> Result
  ) async throws -> Result {
    let isLast = try step()
    let result = try await base.read(body)
    if isLast { throw Dead() }
    return result
  }

  @discardableResult
  nonisolated(nonsending) func write<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let isLast = try step()
    let commit = try await base.write(body)
    if isLast { throw Dead() }
    return commit
  }

  nonisolated(nonsending) func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion {
    try await base.raiseFloor(to: version)
  }

  nonisolated(nonsending) func close() async throws {}
}

/// A wall clock that jumps, over timers that do not notice.
private final class JumpingClock: Sendable {
  let timers = ManualClock()
  private let offset = Locked<Int64>(0)

  func jump(by microseconds: Int64) { offset.withLock { $0 += microseconds } }

  var service: ServiceClock {
    ServiceClock(
      now: { [timers, offset] in timers.now + offset.withLock { $0 } },
      schedule: { [timers] delay, work in timers.schedule(after: delay, work) })
  }
}

/// One process of a history.
private final class Process: Sendable {
  let store: MortalStore
  let outbox: EventOutbox
  let events: EventFunctions

  init(
    _ store: MortalStore, _ clock: JumpingClock, gathering: Duration = .milliseconds(5),
    _ limits: EventOutboxLimits = EventOutboxLimits(), _ tuning: FunctionsTuning = FunctionsTuning()
  ) {
    self.store = store
    let outbox = EventOutbox(
      service: "test", keys: [9], types: [.documentCreated], limits: limits, store: { store }
    ) { record in ["n": .string(String(decoding: record.payload, as: UTF8.self))] }
    self.outbox = outbox
    var options = FunctionsServiceOptions()
    options.timeout = .seconds(3)
    options.eventGatheringInterval = gathering
    options.tuning = tuning
    events = EventFunctions(options: options, clock: clock.service) { [outbox] }
  }

  func commit(_ changes: [(path: String, number: Int)]) async throws {
    let (outbox, store): (EventOutbox, any OrderedStore) = (outbox, store)
    try await store.write { transaction in
      let drafts = changes.map {
        EventDraft(.documentCreated, path: $0.path, functions: ["f"], payload: Array("\($0.number)".utf8))
      }
      try await outbox.append(drafts, in: transaction)
    }
    outbox.wake()
  }
}

/// Random histories of processes that change documents, deliver, die in the midst of an operation, hang and fail, while
/// the clock jumps; compared with a list of all changes.
@Suite struct EventHistoryTests {
  private struct Delivery: Sendable {
    let path: String
    let number: Int
    let id: String
  }

  @Test(arguments: 0..<24) func `no event is lost, and the events of a document arrive in order`(run: Int) async throws
  {
    let seed = UInt64(run) + 77_000
    let random = Locked(SplitMix(seed: seed))
    func roll(_ count: Int) -> Int { random.withLock { Int.random(in: 0..<count, using: &$0) } }
    let (storeClock, clock, log) = (ManualStoreClock(), JumpingClock(), Log<Delivery>())
    let base = ModelStore(clock: storeClock.clock)
    var tuning = FunctionsTuning()
    tuning.delivery.page = 1 + roll(6)
    tuning.delivery.window = tuning.delivery.page + roll(6)
    tuning.delivery.lane = 1 + roll(4)
    tuning.timing.batch = 1 + roll(6)
    tuning.eventsBetweenYields = 1 + roll(3)
    var limits = EventOutboxLimits()
    limits.inlineSize = roll(30)
    limits.singleDeletions = roll(4)
    let drawn = "seed \(seed), \(tuning), \(limits)"
    var certain: [String: [Int]] = [:]
    var possible: Set<String> = []
    var processes: [Process] = []
    var number = 0
    @Sendable func handle(_ event: Event, _ process: Process?) async throws {
      switch random.withLock({ Int.random(in: 0..<24, using: &$0) }) {
      case 0..<4: throw Broken()
      case 4: try await Gate().pass()
      case 5..<10: await Task.yield()
      default: break
      }
      // A dead process does nothing.
      guard let process, !process.store.isDead else { throw Dead() }
      let number = Int(event.data["n"]?.string ?? "") ?? -1
      log.add(Delivery(path: event.path, number: number, id: event.id))
    }
    func start(operations: Int) throws -> Process {
      let process = Process(MortalStore(base, operations: operations, makesLast: roll(2) == 0), clock, limits, tuning)
      var options = EventOptions()
      (options.maximumAttempts, options.retryDelay) = (.max, .milliseconds(50))
      options.concurrency = 1 + roll(8)
      let subscription = EventSubscription(function: "f", types: [.documentCreated])
      try process.events.register(
        EventFunction(subscription: subscription, options: options) { [weak process] in try await handle($0, process) })
      return process
    }
    func pass() async {
      let step = 10 + roll(200)
      clock.timers.advance(by: .milliseconds(step))
      storeClock.advance(by: Int64(step) * 1_000)
      for _ in 0..<roll(30) { await Task.yield() }
    }

    for _ in 0..<80 {
      processes = await living(processes)
      while processes.isEmpty || (processes.count < 3 && roll(12) == 0) {
        processes.append(try start(operations: 5 + roll(60)))
      }
      if roll(10) == 0 { clock.jump(by: Int64(roll(7_200) - 3_600) * 1_000_000) }
      let changes = (0...roll(3)).map { _ in
        number += 1
        return (path: "d/\(roll(5))", number: number)
      }
      for change in changes { possible.insert("\(change.path) \(change.number)") }
      do {
        try await processes[roll(processes.count)].commit(changes)
        for change in changes { certain[change.path, default: []].append(change.number) }
      } catch is Dead {}
      await pass()
    }
    for process in processes { await process.events.close() }
    let last = try start(operations: .max)
    while try await !base.read({ try await $0.entries(in: KeyRange(prefix: [9] + KeyEncoder(.int(1)).bytes)) }).isEmpty
    {
      await pass()
    }
    await last.events.close()

    var first: [String: [Int]] = [:]
    var ids: [String: String] = [:]
    for delivery in log.entries {
      let change = "\(delivery.path) \(delivery.number)"
      #expect(possible.contains(change), "\(drawn): nobody has made the change \(change)")
      #expect(ids[delivery.id, default: change] == change, "\(drawn): \(delivery.id) is the id of two changes")
      if ids.updateValue(change, forKey: delivery.id) == nil {
        first[delivery.path, default: []].append(delivery.number)
      }
    }
    for (path, numbers) in certain {
      let seen = first[path] ?? []
      #expect(Set(numbers).isSubset(of: seen), "\(drawn): lost of \(path): \(Set(numbers).subtracting(seen))")
      #expect(seen == seen.sorted(), "\(drawn): \(path) came in the order \(seen)")
    }
    let rows = try await base.read { try await $0.entries(in: KeyRange(prefix: [9])) }
    #expect(rows.isEmpty, "\(drawn): rows stay: \(rows.map { (Hex.encode($0.key), $0.value) })")
  }

  /// The processes that live; the others are closed, of which nothing reaches the store.
  private func living(_ processes: [Process]) async -> [Process] {
    for process in processes where process.store.isDead { await process.events.close() }
    return processes.filter { !$0.store.isDead }
  }
}

@Suite struct EventClockTests {
  @Test func `outcomes are kept and failures retried soon when the clock is set back`() async throws {
    let (store, clock, log) = (ModelStore(), JumpingClock(), Log<String>())
    let process = Process(MortalStore(store, operations: .max, makesLast: false), clock, gathering: .zero)
    let isBroken = Locked(true)
    try process.events.register(
      EventFunction(
        subscription: EventSubscription(function: "f", types: [.documentCreated]), options: EventOptions()
      ) { event in
        log.add(event.path)
        if event.path == "bad", isBroken.withLock({ $0 }) { throw Broken() }
      })
    try await process.commit([("bad", 1), ("good", 2)])
    await log.wait { $0.contains("bad") && $0.contains("good") }
    isBroken.withLock { $0 = false }
    clock.jump(by: -3_600_000_000)
    let start = clock.timers.now
    try await process.commit([("later", 3)])
    while try await !process.outbox.events(EventPageRequest(function: "f", limit: 9)).entries.isEmpty {
      clock.timers.advance(by: .milliseconds(20))
      await Task.yield()
    }
    #expect(clock.timers.now - start < 60_000_000)
    await process.events.close()
  }
}
