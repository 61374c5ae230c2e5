import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

@Suite struct OnlineStateMachineTests {
  private typealias Outcome = OnlineStateMachine.Outcome

  @Test func `waiting for a first message has one timer`() {
    var machine = OnlineStateMachine()
    #expect(machine.streamStarting() == Outcome(timer: .start))
    #expect(machine.streamStarting() == Outcome())
    #expect(machine.state == .unknown)
  }

  @Test func `waiting for too long makes the client offline, and is reported once`() {
    var machine = OnlineStateMachine()
    _ = machine.streamStarting()
    #expect(machine.timerFired() == Outcome(state: .offline, warns: true))
    #expect(machine.timerFired() == Outcome())
    #expect(machine.state == .offline)
    #expect(machine.update(.unknown) == Outcome(state: .unknown))
    _ = machine.streamStarting()
    #expect(machine.timerFired() == Outcome(state: .offline))
  }

  @Test func `one failure makes the client offline and ends the waiting`() {
    var machine = OnlineStateMachine()
    _ = machine.streamStarting()
    #expect(machine.streamFailed() == Outcome(state: .offline, timer: .cancel, warns: true))
    #expect(machine.streamFailed() == Outcome())
    // While attempts fail, the client stays offline.
    #expect(machine.streamStarting() == Outcome())
    #expect(machine.timerFired() == Outcome())
    #expect(machine.state == .offline)
  }

  @Test func `a message makes the client online, and nothing is reported after that`() {
    var machine = OnlineStateMachine()
    _ = machine.streamStarting()
    #expect(machine.update(.online) == Outcome(state: .online, timer: .cancel))
    #expect(machine.update(.online) == Outcome())
    // The first failure of a client that was online is no offline state yet.
    #expect(machine.streamFailed() == Outcome(state: .unknown))
    #expect(machine.streamStarting() == Outcome(timer: .start))
    #expect(machine.streamFailed() == Outcome(state: .offline, timer: .cancel))
  }

  @Test func `after a failure, a message lets the next stream be waited for again`() {
    var machine = OnlineStateMachine()
    _ = machine.streamFailed()
    #expect(machine.update(.online) == Outcome(state: .online))
    #expect(machine.update(.unknown) == Outcome(state: .unknown))
    #expect(machine.streamStarting() == Outcome(timer: .start))
  }

  @Test func `a client that waits for too long says so once`() throws {
    let machine = ClientMachine(
      ClientMachine.Configuration(database: database),
      local: LocalStore(database: database, user: "", policy: .eager))
    machine.enableNetwork()
    machine.core.listen(try query("rooms"), options: ListenOptions(), listener: 1)
    var warnings = 0
    for _ in 0..<2 {
      machine.timerFired(.onlineState)
      for case .warnUnreachable in machine.takeActions() { warnings += 1 }
    }
    #expect(warnings == 1)
  }

  @Test func `a view has seen the last snapshot of the backend only if it arrived after the view began`() {
    var views = ViewTable()
    views.lastSnapshot = (Timestamp(seconds: 7), 3)
    #expect(views.seenVersion(begun: 2) == Timestamp(seconds: 7))
    #expect(views.seenVersion(begun: 3) == .zero)
  }
}
