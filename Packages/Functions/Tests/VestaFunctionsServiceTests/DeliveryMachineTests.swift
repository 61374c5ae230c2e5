import Testing
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

@Suite struct RetryPolicyTests {
  @Test func `delays double up to a limit, with a quarter at the most on top`() throws {
    let policy = RetryPolicy(maximumAttempts: 100)
    for attempts in 1..<60 {
      let plain = min(600_000_000, Double(1_000_000) * Double(sign: .plus, exponent: attempts - 1, significand: 1))
      let delay = Double(try #require(policy.delay(after: attempts, age: 0, spread: Int64(attempts) &* 7_919)))
      #expect((plain...plain * 1.25).contains(delay), "attempt \(attempts): \(delay)")
    }
  }

  @Test func `there is no attempt after the last one, or of an old event`() {
    let policy = RetryPolicy(maximumAttempts: 3)
    #expect(policy.delay(after: 2, age: 0, spread: 1) != nil)
    #expect(policy.delay(after: 3, age: 0, spread: 1) == nil)
    #expect(policy.delay(after: 1, age: policy.maximumAge, spread: 1) == nil)
  }
}
