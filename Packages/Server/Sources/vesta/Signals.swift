import Dispatch
import Foundation
import VestaServer

/// The sources of the signals that end the program: Control-C, `kill`, and the end of a terminal.
///
/// `RunSignals` decides about each of them, on this queue.
final class Signals {
  private let queue = DispatchQueue(label: "vesta.signals")
  private let sources: [any DispatchSourceSignal]

  /// Passes signals on for as long as it lives.
  init(to run: RunSignals) {
    // A reader of the output that has ended must not end the program before its export.
    signal(SIGPIPE, SIG_IGN)
    let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { $0 != SIGHUP || !Self.isIgnored(SIGHUP) }
    sources = numbers.map { [queue] number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { run.received(number) }
      source.resume()
      return source
    }
  }

  /// The signals of a run, which end the program by its exit.
  static func run(exportPath: String? = nil) -> RunSignals {
    RunSignals(exportPath: exportPath, say: Main.say) { exit($0) }
  }

  /// Whether the program was started so that a signal is ignored, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    let former = signal(number, SIG_IGN)
    // Functions cannot be compared; this one is a mark, and none that can be called.
    // unsafeBitCast is sound: handlers are addresses, and are only compared.
    return unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
