import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaFunctionsService

@Suite struct TimerSlotTests {
  @Test func `a timer that fires before the call that sets it has returned does not stand for a later one`() {
    let clock = ServiceClock(now: { 0 }) { _, work in
      work()
      return ListenerRegistration {}
    }
    let (slot, log) = (TimerSlot(clock), Log<Int>())
    for number in 1...3 { slot.set(at: Int64(number), keepsEarlier: true) { log.add(number) } }
    #expect(log.entries == [1, 2, 3])
  }

  @Test func `an earlier timer stays or is replaced, and a closed slot has none`() {
    let (clock, log) = (ManualClock(at: 0), Log<Int>())
    let slot = TimerSlot(clock.service)
    slot.set(at: 5) { log.add(5) }
    slot.set(at: 7, keepsEarlier: true) { log.add(7) }
    clock.advance(to: 8)
    slot.set(at: 10) { log.add(10) }
    slot.set(at: 12) { log.add(12) }
    clock.advance(to: 20)
    slot.set(at: 30) { log.add(30) }
    slot.close()
    slot.set(at: 40) { log.add(40) }
    clock.advance(to: 50)
    #expect(log.entries == [5, 12])
    #expect(clock.deadlines == [])
  }
}
