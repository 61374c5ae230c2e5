import Testing
import VestaTesting

@testable import VestaConcurrency

/// Callers that name a line wait for their own, and the lines take turns.
@Suite struct LinesTests {
  @Test func `lines take turns, and keep their order`() {
    var lines = Lines<String>()
    for name in ["a1", "a2", "a3", "b1", "c1", "c2"] { lines.append(name, inLineOf: String(name.prefix(1))) }
    #expect(lines.count == 6 && lines.elements == ["a1", "a2", "a3", "b1", "c1", "c2"])
    lines.removeAll { $0 == "c1" }
    var served: [String] = []
    while let next = lines.popFirst() {
      served.append(next)
      if next == "a2" { lines.append("d1", inLineOf: "d") }
    }
    #expect(served == ["a1", "b1", "c2", "a2", "a3", "d1"] && lines.count == 0)
    #expect(lines.popFirst() == nil)
  }

  @Test(.timeLimit(.minutes(10))) func `a line of a thousand holds up another one by one`() async throws {
    let queue = FairQueue(limit: 1)
    try await queue.enter()
    let served = Log<String>()
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<1_000 {
      tasks.append(Task { try await queue.run(inLineOf: "long") { served.add("long") } })
      if number % 100 == 99 { while queue.waitingCount < number + 1 { await Task.yield() } }
    }
    tasks.append(Task { try await queue.run(inLineOf: "short") { served.add("short") } })
    while queue.waitingCount < 1_001 { await Task.yield() }
    for task in tasks[0..<400] { task.cancel() }
    queue.leave()
    for task in tasks { _ = await task.result }
    #expect(served.entries.firstIndex(of: "short") ?? 99 <= 1)
    #expect(served.entries.count == 601 && queue.runningCount == 0)
  }
}
