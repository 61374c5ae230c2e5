import Testing

@testable import VestaServer

/// Which signals end a program.
@Suite struct EndSignalTests {
  @Test func `a signal that is delivered twice is one, and a later one ends at once`() {
    var machine = EndSignalMachine(interval: .milliseconds(500))
    #expect(machine.received(at: .seconds(9), isServing: true) == .end)
    for delay in [0, 2, 50, 499] {
      #expect(machine.received(at: .seconds(9) + .milliseconds(delay), isServing: true) == .ignore)
    }
    #expect(machine.received(at: .seconds(9) + .milliseconds(500), isServing: true) == .endAtOnce)
  }

  @Test func `a signal before the server has started ends at once`() {
    var machine = EndSignalMachine()
    #expect(machine.received(at: .zero, isServing: false) == .endAtOnce)
  }
}
