import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaMessagingService

/// The memory of the service for transports does not grow with the messages that are sent, and a service that hangs
/// delays no other.
@Suite(.timeLimit(.minutes(5))) struct GrowthTests {
  private func jobs(_ numbers: Range<Int64>) -> [PushJob] { numbers.map { PushJob(number: $0) } }

  @Test func `a transport that hangs has few messages at once, and a bounded number waits`() async {
    let queue = PushQueue(limit: (100, 100), lanes: (4, 4, 4), known: 100)
    let (gate, begun, ended) = (Gate(), Log<Int64>(), Log<Int64>())
    var surplus = 0
    for number in 0..<1_000 as Range<Int64> {
      surplus +=
        queue.add([PushJob(number: number)], for: "a") { job in
          begun.add(job.number)
          await gate.wait()
          ended.add(job.number)
          return true
        }.count
      if number == 0 { await begun.wait { $0.count == 1 } }
      if queue.waitingCount > 100 { Issue.record("\(queue.waitingCount) wait") }
    }
    // A service begins with one message at once.
    #expect(begun.entries.count == 1 && queue.waitingCount == 100 && queue.room == 0 && surplus == 899)
    gate.open()
    await ended.wait { $0.count == 101 }
    #expect(queue.waitingCount == 0)
    // And it continues.
    _ = queue.add([PushJob(number: 7_000)], for: "a") { job in
      ended.add(job.number)
      return true
    }
    await ended.wait { $0.last == 7_000 }
  }

  @Test func `the messages of one call to one registration are handed over in order`() async {
    let queue = PushQueue(limit: (1_000, 1_000), lanes: (3, 2, 3), known: 100)
    let pushed = Log<Int64>()
    for call in 0..<20 as Range<Int64> {
      let surplus = queue.add(jobs(call * 100..<call * 100 + 10), for: call.isMultiple(of: 2) ? "a" : "b") { job in
        pushed.add(job.number)
        return job.number % 7 > 0
      }
      #expect(surplus.isEmpty)
    }
    await pushed.wait { $0.count == 200 }
    for call in 0..<20 as Range<Int64> {
      #expect(pushed.entries.filter { $0 / 100 == call } == (0..<10).map { call * 100 + $0 })
    }
  }

  @Test func `services that hang have their own lines, and others are served at the same time`() async {
    let queue = PushQueue(limit: (300, 20), lanes: (60, 4, 60), known: 100)
    let (gate, hanging, served) = (Gate(), Log<Int64>(), Log<Int64>())
    let push: @Sendable (PushJob) async -> Bool = { job in
      guard job.number < 1_000 else {
        served.add(job.number)
        return true
      }
      hanging.add(job.number)
      await gate.wait()
      return false
    }
    for number in 0..<100 as Range<Int64> {
      _ = queue.add([PushJob(number: number)], for: "slow \(number % 5)", push)
      #expect(queue.add([PushJob(number: 1_000 + number)], for: "good", push).isEmpty)
      await served.wait { $0.count == number + 1 }
    }
    #expect(hanging.entries.count == 5 && queue.waitingCount == 95)
    gate.open()
    await hanging.wait { $0.count == 100 }
  }

  @Test func `a service has more messages at once as it accepts them, up to a limit, and one after a failure`() async {
    let queue = PushQueue(limit: (1_000, 1_000), lanes: (100, 5, 100), known: 100)
    let (running, highest, done) = (Locked(0), Locked(0), Log<Int64>())
    let push: @Sendable (PushJob) async -> Bool = { job in
      let count = running.withLock { count in
        count += 1
        return count
      }
      highest.withLock { $0 = max($0, count) }
      for _ in 0..<20 { await Task.yield() }
      running.withLock { $0 -= 1 }
      done.add(job.number)
      return job.number >= 0
    }
    for number in 0..<300 as Range<Int64> { _ = queue.add([PushJob(number: number)], for: "a", push) }
    await done.wait { $0.count == 300 }
    #expect(highest.withLock { $0 } == 5)
    highest.withLock { $0 = 0 }
    for number in -100..<0 as Range<Int64> { _ = queue.add([PushJob(number: number)], for: "b", push) }
    await done.wait { $0.count == 400 }
    #expect(highest.withLock { $0 } == 1)
  }
}
