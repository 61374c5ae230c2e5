import Foundation
import VestaConcurrency
import VestaServiceInterop

/// The signals that a program receives while it serves: the place where each one is decided about.
///
/// | signal | while it starts | while it serves | while its command runs |
/// | --- | --- | --- | --- |
/// | the first | the program ends at once | the run ends, with its export | passed on |
/// | the same, delivered twice | | nothing | passed on |
/// | a later one | | the program ends at once | the command is killed, and the program ends at once |
///
/// The decision is made on the thread that received the signal, so that an export that has begun, or a command that
/// cannot be killed, does not hold it up.
public final class RunSignals: Sendable {
  private struct State {
    var machine: EndSignalMachine
    var isServing = false
    /// The signal for a command that starts after the run has ended.
    var ending: Int32?
    /// Sends a signal to the command that runs.
    var command: (@Sendable (Int32) -> Void)?
  }

  private let state: Locked<State>
  private let clock: ServiceClock
  private let start: Int64
  private let exportPath: String?
  private let say: @Sendable (String) -> Void
  private let endAtOnce: @Sendable (Int32) -> Void
  private let isEnding = Latch()

  /// No signal yet.
  ///
  /// - Parameters:
  ///   - exportPath: The directory that is exported to before the end, if that was asked for.
  ///   - say: Takes what a person wants to read.
  ///   - endAtOnce: Ends the program, with a status.
  public convenience init(
    exportPath: String? = nil, say: @escaping @Sendable (String) -> Void,
    endAtOnce: @escaping @Sendable (_ status: Int32) -> Void
  ) {
    self.init(exportPath: exportPath, clock: .system, say: say, endAtOnce: endAtOnce)
  }

  /// - Parameter clock: The clock by which a signal is a later one.
  init(
    exportPath: String? = nil, clock: ServiceClock, say: @escaping @Sendable (String) -> Void,
    endAtOnce: @escaping @Sendable (Int32) -> Void
  ) {
    (self.exportPath, self.clock, self.say, self.endAtOnce) = (exportPath, clock, say, endAtOnce)
    start = clock.now()
    state = Locked(State(machine: EndSignalMachine(interval: ServerTuning().signalInterval)))
  }

  /// Takes a signal, on any thread.
  public func received(_ number: Int32) {
    let time = Duration.microseconds(clock.now() - start)
    let (action, command) = state.withLock { state in
      let action = state.machine.received(at: time, isServing: state.isServing)
      switch action {
      case .end: state.ending = number
      case .endAtOnce: state.ending = SIGKILL
      default: break
      }
      return (action, state.command)
    }
    if action == .endAtOnce {
      command?(SIGKILL)
      say(exportPath == nil ? "Ended at once." : "Ended at once, without the export.")
      return endAtOnce(128 + number)
    }
    if let command { return command(number) }
    guard action == .end else { return }
    say(Self.sentence(about: number, exportPath))
    isEnding.open()
  }

  /// From now on the first signal ends the run in order.
  public func serves() { state.withLock { $0.isServing = true } }

  /// Ends the run, as the first signal does.
  func end() { isEnding.open() }

  /// Passes signals on to a command, also an earlier one; `nil` when it has ended.
  func pass(to command: (@Sendable (Int32) -> Void)?) {
    let (former, ending) = state.withLock { state in
      defer { state.command = command }
      return (state.command, state.ending)
    }
    if let ending { command?(ending) }
    withExtendedLifetime(former) {}
  }

  /// Waits for the signal that ends the run.
  func untilEnd() async { await isEnding.wait() }

  private static let names = [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGQUIT: "SIGQUIT"]

  private static func sentence(about number: Int32, _ exportPath: String?) -> String {
    let work = exportPath.map { "Exporting to \($0), then ending" } ?? "Ending"
    return "\(names[number] ?? ""): \(work). Send it again to end at once."
  }
}
