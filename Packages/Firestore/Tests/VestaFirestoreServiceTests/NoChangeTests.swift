import Testing
import VestaFirestoreBackend
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Commits that change nothing have a time, too.
struct NoChangeTests {
  @Test func `a commit that changes nothing has a later time, and the document keeps its own`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let first = try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    var last = first.commitTime
    for round in 0..<6 {
      if round == 3 { clock.advance(seconds: 5) }
      let again = try await engine.commit(update("rooms/a", ["n": .integer(1)]))
      #expect(again.commitTime > last)
      #expect(again.writeResults.map(\.updateTime) == [first.commitTime])
      last = again.commitTime
      let document = try await engine.get("rooms/a", .readTime(last))
      #expect(document?.updateTime == first.commitTime && document?.fields["n"] == .integer(1))
    }
    #expect(try await engine.commit(.delete(name("rooms/none"))).commitTime > last)
    // The next commit is later than all of them.
    let next = try await engine.commit(update("rooms/a", ["n": .integer(2)]))
    #expect(next.commitTime > last)
    #expect(try await engine.get("rooms/a", .readTime(last))?.fields["n"] == .integer(1))
  }

  @Test(arguments: [true, false])
  func `a write call answers a request that changes nothing with a later time`(isKept: Bool) async throws {
    let engine = makeEngine()
    let first = try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let call = try await engine.write(database: database, context: owner)
    call.send(WriteRequest(database: database))
    let same = update("rooms/a", ["n": .integer(1)])
    let id = isKept ? WriteRequestID(queue: (1...16).map { UInt8($0) }, number: 1) : nil
    call.send(WriteRequest(writes: [same], id: id))
    call.finish()
    var responses: [WriteResponse] = []
    for try await batch in call.responses { responses += batch }
    let answer = try #require(responses.last)
    #expect(try #require(answer.commitTime) > first.commitTime)
    #expect(answer.writeResults.map(\.updateTime) == [first.commitTime])
  }

  /// Tasks that change something and tasks that do not: times of changes are unique, and no time is one of the past.
  @Test func `times of commits that change nothing fit between the others`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(0)]), update("rooms/b", ["n": .integer(0)]))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...60 { try await engine.commit(update("rooms/a", ["n": .integer(Int64(number))])) }
      }
      for _ in 0..<3 {
        group.addTask {
          var last = Timestamp(seconds: 0)
          for _ in 0..<40 {
            let time = try await engine.commit(update("rooms/b", ["n": .integer(0)])).commitTime
            #expect(time >= last)
            last = time
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(60))
  }
}
