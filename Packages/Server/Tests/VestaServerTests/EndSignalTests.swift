import Foundation
import Testing
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaServer

/// Which signals end a program, and how.
@Suite struct EndSignalTests {
  @Test func `a signal that is delivered twice is one, and a later one ends at once`() {
    var machine = EndSignalMachine(interval: .milliseconds(500))
    #expect(machine.received(at: .seconds(9), isServing: true) == .end)
    for delay in [0, 2, 50, 499] {
      #expect(machine.received(at: .seconds(9) + .milliseconds(delay), isServing: true) == .ignore)
    }
    #expect(machine.received(at: .seconds(9) + .milliseconds(500), isServing: true) == .endAtOnce)
    // The clock was set back.
    #expect(machine.received(at: .seconds(3), isServing: true) == .endAtOnce)
  }

  @Test func `a signal before the server has started ends at once`() {
    var machine = EndSignalMachine(interval: .milliseconds(500))
    #expect(machine.received(at: .zero, isServing: false) == .endAtOnce)
  }

  private let said = Log<String>()
  private let statuses = Log<Int32>()
  private let passed = Log<Int32>()
  private let clock = ManualClock()

  private func signals(exportPath: String? = nil) -> RunSignals {
    RunSignals(exportPath: exportPath, clock: clock.service, say: said.add, endAtOnce: statuses.add)
  }

  @Test func `a run ends in order by the first signal, and at once by a later one`() async {
    let signals = signals(exportPath: "/x")
    signals.serves()
    signals.received(SIGINT)
    signals.received(SIGTERM)
    await signals.untilEnd()
    #expect(said.entries == ["SIGINT: Exporting to /x, then ending. Send it again to end at once."])
    #expect(statuses.entries.isEmpty)
    clock.advance(by: .milliseconds(500))
    signals.received(SIGTERM)
    #expect(said.entries.last == "Ended at once, without the export." && statuses.entries == [128 + SIGTERM])
  }

  @Test func `a command that starts when the run has been ended at once is killed`() {
    let signals = signals()
    signals.serves()
    signals.received(SIGTERM)
    clock.advance(by: .milliseconds(500))
    signals.received(SIGTERM)
    signals.pass(to: passed.add)
    #expect(passed.entries == [SIGKILL] && statuses.entries == [128 + SIGTERM])
  }

  @Test func `signals are the command's while it runs, and the run's after it`() {
    let signals = signals()
    signals.serves()
    signals.received(SIGTERM)
    // A signal before the command is passed on to it.
    signals.pass(to: passed.add)
    signals.received(SIGTERM)
    #expect(passed.entries == [SIGTERM, SIGTERM] && statuses.entries.isEmpty)
    clock.advance(by: .milliseconds(500))
    signals.received(SIGINT)
    #expect(passed.entries == [SIGTERM, SIGTERM, SIGKILL] && statuses.entries == [128 + SIGINT])
    // An export that has begun does not hold the end up.
    signals.pass(to: nil)
    signals.received(SIGINT)
    #expect(passed.entries.count == 3 && statuses.entries == [128 + SIGINT, 128 + SIGINT])
  }

  @Test func `a signal while the server starts ends the program at once`() {
    signals().received(SIGTERM)
    #expect(statuses.entries == [128 + SIGTERM] && said.entries == ["Ended at once."])
  }
}

extension RunSignals {
  /// Signals that end a run as soon as it serves.
  static var ended: RunSignals {
    let signals = RunSignals(say: { _ in }, endAtOnce: { _ in })
    signals.end()
    return signals
  }
}
