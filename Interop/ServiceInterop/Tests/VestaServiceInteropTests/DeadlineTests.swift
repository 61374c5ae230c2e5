import Testing
import VestaConcurrency
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaServiceInterop

@Suite struct DeadlineTests {
  @Test func `a timer is wanted for the earliest deadline alone`() throws {
    var table = DeadlineTable<String>()
    let first = table.add("60", at: 60)
    let stale = try #require(first.timer)
    #expect(stale.deadline == 60 && table.timer == stale)
    #expect(table.add("61", at: 61).timer == nil)
    #expect(table.add("also 60", at: 60).timer == nil)
    let early = try #require(table.add("5", at: 5).timer)
    #expect(early.deadline == 5 && table.timer == early)
    #expect(table.add("never", at: .max).timer == nil)
    #expect(table.fire(stale, now: 60) == ([], nil))
    let (due, next) = table.fire(early, now: 5)
    let timer = try #require(next)
    #expect(due == ["5"] && timer.deadline == 60 && table.timer == timer)
    #expect(table.fire(stale, now: 60) == ([], nil))
    #expect(table.remove(first.number) == "60")
    #expect(table.remove(first.number) == nil)
    #expect(table.timer == timer)
    #expect(table.fire(timer, now: 61) == (["61", "also 60"], nil))
    #expect(table.timer == nil && table.count == 1)
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

  @Test func `equal deadlines that are added while the timer of the first is set and fires all have their work done`() {
    let clock = ManualClock()
    let isFirst = Locked(true)
    let hasty = ServiceClock(now: { clock.now }) { delay, work in
      let timer = clock.schedule(after: delay, work)
      // The timer fires before the call that set it has the registration.
      let fires = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if fires { clock.fireNext() }
      return timer
    }
    let deadlines = ServiceDeadlines(hasty)
    let log = Log<Int>()
    let (deadline, second) = (clock.now + 5, Locked<ListenerRegistration?>(nil))
    let first = deadlines.add(at: deadline) {
      log.add(1)
      second.withLock { $0 = deadlines.add(at: deadline) { log.add(2) } }
    }
    clock.advance(by: .microseconds(1))
    #expect(log.entries == [1, 2])
    #expect(deadlines.count == 0 && clock.deadlines == [])
    withExtendedLifetime((first, second)) {}
  }

  @Test(arguments: UInt64(1)...40)
  func `each of many equal deadlines has its work done at its time, once, whatever the order of calls`(seed: UInt64) {
    let calls = DeadlineCalls(seed: seed, most: 200)
    for _ in 0..<100 { calls.addOne() }
    while calls.clock.fireNext() {}
    #expect(calls.done.entries.sorted() == Array(0..<calls.count))
    #expect(calls.deadlines.count == 0)
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

/// Random calls on deadlines, most of them equal, by a clock that also moves on while a timer is set.
private final class DeadlineCalls: Sendable {
  let clock: ManualClock
  let deadlines: ServiceDeadlines
  /// The numbers of the deadlines whose work was done.
  let done = Log<Int>()
  private let most: Int
  private let registrations = Locked<[ListenerRegistration]>([])
  private let random: Locked<SplitMix>

  init(seed: UInt64, most: Int) {
    let (clock, random) = (ManualClock(), Locked(SplitMix(seed: seed)))
    (self.clock, self.random, self.most) = (clock, random, most)
    deadlines = ServiceDeadlines(
      ServiceClock(now: { clock.now }) { delay, work in
        let timer = clock.schedule(after: delay, work)
        if random.withLock({ $0.oneIn(2) }) { clock.fireNext() }
        return timer
      })
  }

  /// The number of deadlines that were added.
  var count: Int { registrations.withLock { $0.count } }

  /// Adds a deadline, whose work may add another one, and may let time pass.
  func addOne() {
    let deadline = clock.now + Int64(random.withLock { $0.below(3) })
    let number = registrations.withLock { registrations in
      registrations.append(ListenerRegistration {})
      return registrations.count - 1
    }
    let registration = deadlines.add(at: deadline) { [self] in
      #expect(clock.now >= deadline)
      done.add(number)
      if count < most, random.withLock({ $0.oneIn(2) }) { addOne() }
    }
    registrations.withLock { $0[number] = registration }
    if random.withLock({ $0.oneIn(4) }) { clock.advance(by: .microseconds(random.withLock { $0.below(3) })) }
  }
}
