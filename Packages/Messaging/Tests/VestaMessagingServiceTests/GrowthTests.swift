import Testing
import VestaConcurrency
import VestaTesting

@testable import VestaMessagingService

/// The memory of the service for transports does not grow with the messages that are sent.
@Suite struct GrowthTests {
  @Test(.timeLimit(.minutes(5))) func `a transport that hangs has few messages at once, and a bounded number waits`()
    async
  {
    let queue = PushQueue(limit: 100, lanes: 4)
    let (gate, begun, ended) = (Gate(), Log<Int64>(), Log<Int64>())
    let push: @Sendable (Int64) async -> Void = { number in
      begun.add(number)
      await gate.wait()
      ended.add(number)
    }
    var surplus = 0
    for number in 0..<4 as Range<Int64> {
      surplus += queue.add([number], push)
      // Each is taken out of the line before the next one comes.
      while queue.waitingCount > 0 { await Task.yield() }
    }
    for number in 4..<1_000 as Range<Int64> {
      surplus += queue.add([number], push)
      if queue.waitingCount > 100 { Issue.record("\(queue.waitingCount) wait") }
    }
    await begun.wait { $0.count == 4 }
    #expect(queue.waitingCount == 100 && surplus == 896)
    gate.open()
    await ended.wait { $0.count == 104 }
    #expect(queue.waitingCount == 0)
    // And it goes on.
    #expect(queue.add([7_000], push) == 0)
    await ended.wait { $0.last == 7_000 }
  }

  @Test(.timeLimit(.minutes(5))) func `the messages of one call are handed over in order`() async {
    let queue = PushQueue(limit: 1_000, lanes: 3)
    let pushed = Log<Int64>()
    for call in 0..<20 as Range<Int64> {
      #expect(queue.add((0..<10).map { call * 100 + $0 }) { pushed.add($0) } == 0)
    }
    await pushed.wait { $0.count == 200 }
    for call in 0..<20 as Range<Int64> {
      #expect(pushed.entries.filter { $0 / 100 == call } == (0..<10).map { call * 100 + $0 })
    }
  }
}
