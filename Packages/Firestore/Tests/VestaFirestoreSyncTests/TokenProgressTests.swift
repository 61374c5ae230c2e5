import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

@Suite struct TokenProgressTests {
  private let record: TargetRecord
  private var progress = TokenProgress()

  init() throws {
    let target = QueryTarget(database: database, path: path("rooms/a"))
    record = TargetRecord(target, id: 2, sequenceNumber: 1)
  }

  private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

  @Test mutating func `a target gets the newest token once, and only while it follows the stream`() {
    progress.advance(to: [1], at: time(10))
    #expect(progress.settle(2, record) == nil)
    progress.follow(2)
    #expect(progress.settle(2, record) == nil)
    progress.advance(to: [2], at: time(20))
    progress.advance(to: [3], at: time(30))
    let settled = progress.settle(2, record)
    #expect(settled?.resumeToken == [3] && settled?.snapshotVersion == time(30))
    #expect(progress.settle(2, record) == nil)
    progress.advance(to: [4], at: time(40))
    progress.forget(2)
    #expect(progress.settle(2, record) == nil)
  }

  @Test mutating func `an empty token is none`() {
    progress.follow(2)
    progress.advance(to: [], at: time(10))
    #expect(progress.settle(2, record) == nil)
    #expect(!progress.isStale(after: 5))
  }

  @Test mutating func `records are stale after an interval, until all of them have been brought up to date`() {
    progress.follow(4)
    progress.follow(2)
    progress.advance(to: [1], at: time(299))
    #expect(!progress.isStale(after: 300))
    progress.advance(to: [2], at: time(300))
    #expect(progress.isStale(after: 300))
    #expect(progress.takeAll() == [2, 4])
    #expect(progress.settledVersion == time(300) && !progress.isStale(after: 300))
    progress.end()
    #expect(progress.takeAll().isEmpty)
  }

  @Test func `a target without listeners follows no stream`() throws {
    let machine = ClientMachine(
      ClientMachine.Configuration(database: database),
      local: LocalStore(database: database, user: "", policy: .eager))
    machine.enableNetwork()
    let id = try #require(machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 1))
    machine.core.listen(try query("halls"), options: ListenOptions(), listener: 2)
    machine.watch.opened(stream: 1)
    machine.watch.received(stream: 1, .targetChange(TargetChange(.add, targetIDs: [id])))
    machine.watch.received(
      stream: 1, .targetChange(TargetChange(.current, targetIDs: [id], resumeToken: [1], readTime: time(9))))
    machine.watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [1], readTime: time(9))))
    #expect(machine.watch.progress.takeAll() == [id])
    machine.core.unlisten(1)
    #expect(machine.watch.progress.takeAll().isEmpty)
  }
}
