import Testing
import VestaConcurrency
import VestaServiceInterop
import VestaTesting

@testable import VestaMessagingService

/// The lanes of services that work, and of services that may not.
@Suite(.timeLimit(.minutes(10))) struct PushQueueTests {
  @Test func `many names of a machine that hangs leave lanes to the services that work`() async {
    let queue = PushQueue(limit: (100, 100), lanes: (4, 2, 2), known: 10)
    let (gate, pushed) = (Gate(), Log<Int64>())
    func add(_ number: Int64, for service: String) {
      _ = queue.add([PushJob(number: number)], for: service) { job in
        pushed.add(job.number)
        if job.number >= 100 { await gate.wait() }
        return job.number < 100
      }
    }
    add(1, for: "good")
    await pushed.wait { $0 == [1] }
    for number in 0..<10 { add(100 + Int64(number), for: "slow\(number)") }
    await pushed.wait { $0.count == 3 }
    for number in 2...5 { add(Int64(number), for: "good") }
    await pushed.wait { $0.filter { $0 < 100 } == [1, 2, 3, 4, 5] }
    #expect(pushed.entries.count { $0 >= 100 } == 2)
    gate.open()
    await pushed.wait { $0.count == 15 }
    while !queue.isIdle { await Task.yield() }
  }

  @Test func `services that have failed leave lanes to new ones`() async {
    let queue = PushQueue(limit: (100, 100), lanes: (8, 8, 2), known: 10)
    let (gate, pushed) = (Gate(), Log<Int64>())
    func add(_ number: Int64, for service: String) {
      _ = queue.add([PushJob(number: number)], for: service) { job in
        pushed.add(job.number)
        if job.number >= 100 { await gate.wait() }
        return job.number < 10
      }
    }
    for number in 0..<4 { add(10 + Int64(number), for: "bad\(number)") }
    await pushed.wait { $0.count == 4 }
    while !queue.isIdle { await Task.yield() }
    for number in 0..<4 { add(100 + Int64(number), for: "bad\(number)") }
    await pushed.wait { $0.count == 5 }
    for number in 1...3 {
      add(Int64(number), for: "new\(number)")
      await pushed.wait { $0.last == Int64(number) }
    }
    #expect(pushed.entries.count { $0 >= 100 } == 1)
    gate.open()
    await pushed.wait { $0.count == 11 }
    while !queue.isIdle { await Task.yield() }
  }

  @Test func `a service that was not asked is not taken for one that works`() async {
    let queue = PushQueue(limit: (100, 100), lanes: (4, 4, 1), known: 10)
    let (gate, pushed) = (Gate(), Log<Int64>())
    func add(_ number: Int64, for service: String) {
      _ = queue.add([PushJob(number: number)], for: service) { job in
        pushed.add(job.number)
        if job.number >= 100 { await gate.wait() }
        return job.number == 50 ? nil : job.number < 100
      }
    }
    for (number, service) in [(1, "good"), (50, "stale")] {
      add(Int64(number), for: service)
      await pushed.wait { $0.last == Int64(number) }
      while !queue.isIdle { await Task.yield() }
    }
    for number in 0..<4 { add(100 + Int64(number), for: "stale") }
    add(200, for: "slow")
    for number in 2...5 { add(Int64(number), for: "good") }
    await pushed.wait { $0.filter { $0 < 10 } == [1, 2, 3, 4, 5] }
    #expect(pushed.entries.count { $0 >= 100 } == 1)
    gate.open()
    await pushed.wait { $0.count == 11 }
    while !queue.isIdle { await Task.yield() }
  }

  @Test func `the timer of an engine fires once, at the earliest time that was asked for, and not after its end`() {
    let (clock, timer, fired) = (ManualClock(), PushTimer(), Log<Int64>())
    let service = ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) })
    func start(_ time: Int64) {
      timer.start(at: time, after: .microseconds(time), on: service) { fired.add(time) }
    }
    for time in [20, 10, 30] as [Int64] { start(time) }
    clock.advance(by: .microseconds(10))
    #expect(fired.entries == [10])
    clock.advance(by: .microseconds(100))
    #expect(fired.entries == [10])
    start(40)
    timer.close()
    start(50)
    clock.advance(by: .microseconds(100))
    #expect(fired.entries == [10])
  }
}
