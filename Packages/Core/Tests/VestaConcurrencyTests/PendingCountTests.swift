import Testing
import VestaConcurrency

@Suite struct PendingCountTests {
  @Test func `nothing under way is no wait`() async {
    let count = PendingCount()
    #expect(await count.waitUntilZero())
    count.begin()
    count.end()
    #expect(await count.waitUntilZero())
  }

  @Test func `a wait ends with the last of what is under way, and not before`() async {
    let count = PendingCount()
    let log = Locked<[String]>([])
    count.begin()
    count.begin()
    let waiting = Task {
      let wasIdle = await count.waitUntilZero()
      log.withLock { $0.append("waited, idle \(wasIdle)") }
    }
    for _ in 0..<100 { await Task.yield() }
    count.end()
    for _ in 0..<100 { await Task.yield() }
    log.withLock { $0.append("the last one") }
    count.end()
    await waiting.value
    #expect(log.withLock { $0 } == ["the last one", "waited, idle false"])
  }
}
