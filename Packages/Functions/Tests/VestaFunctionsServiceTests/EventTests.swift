import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

struct Broken: Error {}

/// A source on the model store with event functions in front of it, and a manual clock.
final class EventBench: Sendable {
  let store: any OrderedStore
  let clock: ManualClock
  let outbox: EventOutbox
  let events: EventFunctions
  var registry: FunctionRegistry { FunctionRegistry(events: events) }

  init(
    store: any OrderedStore = ModelStore(), clock: ManualClock = ManualClock(), _ outbox: EventOutbox? = nil,
    _ change: (inout FunctionsServiceOptions) -> Void = { _ in }
  ) {
    self.store = store
    self.clock = clock
    let source =
      outbox
      ?? EventOutbox(
        service: "firestore.googleapis.com", keys: [9],
        types: [.documentCreated, .documentUpdated, .documentDeleted], store: { store }
      ) { record in
        ["value": .object(["fields": .object(["n": .object(["integerValue": .string("\(record.payload.count)")])])])]
      }
    self.outbox = source
    var options = FunctionsServiceOptions()
    // The clock of most tests stands still.
    options.eventGatheringInterval = .zero
    change(&options)
    events = EventFunctions(options: options, clock: clock.service) { [source] }
  }

  /// Commits the creation of documents, in one transaction.
  func create(_ paths: String...) async throws { try await create(paths) }

  /// Commits the creation of documents, in one transaction.
  func create(_ paths: [String]) async throws {
    let outbox = outbox
    _ = try await store.write { transaction in
      guard let interest = outbox.interest else { return }
      let drafts = paths.map { path in
        EventDraft(
          .documentCreated, scope: "(default)", path: path,
          functions: interest.functions(for: .documentCreated, scope: "(default)", path: path),
          payload: Array(path.utf8))
      }
      try await outbox.append(drafts, in: transaction)
    }
    outbox.wake()
  }

  func queue(_ function: String) async throws -> [EventEntry] {
    try await outbox.events(EventPageRequest(function: function, limit: 1_000)).entries
  }

  /// Lets time pass, in small steps, until a condition holds.
  func pass(until isSatisfied: () async throws -> Bool) async rethrows {
    while try await !isSatisfied() {
      clock.advance(by: .milliseconds(20))
      await Task.yield()
    }
  }
}

extension FunctionRegistry {
  /// Registers a function for all documents of the collection `a` that logs their ids.
  func log(
    _ log: Log<String>, as name: String = "f", options: EventOptions = EventOptions(),
    _ body: @escaping @Sendable (CloudEvent<EventDocument>) async throws -> Void = { _ in }
  ) throws {
    try onDocumentCreated(name, document: "a/{id}", options: options) { event in
      log.add(event.params["id"] ?? "")
      try await body(event)
    }
  }
}

@Suite struct EventTests {
  @Test func `an event reaches its function with params and data, and leaves the queue`() async throws {
    let bench = EventBench()
    let log = Log<CloudEvent<EventDocument>>()
    try bench.registry.onDocumentCreated("f", document: "a/{id}") { log.add($0) }
    try await bench.create("a/x", "b/y")
    await log.wait { $0.count == 1 }
    let event = log.entries[0]
    #expect(event.params == ["id": "x"])
    #expect(event.subject == "a/x")
    #expect(event.data.get("n") as? Int == 3)
    #expect(event.data.documentID == "x")
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(log.entries.count == 1)
    await bench.events.close()
  }

  @Test func `a failure is attempted again with back-off, and other documents do not wait`() async throws {
    let bench = EventBench()
    let (log, failures) = (Log<String>(), Locked(3))
    try bench.registry.log(log) { event in
      guard event.params["id"] == "bad" else { return }
      let fails = failures.withLock { left in
        left -= 1
        return left >= 0
      }
      if fails { throw Broken() }
    }
    try await bench.create("a/bad", "a/good", "a/bad", "a/fine")
    await log.wait { $0.filter { $0 != "bad" }.count == 2 }
    await bench.pass { log.entries.count == 7 }
    #expect(log.entries.filter { $0 == "bad" }.count == 5)
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(bench.clock.now >= 1_767_225_600_000_000 + 7_000_000)
    await bench.events.close()
  }

  @Test func `an event that fails too often is a dead letter, which can be sent again`() async throws {
    let bench = EventBench()
    let (log, isBroken) = (Log<String>(), Locked(true))
    var options = EventOptions()
    options.maximumAttempts = 3
    try bench.registry.log(log, options: options) { _ in
      if isBroken.withLock({ $0 }) { throw Broken() }
    }
    try await bench.create("a/x")
    let registry = bench.registry
    try await bench.pass { try await !registry.deadLetters(of: "f").isEmpty }
    let letters = try await registry.deadLetters(of: "f")
    #expect(letters.map(\.attempts) == [3])
    #expect(letters[0].reason.contains("Broken"))
    #expect(log.entries.count == 3)
    isBroken.withLock { $0 = false }
    #expect(try await registry.resend(letters, to: "f") == 1)
    await bench.pass { log.entries.count == 4 }
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(try await registry.deadLetters(of: "f").isEmpty)
    await bench.events.close()
  }

  @Test func `the time limit cancels a function, and counts as a failure`() async throws {
    let bench = EventBench()
    let (log, cancelled) = (Log<String>(), Log<Bool>())
    var options = EventOptions()
    options.timeout = .seconds(5)
    options.maximumAttempts = 1
    try bench.registry.log(log, options: options) { _ in
      do {
        try await Gate().pass()
      } catch {
        cancelled.add(Task.isCancelled)
        throw error
      }
    }
    try await bench.create("a/x")
    let registry = bench.registry
    try await bench.pass { try await !registry.deadLetters(of: "f").isEmpty }
    #expect(cancelled.entries == [true])
    await bench.events.close()
  }

  @Test func `closing cancels what runs, and another process delivers it again`() async throws {
    let bench = EventBench()
    let (log, ends) = (Log<String>(), Log<Bool>())
    try bench.registry.log(log) { _ in
      do {
        try await Gate().pass()
      } catch {
        ends.add(Task.isCancelled)
        throw error
      }
    }
    try await bench.create("a/x")
    await log.wait { $0.count == 1 }
    await bench.events.close()
    await ends.wait { $0.count == 1 }
    #expect(try await bench.queue("f").map(\.attempts) == [0])

    let second = EventBench(store: bench.store, clock: bench.clock)
    let again = Log<String>()
    try second.registry.log(again)
    // At once: the lease was given up.
    await again.wait { $0.count == 1 }
    try await second.pass { try await second.queue("f").isEmpty }
    await second.events.close()
  }

  @Test func `a delivery that has ended leaves no deadline behind`() async throws {
    let bench = EventBench()
    let (log, begun, gate) = (Log<String>(), Gate(), Gate())
    try bench.registry.log(log) { _ in
      begun.open()
      await gate.wait()
    }
    try await bench.create("a/x", "a/y")
    await begun.wait()
    #expect(bench.events.deadlines.count > 0)
    gate.open()
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(bench.events.deadlines.count == 0)
    await bench.events.close()
  }

  @Test func `while one process has the lease another delivers nothing, until the lease has ended`() async throws {
    // The time of leases passes when the test says so, however slow this machine is.
    let time = ManualStoreClock(wall: ManualClock().now)
    let bench = EventBench(store: ModelStore(clock: time.clock))
    let (log, gate) = (Log<String>(), Gate())
    try bench.registry.log(log) { _ in await gate.wait() }
    try await bench.create("a/x", "a/y")
    await log.wait { $0.count == 2 }

    // A separate process: another owner, on the same rows.
    let second = EventBench(store: bench.store, clock: bench.clock)
    let other = Log<String>()
    try second.registry.log(other)
    for _ in 0..<200 { await Task.yield() }
    #expect(other.entries.isEmpty)

    // The first process is stopped: nothing of it runs, not even its timers.
    let stopped = ManualClock(at: bench.clock.now)
    let third = EventBench(store: bench.store, clock: stopped)
    let late = Log<String>()
    try third.registry.log(late)
    await third.pass {
      time.advance(by: 20_000)
      return late.entries.count == 2
    }
    #expect(stopped.now >= bench.clock.now + 9_000_000)
    gate.open()
    await third.events.close()
    await second.events.close()
    await bench.events.close()
  }

  @Test func `events of one document arrive in order, whatever fails`() async throws {
    let seed: UInt64 = 99
    let random = Locked(SplitMix(seed: seed))
    let bench = EventBench()
    let log = Log<String>()
    let succeeded = Locked<[String: [Int]]>([:])
    var options = EventOptions()
    options.maximumAttempts = 100
    options.retryDelay = .milliseconds(10)
    try bench.registry.onDocumentCreated("f", document: "{path=**}", options: options) { event in
      await Task.yield()
      if random.withLock({ Int.random(in: 0..<3, using: &$0) }) == 0 { throw Broken() }
      succeeded.withLock { $0[event.subject, default: []].append(Int(event.time.timeIntervalSince1970 * 1_000_000)) }
      log.add(event.subject)
    }
    for number in 0..<120 {
      let path = random.withLock { Int.random(in: 0..<2, using: &$0) } == 0 ? "a/hot" : "a/\(number % 7)"
      try await bench.create(path)
    }
    await bench.pass { log.entries.count >= 120 }
    try await bench.pass { try await bench.queue("f").isEmpty }
    for (path, times) in succeeded.withLock({ $0 }) { #expect(times == times.sorted(), "seed \(seed): \(path)") }
    #expect(log.entries.count == 120)
    await bench.events.close()
  }

  @Test func `two functions get the same event with one id, and one that fails does not hold up the other`()
    async throws
  {
    let bench = EventBench()
    let ids = Log<String>()
    try bench.registry.onDocumentCreated("f", document: "a/{id}") { event in
      ids.add(event.id)
      throw Broken()
    }
    try bench.registry.onDocumentCreated("g", document: "a/{id}") { ids.add($0.id) }
    try await bench.create("a/x")
    await ids.wait { $0.count >= 2 }
    #expect(Set(ids.entries).count == 1)
    try await bench.pass { try await bench.queue("g").isEmpty }
    #expect(try await bench.queue("f").count == 1)
    await bench.events.close()
  }

  @Test func `nothing is recorded for a function that was removed, and what waits stays for it`() async throws {
    let bench = EventBench()
    let (log, gate) = (Log<String>(), Gate())
    var options = EventOptions()
    options.concurrency = 1
    try bench.registry.log(log, options: options) { _ in await gate.wait() }
    try await bench.create("a/1", "a/2")
    await log.wait { $0.count == 1 }
    bench.registry.removeEventFunction("f")
    gate.open()
    try await bench.create("a/3")
    // The event that ran has succeeded.
    try await bench.pass { try await bench.queue("f").count == 1 }
    for _ in 0..<100 {
      bench.clock.advance(by: .milliseconds(20))
      await Task.yield()
    }
    #expect(log.entries == ["1"])
    #expect(try await bench.queue("f").count == 1)
    try bench.registry.log(log)
    await bench.pass { log.entries.count >= 2 }
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(log.entries == ["1", "2"])
    await bench.events.close()
  }

  @Test func `two thousand events of a few documents all arrive`() async throws {
    let bench = EventBench()
    let count = Locked(0)
    try bench.registry.onDocumentCreated("f", document: "a/{id}") { _ in count.withLock { $0 += 1 } }
    let outbox = bench.outbox
    for batch in 0..<20 {
      _ = try await bench.store.write { transaction in
        let drafts = (0..<100).map { number in
          EventDraft(
            .documentCreated, scope: "(default)", path: "a/\(batch)-\(number % 50)", functions: ["f"], payload: [1])
        }
        try await outbox.append(drafts, in: transaction)
      }
    }
    outbox.wake()
    await bench.pass { count.withLock { $0 } >= 2_000 }
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(count.withLock { $0 } == 2_000)
    await bench.events.close()
  }

  @Test func `the events after one that exceeded its time limit run as if nothing had been`() async throws {
    let bench = EventBench()
    let (begun, ended, cancelled) = (Log<String>(), Log<String>(), Log<String>())
    var options = EventOptions()
    (options.concurrency, options.timeout, options.maximumAttempts) = (1, .seconds(1), 1)
    try bench.registry.log(begun, options: options) { event in
      let id = event.params["id"] ?? ""
      if id.hasPrefix("slow") { try await Gate().pass() }
      // Within the limit of this event, and beyond the limits of the earlier ones.
      if id == "5" { bench.clock.advance(by: .milliseconds(900)) }
      if Task.isCancelled { cancelled.add(id) }
      ended.add(id)
    }
    try await bench.create("a/1", "a/2", "a/slow1", "a/3", "a/4", "a/5", "a/6", "a/slow2", "a/7")
    for slow in ["slow1", "slow2"] {
      await begun.wait { $0.contains(slow) }
      bench.clock.advance(by: .milliseconds(1_100))
    }
    await ended.wait { $0.contains("7") }
    try await bench.pass { try await bench.queue("f").isEmpty }
    #expect(begun.entries == ["1", "2", "slow1", "3", "4", "5", "6", "slow2", "7"])
    #expect(ended.entries == ["1", "2", "3", "4", "5", "6", "7"])
    #expect(cancelled.entries == [])
    #expect(try await bench.registry.deadLetters(of: "f").map(\.subject) == ["a/slow1", "a/slow2"])
    await bench.events.close()
  }

  @Test(arguments: [.zero, .seconds(-5), .nanoseconds(1), .seconds(Int64.max), .seconds(Int64.min)] as [Duration])
  func `events are delivered whatever the options say about times`(time: Duration) async throws {
    let bench = EventBench {
      ($0.eventLease, $0.eventPollInterval, $0.eventGatheringInterval) = (time, time, time)
    }
    let log = Log<String>()
    var options = EventOptions()
    (options.retryDelay, options.maximumAge) = (time, .seconds(60))
    try bench.registry.log(log, options: options)
    try await bench.create("a/1", "a/2", "a/3")
    await log.wait { Set($0) == ["1", "2", "3"] }
    try await bench.pass { try await bench.queue("f").isEmpty }
    await bench.events.close()
  }

  @Test func `functions that wait run concurrently, as many as are allowed`() async throws {
    let bench = EventBench()
    let (log, gate) = (Log<String>(), Gate())
    var options = EventOptions()
    options.concurrency = 5
    try bench.registry.log(log, options: options) { _ in try await gate.pass() }
    try await bench.create("a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7")
    await log.wait { $0.count == 5 }
    gate.open()
    await log.wait { $0.count == 7 }
    #expect(Set(log.entries).count == 7)
    await bench.events.close()
  }

  @Test func `registering refuses what cannot work`() throws {
    let bench = EventBench()
    #expect(throws: EventFunctionError.self) { try bench.registry.onDocumentCreated("f", document: "a") { _ in } }
    #expect(throws: EventFunctionError.self) { try bench.registry.onDocumentCreated("f", document: "a/{}") { _ in } }
    #expect(throws: EventFunctionError.self) { try bench.registry.onDocumentCreated("", document: "a/b") { _ in } }
    #expect(throws: EventFunctionError.self) { try bench.registry.onUserCreated("f") { _ in } }
    #expect(throws: EventFunctionError.self) { try bench.registry.onSchedule("f", schedule: "* * * * *") { _ in } }
    #expect(throws: ScheduleError.self) { try bench.registry.onSchedule("f", schedule: "nonsense") { _ in } }
  }
}

@Suite struct DeliveryRunTests {
  @Test func `a time limit that fires after its function has ended does nothing`() {
    let run = DeliveryRun()
    let first = run.functionBegins()
    #expect(!run.functionEnds())
    #expect(!run.expire(first))
    let second = run.functionBegins()
    #expect(!run.expire(first))
    #expect(!run.isCancelled && !run.isLate)
    #expect(run.expire(second))
    #expect(run.isCancelled && run.isLate)
    #expect(run.functionEnds())
    #expect(!run.expire(second))
  }

  @Test func `a task that is noted after the end of its run is cancelled`() {
    let (cancelled, late, free) = (DeliveryRun(), DeliveryRun(), DeliveryRun())
    cancelled.cancel()
    #expect(late.expire(late.functionBegins()))
    for run in [cancelled, late, free] {
      let task = Task {}
      run.begin(task)
      #expect(task.isCancelled == (run !== free))
    }
    let task = Task {}
    free.begin(task)
    free.cancel()
    #expect(task.isCancelled)
  }
}

@Suite struct ScheduleRunnerTests {
  /// A registry whose schedules run on a manual clock.
  private func bench(_ store: any OrderedStore, _ clock: ManualClock) -> (FunctionRegistry, ScheduleRunner) {
    let runner = ScheduleRunner(clock: clock.service) { store }
    let events = EventFunctions(options: FunctionsServiceOptions(), clock: clock.service) { [runner.outbox] }
    return (FunctionRegistry(events: events, schedules: runner), runner)
  }

  private func pass(_ clock: ManualClock, until isSatisfied: () async throws -> Bool) async rethrows {
    while try await !isSatisfied() {
      clock.advance(by: .seconds(1))
      for _ in 0..<20 { await Task.yield() }
    }
  }

  @Test func `a schedule runs at its times, in its time zone`() async throws {
    let clock = ManualClock()
    let (registry, _) = bench(ModelStore(), clock)
    let log = Log<Date>()
    try registry.onSchedule("f", schedule: "*/2 * * * *", timeZone: TimeZone(identifier: "Asia/Kathmandu")) {
      log.add($0.data.scheduleTime)
    }
    await pass(clock) { log.entries.count >= 3 }
    // Kathmandu is 5:45 ahead of UTC, so its even minutes are odd ones in UTC.
    let start = Double(1_767_225_600)
    #expect(log.entries.prefix(3).map(\.timeIntervalSince1970) == [start + 60, start + 180, start + 300])
    await registry.events.close()
  }

  @Test func `missed runs of a stopped process follow the policy, and none runs twice`() async throws {
    let store = ModelStore()
    let clock = ManualClock()
    let (first, runner) = bench(store, clock)
    let log = Log<Date>()
    try first.onSchedule("f", schedule: "0 * * * *") { log.add($0.data.scheduleTime) }
    // Delivered, and settled: otherwise it may be delivered again.
    await pass(clock) { log.entries.count == 1 }
    try await pass(clock) { try await runner.outbox.events(EventPageRequest(function: "f", limit: 1)).entries.isEmpty }
    await first.events.close()
    first.removeEventFunction("f")

    let later = ManualClock(at: clock.now + 5 * 3_600_000_000)
    let (second, _) = bench(store, later)
    try second.onSchedule("f", schedule: "0 * * * *", missed: .runAll(limit: 2)) { log.add($0.data.scheduleTime) }
    await pass(later) { log.entries.count >= 3 }
    let hour = 3_600.0
    let start = log.entries[0].timeIntervalSince1970
    #expect(log.entries.map(\.timeIntervalSince1970) == [start, start + 4 * hour, start + 5 * hour])
    await second.events.close()
  }

  private func date(_ clock: ManualClock) -> Date { Date(timeIntervalSince1970: Double(clock.now) / 1_000_000) }

  @Test func `a changed schedule starts again`() async throws {
    let store = ModelStore()
    let clock = ManualClock()
    let (first, _) = bench(store, clock)
    let log = Log<Date>()
    try first.onSchedule("f", schedule: "* * * * *") { log.add($0.data.scheduleTime) }
    await pass(clock) { !log.entries.isEmpty }
    await first.events.close()
    first.removeEventFunction("f")
    let later = ManualClock(at: clock.now + 600_000_000)
    let (end, begin) = (date(clock), date(later))
    let (second, _) = bench(store, later)
    let new = Log<Date>()
    try second.onSchedule("f", schedule: "*/5 * * * *", missed: .runAll(limit: 100)) { new.add($0.data.scheduleTime) }
    await pass(later) { new.entries.contains { $0 > begin } }
    // A run that the first one had not settled is repeated; a run that was due between the two is not.
    #expect(!new.entries.contains { $0 > end && $0 < begin }, "\(new.entries), \(end), \(begin)")
    await second.events.close()
  }
}
