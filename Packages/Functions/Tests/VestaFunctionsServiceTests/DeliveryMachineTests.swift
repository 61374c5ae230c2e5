import Testing
import VestaConcurrency
import VestaEventsInterop
import VestaTesting

@testable import VestaFunctionsService

private func entry(_ number: Int64, _ path: String, attempts: Int = 0, retryTime: Int64 = 0) -> EventEntry {
  EventEntry(
    function: "f", position: EventPosition(version: number, number: 0), lane: EventLane(scope: "", path: path),
    attempts: attempts, retryTime: retryTime, time: number)
}

/// The queue of a function, as simple as it can be.
private struct ModelQueue {
  var entries: [EventEntry] = []

  func page(_ request: EventPageRequest) -> EventPage {
    let wanted = entries.filter { entry in
      (request.after.map { entry.position > $0 } ?? true) && (request.through.map { entry.position <= $0 } ?? true)
        && (request.lane.map { entry.lane == $0 } ?? true)
    }
    return EventPage(entries: Array(wanted.prefix(request.limit)), isLast: wanted.count <= request.limit)
  }
}

@Suite struct DeliveryMachineTests {
  @Test func `a pause ends when it is ended, and the order of its lane stays`() throws {
    var machine = DeliveryMachine(function: "f")
    let queue = ModelQueue(entries: [entry(1, "a"), entry(2, "a"), entry(3, "b")])
    _ = machine.step(now: 0)
    let request = EventPageRequest(function: "f", limit: 128)
    machine.loaded(queue.page(request), request, generation: 0, now: 0)
    _ = machine.step(now: 0)
    for first in [entry(1, "a"), entry(3, "b")] {
      let counts = machine.finished(first, generation: 0, retryAt: 1_000, now: 0)
      #expect(counts)
    }
    let early = machine.step(now: 1)
    let next = machine.nextTime
    #expect(early.isEmpty && next == 1_000)
    machine.endPauses()
    let again = machine.step(now: 1)
    let expected = [entry(1, "a", attempts: 1), entry(3, "b", attempts: 1)]
    #expect(again == expected.map { .deliver($0, generation: 0) })
    let counts = machine.finished(expected[0], generation: 0, retryAt: nil, now: 1)
    let second = machine.step(now: 1)
    #expect(counts && second == [.deliver(entry(2, "a"), generation: 0)])
    // A lane that runs, and one without events, are as they were.
    machine.endPauses()
    let last = machine.step(now: 1)
    #expect(last.isEmpty)
  }

  @Test func `the example of the documentation`() throws {
    var limits = DeliveryMachine.Limits()
    limits.lane = 2
    var machine = DeliveryMachine(function: "f", limits: limits)
    let queue = ModelQueue(entries: [entry(1, "a"), entry(2, "a"), entry(3, "a"), entry(4, "b"), entry(5, "a")])
    let first = machine.step(now: 0)
    let request = EventPageRequest(function: "f", limit: 128)
    #expect(first == [.load(request)])
    machine.loaded(queue.page(request), request, generation: 0, now: 0)
    let second = machine.step(now: 0)
    #expect(second == [.deliver(entry(1, "a"), generation: 0), .deliver(entry(4, "b"), generation: 0)])
    func finish(_ entry: EventEntry, retryAt: Int64?, now: Int64) -> Bool {
      machine.finished(entry, generation: 0, retryAt: retryAt, now: now)
    }
    #expect(finish(entry(1, "a"), retryAt: 50, now: 0))
    #expect(finish(entry(4, "b"), retryAt: nil, now: 0))
    let next = machine.nextTime
    #expect(next == 50)
    let early = machine.step(now: 49)
    #expect(early == [])
    let again = machine.step(now: 50)
    #expect(again == [.deliver(entry(1, "a", attempts: 1, retryTime: 50), generation: 0)])
    #expect(finish(entry(1, "a", attempts: 1), retryAt: nil, now: 50))
    let third = machine.step(now: 50)
    #expect(third == [.deliver(entry(2, "a"), generation: 0)])
    #expect(finish(entry(2, "a"), retryAt: nil, now: 50))
    let refill = EventPageRequest(
      function: "f", after: EventPosition(version: 2, number: 0), through: EventPosition(version: 5, number: 0),
      lane: EventLane(scope: "", path: "a"), limit: 2)
    let fourth = machine.step(now: 50)
    #expect(fourth == [.load(refill)])
    machine.loaded(queue.page(refill), refill, generation: 0, now: 50)
    let fifth = machine.step(now: 50)
    #expect(fifth == [.deliver(entry(3, "a"), generation: 0)])
  }

  @Test(arguments: 0..<40) func `any history delivers every event, one lane in order and one at a time`(
    run: Int
  ) throws {
    let seed = UInt64(run) + 4_000
    var random = SplitMix(seed: seed)
    var limits = DeliveryMachine.Limits()
    limits.window = Int.random(in: 4...20, using: &random)
    limits.lane = Int.random(in: 1...4, using: &random)
    limits.page = Int.random(in: 1...8, using: &random)
    limits.running = Int.random(in: 1...5, using: &random)
    var machine = DeliveryMachine(function: "f", limits: limits)
    var queue = ModelQueue()
    var running: [(entry: EventEntry, generation: Int)] = []
    var loads: [(EventPageRequest, Int)] = []
    var delivered: Set<EventPosition> = []
    var newest: [EventLane: EventPosition] = [:]
    var (version, now, left): (Int64, Int64, Int) = (0, 0, 120)
    var steps = 0
    while left > 0 || !queue.entries.isEmpty || !running.isEmpty {
      steps += 1
      guard steps < 20_000 else {
        Issue.record("seed \(seed): stuck with \(queue.entries.count) events, \(machine)")
        return
      }
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<25 where left > 0:
        version += 1
        left -= 1
        // Most events are of one lane.
        let path = Bool.random(using: &random) ? "hot" : "\(Int.random(in: 0..<6, using: &random))"
        queue.entries.append(entry(version, path))
        machine.woken()
      case 25..<55 where !loads.isEmpty:
        let (request, generation) = loads.removeFirst()
        if Int.random(in: 0..<10, using: &random) == 0 {
          machine.loadFailed(request, generation: generation, retryAt: now + 3)
        } else {
          machine.loaded(queue.page(request), request, generation: generation, now: now)
        }
      case 55..<90 where !running.isEmpty:
        let (entry, generation) = running.remove(at: Int.random(in: 0..<running.count, using: &random))
        let fails = Int.random(in: 0..<4, using: &random) == 0
        let counts = machine.finished(entry, generation: generation, retryAt: fails ? now + 5 : nil, now: now)
        guard counts else { continue }
        if fails {
          if let index = queue.entries.firstIndex(where: { $0.position == entry.position }) {
            queue.entries[index].attempts += 1
            queue.entries[index].retryTime = now + 5
          }
        } else {
          queue.entries.removeAll { $0.position == entry.position }
          #expect(newest[entry.lane].map { $0 < entry.position } ?? true, "seed \(seed): \(entry) is out of order")
          newest[entry.lane] = entry.position
          delivered.insert(entry.position)
        }
      case 90: machine.restart()
      default: now += 1
      }
      for action in machine.step(now: now) {
        switch action {
        case .load(let request): loads.append((request, machine.generation))
        case .deliver(let entry, let generation):
          #expect(!running.contains { $0.entry.lane == entry.lane }, "seed \(seed): two of \(entry.lane) run")
          #expect(entry.retryTime <= now, "seed \(seed): \(entry) is too early")
          running.append((entry, generation))
        }
      }
      #expect(running.count <= limits.running)
      #expect(machine.count <= limits.window * 2 + limits.lane, "seed \(seed): \(machine.count) events in memory")
    }
    #expect(delivered.count == 120)
  }
}

@Suite struct GatheringTests {
  private let queue = ModelQueue(entries: [entry(1, "a"), entry(2, "b")])
  private var limits: DeliveryMachine.Limits {
    var limits = DeliveryMachine.Limits()
    (limits.page, limits.gathering) = (2, 50)
    return limits
  }

  /// A machine that has read a page at a time.
  private func machine(_ page: EventPage, now: Int64) -> DeliveryMachine {
    var machine = DeliveryMachine(function: "f", limits: limits)
    let request = EventPageRequest(function: "f", limit: 2)
    let first = machine.step(now: now)
    #expect(first == [.load(request)])
    machine.loaded(page, request, generation: 0, now: now)
    return machine
  }

  @Test func `after the end of the queue further events are gathered for a while, and read together then`() {
    var machine = machine(EventPage(entries: queue.entries, isLast: true), now: 1_000)
    let delivered = machine.step(now: 1_000)
    #expect(delivered.count == 2)
    let (before, isNews, isNewsAgain) = (machine.nextTime, machine.woken(), machine.woken())
    #expect(before == nil)
    #expect(isNews && !isNewsAgain)
    let early = machine.step(now: 1_049)
    #expect(early == [])
    let next = machine.nextTime
    #expect(next == 1_050)
    let due = machine.step(now: 1_050)
    #expect(due == [.load(EventPageRequest(function: "f", after: queue.entries[1].position, limit: 2))])
    let rest = machine.nextTime
    #expect(rest == nil)
  }

  @Test func `an event after a pause is read at once, and so is one after a look that found none`() {
    var paused = machine(EventPage(entries: queue.entries, isLast: true), now: 1_000)
    _ = paused.step(now: 1_000)
    paused.woken()
    let late = paused.step(now: 2_000)
    #expect(late.count == 1)
    var empty = machine(EventPage(entries: [], isLast: true), now: 1_000)
    empty.woken()
    let found = empty.step(now: 1_000)
    #expect(found.count == 1)
  }

  @Test func `the next page of a queue that continues is read at once`() {
    var machine = machine(EventPage(entries: queue.entries, isLast: false), now: 1_000)
    let both = machine.step(now: 1_000)
    #expect(both.count == 3)
  }

  @Test func `a clock that is set back gathers no longer`() {
    var machine = machine(EventPage(entries: queue.entries, isLast: true), now: 1_000_000)
    _ = machine.step(now: 1_000_000)
    machine.woken()
    let back = machine.step(now: 5)
    #expect(back.count == 1)
  }
}

@Suite struct LeaseTests {
  @Test func `a lease that another owner has is asked for again at the next look, not only at its end`() {
    var timing = DispatchMachine.Timing()
    (timing.lease, timing.poll) = (1_000_000, 300)
    var machine = DispatchMachine(timing: timing)
    machine.setFunctions(["f": (RetryPolicy(maximumAttempts: 8), DeliveryMachine.Limits())])
    let request = EventPageRequest(function: "f", limit: 128)
    let reading = machine.step(now: 1_000)
    #expect(reading == [.load(request, generation: 0)])
    machine.loaded(EventPage(entries: [entry(1, "a")], isLast: true), request, generation: 0, now: 1_000)
    let asking = machine.step(now: 1_000)
    #expect(asking == [.lease(["f"])])
    machine.leased(["f": .busy(remaining: 899_000)], askedAt: 1_000)
    let waiting = machine.step(now: 1_299)
    #expect(waiting == [])
    let polling = machine.step(now: 1_300)
    #expect(polling.contains(.lease(["f"])))
    machine.leased(["f": .busy(remaining: 100)], askedAt: 1_300)
    let ending = machine.step(now: 1_400)
    #expect(ending.contains(.lease(["f"])))
    machine.leased(["f": .held(isNew: true)], askedAt: 1_400)
    let held = machine.step(now: 1_400)
    #expect(!held.isEmpty)
  }
}

@Suite struct RetryPolicyTests {
  @Test func `delays double up to a limit, with a quarter at the most on top`() throws {
    let policy = RetryPolicy(maximumAttempts: 100)
    for attempts in 1..<60 {
      let plain = min(600_000_000, Double(1_000_000) * Double(sign: .plus, exponent: attempts - 1, significand: 1))
      let delay = Double(try #require(policy.delay(after: attempts, age: 0, spread: Int64(attempts) &* 7_919)))
      #expect((plain...plain * 1.25).contains(delay), "attempt \(attempts): \(delay)")
    }
  }

  @Test func `delays begin with that of the function, and nothing waits longer than the longest one`() throws {
    var policy = RetryPolicy(maximumAttempts: 100)
    policy.delays.initial = .milliseconds(250)
    let first = try #require(policy.delay(after: 1, age: 0, spread: 3))
    #expect((250_000...312_500).contains(first))
    policy.delays.initial = .seconds(7_200)
    for spread in Int64(0)..<50 {
      let delay = try #require(policy.delay(after: 1, age: 0, spread: spread))
      #expect((600_000_000...Retry.ofEvents.longest).contains(delay))
    }
    #expect(Retry.ofEvents.longest == 750_000_000)
  }

  @Test func `there is no attempt after the last one, or of an old event`() {
    let policy = RetryPolicy(maximumAttempts: 3)
    #expect(policy.delay(after: 2, age: 0, spread: 1) != nil)
    #expect(policy.delay(after: 3, age: 0, spread: 1) == nil)
    #expect(policy.delay(after: 1, age: policy.maximumAge, spread: 1) == nil)
  }
}
