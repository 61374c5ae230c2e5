import Testing
import VestaFirestoreBackend
import VestaFirestoreSync

@Suite struct StreamMachineTests {
  private typealias Step = StreamMachine.Step

  private func start(_ machine: inout StreamMachine, now: Double = 0) -> [Step] {
    machine.start(now: now, random: 0.5)
  }

  private func error(_ code: ServiceCode) -> FirestoreServiceError { FirestoreServiceError(code, "broken") }

  /// A stream that is open, of which `count` connections have failed before.
  private func open(after count: Int = 0) -> StreamMachine {
    var machine = StreamMachine(.watch)
    for _ in 0..<count {
      _ = start(&machine)
      _ = machine.backoffEnded()
      _ = machine.closed(error(.unavailable))
    }
    _ = start(&machine)
    _ = machine.backoffEnded()
    _ = machine.opened()
    return machine
  }

  @Test func `a stream connects at once, is open, and after ten seconds healthy`() {
    var machine = StreamMachine(.watch)
    #expect(!machine.isStarted && !machine.isConnected && !machine.isOpen)
    #expect(start(&machine) == [.connect(refreshesTokens: false)])
    #expect(machine.isStarted && machine.isConnected && !machine.isOpen && machine.connection == 1)
    #expect(machine.opened() == [.startTimer(.watchHealth, seconds: 10)])
    #expect(machine.isOpen && machine.state == .open)
    machine.becomeHealthy()
    #expect(machine.isOpen && machine.state == .healthy)
  }

  @Test func `only an open stream becomes healthy`() {
    var machine = StreamMachine(.watch)
    machine.becomeHealthy()
    #expect(machine.state == .initial)
    _ = start(&machine)
    machine.becomeHealthy()
    #expect(machine.state == .starting)
  }

  @Test func `the first attempt after a failure is immediate, the next one waits`() {
    var machine = open()
    #expect(machine.closed(error(.unavailable)) == [.cancelTimer(.watchBackoff), .cancelTimer(.watchHealth)])
    #expect(!machine.isStarted && machine.state == .failed)
    #expect(start(&machine) == [.connect(refreshesTokens: false)])
    #expect(machine.connection == 2)
    _ = machine.closed(error(.unavailable))
    #expect(start(&machine) == [.startTimer(.watchBackoff, seconds: 1)])
    #expect(machine.isStarted && !machine.isConnected && machine.connection == 2)
    #expect(machine.backoffEnded() == [.connect(refreshesTokens: false)])
    #expect(machine.connection == 3)
    #expect(machine.backoffEnded().isEmpty)
  }

  @Test func `a response makes the next attempt immediate`() {
    var machine = open(after: 4)
    machine.resetBackoff()
    _ = machine.closed(error(.unavailable))
    #expect(start(&machine) == [.connect(refreshesTokens: false)])
  }

  @Test(arguments: [ServiceCode.resourceExhausted, .dataLoss])
  func `after some failures the next attempt waits for the longest time`(code: ServiceCode) {
    var machine = open()
    _ = machine.closed(error(code))
    #expect(start(&machine) == [.startTimer(.watchBackoff, seconds: 60)])
  }

  @Test func `lost data of a write stream is a failure like others`() {
    var machine = StreamMachine(.write)
    _ = start(&machine)
    _ = machine.opened()
    _ = machine.closed(error(.dataLoss))
    #expect(start(&machine) == [.connect(refreshesTokens: false)])
  }

  @Test func `tokens that were refused are fetched again once, unless the stream had been healthy`() {
    var machine = open()
    _ = machine.closed(error(.unauthenticated))
    #expect(start(&machine) == [.connect(refreshesTokens: true)])
    _ = machine.closed(error(.unavailable))
    _ = start(&machine)
    #expect(machine.backoffEnded() == [.connect(refreshesTokens: false)])
    _ = machine.opened()
    machine.becomeHealthy()
    machine.resetBackoff()
    _ = machine.closed(error(.unauthenticated))
    #expect(start(&machine) == [.connect(refreshesTokens: false)])
  }

  @Test func `an open stream with nothing to do is idle for a minute, and something to send ends that`() {
    var machine = open()
    #expect(machine.sending().isEmpty)
    #expect(machine.markIdle() == [.startTimer(.watchIdle, seconds: 60)])
    #expect(machine.markIdle().isEmpty)
    #expect(machine.sending() == [.cancelTimer(.watchIdle)])
    #expect(machine.sending().isEmpty)
    #expect(machine.markIdle() == [.startTimer(.watchIdle, seconds: 60)])
    #expect(
      machine.closed(nil) == [.cancelTimer(.watchBackoff), .cancelTimer(.watchHealth), .cancelTimer(.watchIdle)])
    #expect(machine.state == .initial)
    #expect(machine.markIdle().isEmpty)
  }

  @Test func `a stream that is stopped disconnects if it is connected, and its next attempt is immediate`() {
    var machine = open(after: 3)
    #expect(machine.stop() == [.cancelTimer(.watchBackoff), .cancelTimer(.watchHealth), .disconnect])
    #expect(machine.state == .initial)
    #expect(machine.stop().isEmpty)
    #expect(start(&machine) == [.connect(refreshesTokens: false)])
    _ = machine.closed(error(.unavailable))
    _ = start(&machine)
    _ = machine.closed(error(.unavailable))
    _ = start(&machine)
    #expect(machine.state == .backingOff)
    #expect(machine.stop() == [.cancelTimer(.watchBackoff), .cancelTimer(.watchHealth)])
  }

  @Test func `a stop lets a failed stream start at once`() {
    for ends in [true, false] {
      var machine = open(after: 5)
      _ = machine.closed(error(.unavailable))
      if ends { #expect(machine.stop().isEmpty) } else { machine.inhibitBackoff() }
      #expect(machine.state == .initial)
      #expect(start(&machine) == [.connect(refreshesTokens: false)])
      _ = machine.closed(error(.unavailable))
      #expect(start(&machine, now: 1_000) == [.connect(refreshesTokens: false)])
    }
  }
}
