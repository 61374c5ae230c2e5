import Testing
import VestaEventsInterop

@testable import VestaFunctionsService

/// The times and the leases of a dispatcher, step by step.
@Suite struct DispatchMachineTests {
  /// A machine for the function `f`, and its events.
  private final class Bench {
    var machine = DispatchMachine(timing: Bench.timing)
    var entries: [EventEntry] = []

    static let timing = DispatchMachine.Timing(lease: 1_000, settling: 50, failure: 100, poll: 500, batch: 3)

    init(entries count: Int64) {
      entries = (0..<count).map { DispatchMachineTests.entry($0 + 1) }
      machine.setFunctions(["f": (RetryPolicy(maximumAttempts: 2), DeliveryMachine.Limits())])
    }

    /// Makes the step at a time, and answers what is read from the queue.
    ///
    /// - Returns: The commands, without reads.
    func step(_ now: Int64) -> [DispatchMachine.Command] {
      var commands: [DispatchMachine.Command] = []
      var isDone = false
      while !isDone {
        isDone = true
        for command in machine.step(now: now) {
          guard case .load(let request, let generation) = command else {
            commands.append(command)
            continue
          }
          isDone = false
          let rest = entries.filter { entry in request.after.map { entry.position > $0 } ?? true }
          machine.loaded(EventPage(entries: rest, isLast: true), request, generation: generation, now: now)
        }
      }
      return commands
    }

    /// Takes the lease at a time, and returns the commands of the next step.
    func lease(at now: Int64, isNew: Bool = false) -> [DispatchMachine.Command] {
      machine.leased(["f": .held(isNew: isNew)], askedAt: now)
      return step(now)
    }

    @discardableResult
    func finish(
      _ entry: EventEntry, _ delivery: DispatchMachine.Delivery = .delivered, at now: Int64
    ) -> EventOutcome? {
      machine.finished(entry, generation: 0, delivery, now: now)
    }

    func woken() -> Bool { machine.woken() }
    func close() -> [EventOutcome] { machine.close() }
  }

  static func entry(_ number: Int64, attempts: Int = 0, retryTime: Int64 = 0) -> EventEntry {
    EventEntry(
      function: "f", position: EventPosition(version: number, number: 0),
      lane: EventLane(scope: "", path: "\(number)"), attempts: attempts, retryTime: retryTime, time: 0)
  }

  private func deliver(_ entry: EventEntry, generation: Int = 0) -> DispatchMachine.Command {
    .deliver(entry, generation: generation)
  }

  private func delivered(_ number: Int64, attempts: Int = 1) -> EventOutcome {
    EventOutcome(
      function: "f", position: EventPosition(version: number, number: 0), attempts: attempts, result: .delivered)
  }

  @Test func `a page that a removed function has asked for does not count for the next one with its name`() throws {
    let bench = Bench(entries: 2)
    let function = (RetryPolicy(maximumAttempts: 2), DeliveryMachine.Limits())
    func request() -> (EventPageRequest, Int)? {
      for case .load(let request, let generation) in bench.machine.step(now: 1) { return (request, generation) }
      return nil
    }
    let former = try #require(request())
    bench.machine.setFunctions([:])
    bench.machine.setFunctions(["f": function])
    let own = try #require(request())
    #expect(own.1 != former.1)
    // The former function had delivered the first event.
    let late = EventPage(entries: [bench.entries[1]], isLast: true)
    bench.machine.loaded(late, former.0, generation: former.1, now: 1)
    #expect(bench.machine.count == 0)
    bench.machine.loaded(EventPage(entries: bench.entries, isLast: true), own.0, generation: own.1, now: 1)
    #expect(bench.machine.count == 2)
  }

  @Test func `a queue without events needs no lease`() {
    let bench = Bench(entries: 0)
    #expect(bench.step(1_000) == [])
    #expect(bench.machine.isIdle)
  }

  @Test func `events are delivered while the lease holds, and not at its end`() {
    let bench = Bench(entries: 1)
    #expect(!bench.machine.isIdle, "the queue is not known yet")
    #expect(bench.step(1_000) == [.lease(["f"])])
    #expect(!bench.machine.isIdle)
    #expect(bench.step(1_000) == [], "the lease is asked for once")
    // The lease of 1,000 counts from when it was asked for, whenever the answer arrives.
    bench.machine.leased(["f": .held(isNew: false)], askedAt: 1_000)
    #expect(bench.step(2_000) == [.lease(["f"])])
    let inTime = Bench(entries: 1)
    _ = inTime.step(1_000)
    inTime.machine.leased(["f": .held(isNew: false)], askedAt: 1_000)
    #expect(inTime.step(1_999) == [deliver(Self.entry(1)), .lease(["f"])])
  }

  @Test func `the lease is renewed when less than half of it is left`() {
    let bench = Bench(entries: 1)
    _ = bench.step(1_000)
    #expect(bench.lease(at: 1_000) == [deliver(Self.entry(1))])
    #expect(bench.machine.running == 1 && bench.machine.count == 1)
    #expect(bench.machine.nextTime(now: 1_000) == 1_500)
    #expect(bench.step(1_500) == [])
    #expect(bench.step(1_501) == [.lease(["f"])])
    // With nothing left to do it is not renewed.
    bench.machine.leased(["f": .held(isNew: false)], askedAt: 1_501)
    bench.finish(Self.entry(1), at: 1_501)
    #expect(bench.step(1_551) == [.settle([delivered(1)])])
    bench.entries = []
    bench.machine.settled()
    #expect(bench.step(9_000) == [])
    #expect(bench.machine.isIdle)
  }

  @Test func `a process that finds the lease taken asks again at its end, or at the next poll`() {
    for (until, next) in [(1_300, 1_300), (5_000, 1_500)] as [(Int64, Int64)] {
      let bench = Bench(entries: 1)
      _ = bench.step(1_000)
      bench.machine.leased(["f": .busy(remaining: until - 1_000)], askedAt: 1_000)
      #expect(bench.machine.nextTime(now: 1_000) == next)
      #expect(bench.step(next - 1) == [])
      #expect(bench.step(next) == [.lease(["f"])])
    }
  }

  @Test func `a lease that failed is asked for again after a while`() {
    let bench = Bench(entries: 1)
    _ = bench.step(1_000)
    bench.machine.leaseFailed(now: 1_000)
    #expect(bench.machine.nextTime(now: 1_000) == 1_100)
    #expect(bench.step(1_099) == [])
    #expect(bench.step(1_100) == [.lease(["f"])])
  }

  @Test func `a new lease reads the queue again, as others may have changed it`() {
    let bench = Bench(entries: 2)
    _ = bench.step(1_000)
    bench.entries.removeFirst()
    #expect(bench.lease(at: 1_000, isNew: true) == [deliver(Self.entry(2), generation: 1)])
  }

  @Test func `outcomes are settled together, a while after the first one or when they are many`() {
    let bench = Bench(entries: 5)
    _ = bench.step(1_000)
    _ = bench.lease(at: 1_000)
    bench.finish(Self.entry(1), at: 1_010)
    bench.finish(Self.entry(2), at: 1_040)
    #expect(bench.machine.nextTime(now: 1_040) == 1_060)
    #expect(bench.step(1_059) == [])
    #expect(bench.step(1_060) == [.settle([delivered(1), delivered(2)])])
    for number in 3...5 as ClosedRange<Int64> { bench.finish(Self.entry(number), at: 1_061) }
    #expect(bench.step(1_200) == [], "one settlement at a time")
    bench.machine.settled()
    #expect(bench.step(1_200) == [.settle([delivered(3), delivered(4), delivered(5)])])
    bench.machine.settled()

    let many = Bench(entries: 5)
    _ = many.step(1_000)
    _ = many.lease(at: 1_000)
    for number in 1...2 as ClosedRange<Int64> { many.finish(Self.entry(number), at: 1_000) }
    #expect(many.step(1_000) == [])
    many.finish(Self.entry(3), at: 1_000)
    #expect(many.step(1_000) == [.settle([delivered(1), delivered(2), delivered(3)])])
  }

  @Test func `outcomes that could not be settled are settled later, before the outcomes after them`() {
    let bench = Bench(entries: 2)
    _ = bench.step(1_000)
    _ = bench.lease(at: 1_000)
    bench.finish(Self.entry(1), at: 1_000)
    #expect(bench.step(1_050) == [.settle([delivered(1)])])
    bench.finish(Self.entry(2), at: 1_050)
    bench.machine.settleFailed([delivered(1)], lost: [], now: 1_060)
    #expect(bench.step(1_159) == [])
    #expect(bench.step(1_160) == [.settle([delivered(1), delivered(2)])])
  }

  @Test func `outcomes of a lost lease are forgotten, and the lease is asked for after a while`() {
    let bench = Bench(entries: 1)
    _ = bench.step(1_000)
    _ = bench.lease(at: 1_000)
    bench.finish(Self.entry(1), at: 1_000)
    _ = bench.step(1_050)
    bench.machine.settleFailed([delivered(1)], lost: ["f"], now: 1_060)
    #expect(bench.machine.outcomes == [])
    #expect(bench.step(1_159) == [])
    #expect(bench.step(1_160) == [.lease(["f"])])
    #expect(bench.lease(at: 1_160, isNew: true) == [deliver(Self.entry(1), generation: 2)])
  }

  @Test func `a lease that is new during a settlement reads the queue after it`() {
    for fails in [false, true] {
      let bench = Bench(entries: 2)
      _ = bench.step(1_000)
      _ = bench.lease(at: 1_000)
      bench.finish(Self.entry(1), at: 1_000)
      #expect(bench.step(1_501) == [.lease(["f"]), .settle([delivered(1)])])
      // A read before the end of the settlement may show the earlier state.
      #expect(bench.lease(at: 1_501, isNew: true) == [])
      bench.entries.removeFirst()
      if fails {
        bench.machine.settleFailed([delivered(1)], lost: ["f"], now: 1_502)
      } else {
        bench.machine.settled()
      }
      #expect(bench.machine.outcomes == [])
      // The second event runs still, and belongs to before.
      #expect(bench.step(1_502) == [])
      #expect(bench.finish(Self.entry(2), at: 1_502) == nil)
      #expect(bench.step(1_502) == [deliver(Self.entry(2), generation: 1)])
    }
  }

  @Test func `the end of a delivery is its outcome`() {
    func outcome(_ delivery: DispatchMachine.Delivery, attempts: Int = 0) -> EventOutcome.Result? {
      let bench = Bench(entries: 0)
      bench.entries = [Self.entry(1, attempts: attempts)]
      _ = bench.step(1_000)
      _ = bench.lease(at: 1_000)
      let outcome = bench.finish(bench.entries[0], delivery, at: 1_010)
      #expect(outcome == nil || outcome?.attempts == attempts + 1)
      #expect(bench.machine.running == 0)
      return outcome?.result
    }
    #expect(outcome(.delivered) == .delivered)
    #expect(outcome(.absent) == nil)
    #expect(outcome(.abandoned) == nil)
    #expect(outcome(.damaged(reason: "r")) == .dead(at: 1_010, reason: "r"))
    let delay = RetryPolicy(maximumAttempts: 2).delay(after: 1, age: 1_010, spread: 1) ?? 0
    #expect(delay >= 1_000_000)
    #expect(outcome(.failed(reason: "r")) == .retry(at: 1_010 + delay, reason: "r"))
    #expect(outcome(.failed(reason: "r"), attempts: 1) == .dead(at: 1_010, reason: "r"))
  }

  @Test func `a delivery that was given up is made again after a while, and is no attempt`() {
    let bench = Bench(entries: 1)
    _ = bench.step(1_000)
    _ = bench.lease(at: 1_000)
    bench.finish(Self.entry(1), .abandoned, at: 1_010)
    #expect(bench.step(1_109) == [])
    #expect(bench.step(1_110) == [deliver(Self.entry(1, retryTime: 1_110))])
  }

  @Test func `the queues are looked at again at each poll, and not before`() {
    let bench = Bench(entries: 0)
    #expect(bench.step(1_000) == [])
    bench.entries = [Self.entry(1)]
    #expect(bench.machine.nextTime(now: 1_000) == 1_500)
    #expect(bench.step(1_499) == [])
    #expect(bench.step(1_500) == [.lease(["f"])])
  }

  @Test func `events that were recorded are news once`() {
    let bench = Bench(entries: 0)
    #expect(bench.step(1_000) == [])
    bench.entries = [Self.entry(1)]
    #expect(bench.woken())
    #expect(!bench.woken())
    #expect(bench.step(1_001) == [.lease(["f"])])
  }

  @Test func `a clock that was set back ends the lease, and brings forward what waits`() {
    let bench = Bench(entries: 1)
    _ = bench.step(100_000)
    _ = bench.lease(at: 100_000)
    bench.finish(Self.entry(1), at: 100_000)
    // As far as threads may be out of order, nothing changes.
    #expect(bench.step(100_000 - 100) == [])
    #expect(bench.step(50_000) == [.lease(["f"]), .settle([delivered(1)])])

    let busy = Bench(entries: 1)
    _ = busy.step(100_000)
    busy.machine.leased(["f": .busy(remaining: 100_000)], askedAt: 100_000)
    #expect(busy.step(99_500) == [])
    #expect(busy.step(50_000) == [.lease(["f"])])

    let polling = Bench(entries: 0)
    _ = polling.step(100_000)
    polling.entries = [Self.entry(1)]
    #expect(polling.step(50_000) == [.lease(["f"])])
  }

  @Test func `a closed machine starts nothing, and hands out what is not settled`() {
    let bench = Bench(entries: 2)
    _ = bench.step(1_000)
    _ = bench.lease(at: 1_000)
    bench.finish(Self.entry(1), at: 1_000)
    #expect(bench.close() == [delivered(1)])
    #expect(bench.machine.isClosed)
    #expect(bench.close() == [])
    #expect(bench.step(2_000) == [])
    #expect(bench.machine.nextTime(now: 2_000) == nil)
  }

  @Test func `a removed function gets nothing`() {
    let bench = Bench(entries: 1)
    _ = bench.step(1_000)
    #expect(bench.machine.count == 1)
    bench.machine.setFunctions([:])
    #expect(bench.lease(at: 1_000) == [])
    #expect(bench.machine.count == 0)
    bench.finish(Self.entry(1), at: 1_000)
    #expect(bench.machine.outcomes == [])
  }

  @Test func `a read that failed is made again after a while`() {
    var machine = DispatchMachine(timing: Bench.timing)
    machine.setFunctions(["f": (RetryPolicy(maximumAttempts: 2), DeliveryMachine.Limits())])
    guard case .load(let request, let generation)? = machine.step(now: 1_000).first else {
      Issue.record("nothing is read")
      return
    }
    machine.loadFailed(request, generation: generation, now: 1_000)
    #expect(machine.nextTime(now: 1_000) == 1_100)
    let early = machine.step(now: 1_099)
    #expect(early == [])
    let again = machine.step(now: 1_100)
    #expect(again == [.load(request, generation: generation)])
  }
}
