import Testing
import VestaEventsInterop

@testable import VestaFunctionsService

/// Reads that wait for more events, after one that found the end of the queue.
@Suite struct DeliveryGatheringTests {
  private static let entry = EventEntry(
    function: "f", position: EventPosition(version: 1, number: 0), lane: EventLane(scope: "", path: "a"), time: 0)

  /// A machine that has read the queue to its end at 1,000, gathers for 500, and knows of more events.
  private static func machine() -> DeliveryMachine {
    var limits = DeliveryMachine.Limits()
    limits.gathering = 500
    var machine = DeliveryMachine(function: "f", limits: limits)
    let request = EventPageRequest(function: "f", limit: 128)
    _ = machine.step(now: 1_000, delivers: false)
    machine.loaded(EventPage(entries: [entry], isLast: true), request, generation: 0, now: 1_000)
    machine.woken()
    return machine
  }

  private let read = DeliveryMachine.Action.load(
    EventPageRequest(function: "f", after: DeliveryGatheringTests.entry.position, limit: 128))

  @Test func `events are gathered from the moment of the read on`() {
    var machine = Self.machine()
    for now in [1_000, 1_001, 1_499] as [Int64] {
      let early = machine.step(now: now, delivers: false)
      #expect(early == [], "at \(now)")
    }
    #expect(machine.nextTime == 1_500)
    let due = machine.step(now: 1_500, delivers: false)
    #expect(due == [read])
  }

  @Test func `a clock that was set back ends the gathering`() {
    var machine = Self.machine()
    let next = machine.step(now: 999, delivers: false)
    #expect(next == [read])
  }
}
