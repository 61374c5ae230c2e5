import Testing

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
}
