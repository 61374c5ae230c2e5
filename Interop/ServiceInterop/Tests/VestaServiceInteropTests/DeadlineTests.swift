import Testing
import VestaConcurrency
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaServiceInterop

@Suite struct DeadlineTests {
  @Test func `a timer is wanted for the earliest deadline alone`() {
    var table = DeadlineTable<String>()
    let first = table.add("60", at: 60)
    #expect(first.isEarliest && table.armed == 60)
    #expect(!table.add("61", at: 61).isEarliest)
    #expect(!table.add("also 60", at: 60).isEarliest)
    #expect(table.add("5", at: 5).isEarliest && table.armed == 5)
    #expect(!table.add("never", at: .max).isEarliest)
    #expect(table.fire(at: 60, now: 60) == [])
    #expect(table.fire(at: 5, now: 5) == ["5"])
    #expect(table.armed == 60)
    #expect(table.remove(first.number) == "60")
    #expect(table.remove(first.number) == nil)
    #expect(table.armed == 60)
    #expect(table.fire(at: 60, now: 61) == ["61", "also 60"])
    #expect(table.armed == nil && table.count == 1)
  }

  @Test func `work is done at its deadline, once, and not after it was cancelled`() {
    let clock = ManualClock()
    let deadlines = ServiceDeadlines(clock.service)
    let log = Log<Int>()
    var registrations: [ListenerRegistration] = []
    for number in 0..<100 {
      registrations.append(deadlines.add(at: clock.now + Int64(100 - number)) { log.add(number) })
    }
    #expect(clock.deadlines.count == 1)
    for number in 0..<50 { registrations[number].cancel() }
    clock.advance(by: .microseconds(20))
    #expect(log.entries == Array((80..<100).reversed()))
    clock.advance(by: .microseconds(100))
    #expect(log.entries == Array((50..<100).reversed()))
    #expect(clock.deadlines == [])
  }

  @Test func `what has been forgotten stops its timer`() {
    let clock = ManualClock()
    var deadlines: ServiceDeadlines? = ServiceDeadlines(clock.service)
    let registration = deadlines?.add(at: clock.now + 5) {}
    deadlines = nil
    #expect(clock.deadlines == [])
    registration?.cancel()
  }
}
