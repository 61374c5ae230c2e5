import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaEventsInterop
import VestaEventsInteropFakes
import VestaFunctionsBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFunctionsService

/// Functions that share places: with the functions that they call, and with others.
@Suite struct SharedPlacesTests {
  @Test func `functions that call functions never wait for a place that they hold themselves`() async throws {
    let bench = EngineBench { $0.maximumConcurrentCalls = 3 }
    let engine = bench.engine
    bench.registry.onCall("inner") { request in request.rawData.integer.map { Int32($0) } }
    bench.registry.onCall("outer") { request in
      let call = FunctionCall(.name("inner", region: "us-central1"), data: request.rawData)
      return try await engine.call(call, context: CallContext())
    }
    bench.registry.onCall("deep") { request in
      let left = request.rawData.integer ?? 0
      guard left > 0 else { return "bottom" }
      let call = FunctionCall(.name("deep", region: "us-central1"), data: .integer(left - 1))
      return try await engine.call(call, context: CallContext())
    }
    try await withThrowingTaskGroup(of: JSONValue.self) { group in
      for number in 0..<50 { group.addTask { try await bench.call("outer", .integer(Int64(number))) } }
      var sum: Int64 = 0
      for try await value in group { sum += value.integer ?? 0 }
      #expect(sum == 49 * 25)
    }
    #expect(try await bench.call("deep", .integer(40)) == .string("bottom"))
    #expect(engine.runningCount == 0 && engine.waitingCount == 0)
  }

  @Test func `a function calls several at once, and cancelled ones leave no place behind`() async throws {
    let bench = EngineBench { $0.maximumConcurrentCalls = 2 }
    let engine = bench.engine
    let begun = Log<Int>()
    bench.registry.onCall("wait") { _ in
      begun.add(1)
      try await Gate().pass()
      return nil
    }
    bench.registry.onCall("fan") { _ in
      try await withThrowingTaskGroup(of: JSONValue.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await engine.call(FunctionCall(.name("wait", region: "us-central1")), context: CallContext())
          }
        }
        for try await _ in group {}
      }
      return nil
    }
    let calls = (0..<3).map { _ in Task { try await bench.call("fan") } }
    await begun.wait { $0.count >= 2 }
    for call in calls { call.cancel() }
    for call in calls { await #expect(throws: FunctionsServiceError.self) { try await call.value } }
    while engine.runningCount + engine.waitingCount > 0 { await Task.yield() }
  }

  @Test func `a function whose calls take long does not hold up another one`() async throws {
    let bench = EngineBench { $0.maximumConcurrentCalls = 4 }
    let (gate, begun) = (Gate(), Log<Int>())
    bench.registry.onCall("slow") { _ in
      begun.add(1)
      await gate.wait()
      return nil
    }
    bench.registry.onCall("quick") { _ in "done" }
    let slow = (0..<20).map { _ in Task { try await bench.call("slow") } }
    await begun.wait { $0.count == 4 }
    #expect(try await bench.call("quick") == .string("done"))
    #expect(begun.entries.count == 4)
    gate.open()
    for call in slow { _ = try await call.value }
  }

  @Test func `more functions that block their thread than there are cores hold up no other one`() async throws {
    let bench = EngineBench()
    let (blocked, begun) = (DispatchSemaphore(value: 0), Log<Int>())
    let count = ProcessInfo.processInfo.activeProcessorCount + 1
    bench.registry.onCall("block") { _ in
      begun.add(1)
      blocked.wait()
      return nil
    }
    bench.registry.onCall("quick") { _ in "done" }
    let calls = (0..<count).map { _ in Task { try await bench.call("block") } }
    await begun.wait { $0.count == count }
    #expect(try await bench.call("quick") == .string("done"))
    for _ in calls { blocked.signal() }
    for call in calls { _ = try await call.value }
  }

  @Test func `events of functions that block, or that wait, do not hold up the events of another one`() async throws {
    let bench = EventBench { $0.maximumConcurrentEvents = 4 }
    let (begun, log) = (Log<String>(), Log<String>())
    let (blocked, gate) = (DispatchSemaphore(value: 0), Gate())
    let count = ProcessInfo.processInfo.activeProcessorCount + 1
    try bench.registry.onDocumentCreated("block", document: "b/{id}") { event in
      begun.add(event.subject)
      blocked.wait()
    }
    try bench.registry.onDocumentCreated("wait", document: "w/{id}") { event in
      begun.add(event.subject)
      await gate.wait()
    }
    try bench.registry.log(log)
    for number in 0..<max(4, count) { try await bench.create("b/\(number)", "w/\(number)") }
    await begun.wait { $0.count >= 4 }
    try await bench.create("a/x")
    await bench.pass { log.entries == ["x"] }
    for _ in 0..<max(4, count) { blocked.signal() }
    gate.open()
    for name in ["block", "wait", "f"] { try await bench.pass { try await bench.queue(name).isEmpty } }
    await bench.events.close()
  }
}

/// Names that are given to other functions, as a deployment does.
@Suite struct ReusedNameTests {
  @Test func `events of an earlier function become dead letters where the new one does not want them`() async throws {
    let store = ModelStore()
    let old = EventBench(store: store)
    old.outbox.subscribe([
      EventSubscription(function: "f", types: [.documentCreated], pattern: try EventPattern("rooms/{room}"))
    ])
    try await old.create("rooms/r1", "rooms/r2")
    let bench = EventBench(store: store)
    let (users, deletions) = (Log<[String: String]>(), Log<String>())
    try bench.registry.onDocumentCreated("f", document: "users/{user}") { users.add($0.params) }
    try bench.registry.onDocumentDeleted("g", document: "rooms/{room}") { deletions.add($0.subject) }
    let registry = bench.registry
    try await bench.pass { try await registry.deadLetters(of: "f").count == 2 }
    try await bench.create("users/ada")
    await bench.pass { users.entries.count == 1 }
    #expect(users.entries == [["user": "ada"]])
    let letters = try await registry.deadLetters(of: "f")
    #expect(letters.map(\.subject) == ["rooms/r1", "rooms/r2"])
    #expect(letters[0].reason.contains("earlier function"))
    await bench.events.close()
  }

  @Test func `a schedule ends when its name is given to another function`() async throws {
    let clock = ManualClock()
    let store = ModelStore()
    let runner = ScheduleRunner(clock: clock.service) { store }
    let source = FakeEventSource()
    let events = EventFunctions(options: FunctionsServiceOptions(), clock: clock.service) { [source, runner.outbox] }
    let registry = FunctionRegistry(events: events, schedules: runner)
    try registry.onSchedule("f", schedule: "* * * * *") { _ in }
    #expect(runner.functions == ["f"])
    try registry.onDocumentCreated("f", document: "a/{id}") { _ in }
    #expect(runner.functions == [])
    await events.close()
    await runner.close()
  }
}

/// Two processes with the schedules of one store.
@Suite struct SharedScheduleTests {
  private let store: ModelStore
  private let storeClock = ManualStoreClock(wall: ManualClock().now)

  init() { store = ModelStore(clock: storeClock.clock) }

  private func runs() async throws -> [Int64] {
    let outbox = ScheduleRunner(clock: ManualClock().service) { [store] in store }.outbox
    var times: [Int64] = []
    for entry in try await outbox.events(EventPageRequest(function: "f", limit: 1_000)).entries {
      times.append(try await outbox.event(entry)?.data["scheduleTime"]?.integer ?? 0)
    }
    return times
  }

  private func entry(_ text: String, _ since: Int64, _ missed: MissedRuns = .runAll(limit: 100)) throws
    -> ScheduleRunner.Entry
  {
    ScheduleRunner.Entry(
      function: "f", text: text, schedule: try ScheduleParser.parse(text), timeZone: .gmt, missed: missed, since: since)
  }

  @Test func `processes with two texts of one schedule start each run once`() async throws {
    let clock = ManualClock()
    let start = clock.now / 1_000_000 / 60 * 60
    let (first, second) = (try entry("* * * * *", start), try entry("*/1 * * * *", start))
    let runners = (0..<2).map { _ in ScheduleRunner(clock: clock.service) { [store] in store } }
    for minute in 1...6 as ClosedRange<Int64> {
      storeClock.advance(by: 60_000_000)
      let now = start + 60 * minute
      for _ in 0..<2 {
        await runners[0].check(first, now)
        await runners[1].check(second, now)
      }
    }
    let times = try await runs()
    #expect(times.sorted() == (1...6).map { start + 60 * $0 })
  }

  @Test func `a new text begins with its registration, and not with what the old one has left out`() async throws {
    let clock = ManualClock()
    let start = clock.now / 1_000_000 / 3_600 * 3_600
    storeClock.advance(by: 7_200_000_000)
    let runner = ScheduleRunner(clock: clock.service) { [store] in store }
    await runner.check(try entry("0 * * * *", start), start + 3_600)
    await runner.check(try entry("*/10 * * * *", start + 5_000), start + 5_400)
    #expect(try await runs() == [start + 3_600, start + 5_400])
  }

  @Test func `a clock that is ahead starts no run before the store's time`() async throws {
    let clock = ManualClock()
    let start = clock.now / 1_000_000 / 60 * 60
    let runner = ScheduleRunner(clock: clock.service) { [store] in store }
    await runner.check(try entry("* * * * *", start), start + 600)
    #expect(try await runs() == [])
    storeClock.advance(by: 120_000_000)
    await runner.check(try entry("* * * * *", start), start + 720)
    #expect(try await runs() == [start + 60, start + 120])
  }
}

/// Two dispatchers on the events of one store.
@Suite struct SharedEventTests {
  @Test func `a function that another process delivers does not hold up the other functions`() async throws {
    // The time of leases: the first process keeps its own, however slow this machine is.
    let store = ModelStore(clock: ManualStoreClock(wall: ManualClock().now).clock)
    let (first, second) = (EventBench(store: store), EventBench(store: store))
    let (gate, begun, log) = (Gate(), Log<String>(), Log<String>())
    try first.registry.onDocumentCreated("f", document: "a/{id}") { event in
      begun.add(event.subject)
      await gate.wait()
    }
    try await first.create("a/1", "a/2")
    await begun.wait { !$0.isEmpty }
    try second.registry.onDocumentCreated("f", document: "a/{id}") { _ in log.add("stolen") }
    try second.registry.onDocumentCreated("g", document: "b/{id}") { log.add($0.subject) }
    try await second.create("b/1")
    await log.wait { $0 == ["b/1"] }
    gate.open()
    try await first.pass { try await first.queue("f").isEmpty }
    #expect(log.entries == ["b/1"])
    await first.events.close()
    await second.events.close()
  }

  @Test func `a lost lease drops the outcomes of its function alone`() {
    var machine = DispatchMachine()
    let limits = DeliveryMachine.Limits()
    machine.setFunctions([
      "f": (RetryPolicy(maximumAttempts: 2), limits), "g": (RetryPolicy(maximumAttempts: 2), limits),
    ])
    func entry(_ function: String) -> EventEntry {
      EventEntry(
        function: function, position: EventPosition(version: 1, number: 0), lane: EventLane(scope: "", path: "x"),
        time: 0)
    }
    for command in machine.step(now: 1_000) {
      guard case .load(let request, let generation) = command else { continue }
      machine.loaded(
        EventPage(entries: [entry(request.function)], isLast: true), request, generation: generation, now: 1_000)
    }
    #expect(machine.step(now: 1_000).contains(.lease(["f", "g"])))
    machine.leased(["f": .held(isNew: false), "g": .held(isNew: false)], askedAt: 1_000)
    _ = machine.step(now: 1_000)
    for name in ["f", "g"] { machine.finished(entry(name), generation: 0, .delivered, now: 1_000) }
    let batch = machine.outcomes
    _ = machine.step(now: 100_000)
    machine.settleFailed(batch, lost: ["f"], now: 100_000)
    #expect(machine.outcomes.map(\.function) == ["g"])
    #expect(
      machine.step(now: 100_000).contains { if case .settle(let outcomes) = $0 { outcomes.count == 1 } else { false } })
  }

  @Test func `commits of other processes bring the next look forward, but not more often than now and then`() {
    var machine = DispatchMachine(timing: DispatchMachine.Timing(poll: 1_000_000, news: 20_000))
    machine.setFunctions(["f": (RetryPolicy(maximumAttempts: 2), DeliveryMachine.Limits())])
    _ = machine.step(now: 1_000_000)
    #expect(machine.othersMayHaveRecorded(now: 1_005_000) == true)
    #expect(machine.nextTime(now: 1_005_000) == 1_020_000)
    #expect(machine.othersMayHaveRecorded(now: 1_006_000) == false)
    #expect(machine.othersMayHaveRecorded(now: 1_030_000) == false)
  }
}
