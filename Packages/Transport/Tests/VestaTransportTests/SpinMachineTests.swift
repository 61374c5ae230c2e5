import Testing

@testable import VestaTransport

/// The decision of a loop to look for something to do before its thread sleeps.
@Suite struct SpinMachineTests {
  @Test func `a loop looks after one of its last four waits was short`() {
    var machine = SpinMachine(time: 50, connections: 8)
    #expect(!machine.isWorthwhile)
    machine.waited(99)
    for _ in 0..<3 {
      #expect(machine.isWorthwhile)
      machine.waited(100)
    }
    #expect(machine.isWorthwhile)
    machine.waited(100)
    #expect(!machine.isWorthwhile)
  }

  @Test func `a loop without connections, or with many, does not look`() {
    let machine = SpinMachine(time: 50, connections: 8)
    #expect([0, 1, 8, 9].map { machine.mayPay(connections: $0) } == [false, true, true, false])
    #expect(!SpinMachine(time: 0, connections: 8).mayPay(connections: 1))
  }
}
