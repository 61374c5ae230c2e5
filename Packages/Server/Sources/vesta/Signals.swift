import Dispatch
import Foundation
import VestaConcurrency
import VestaServer

/// The signals that end the program: by Control-C, by `kill`, and when a terminal is closed.
final class Signals {
  /// Whether the server runs: signals end it then, and before that the program at once.
  let isServing = Locked(false)

  private static let names = [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP", SIGQUIT: "SIGQUIT"]

  private let queue = DispatchQueue(label: "vesta.signals")
  private let start = ContinuousClock.now
  private var sources: [any DispatchSourceSignal] = []

  /// The numbers of the signals, as they arrive.
  ///
  /// - Parameters:
  ///   - exportPath: The directory that is exported to before the end, if that was asked for.
  ///   - passesOn: Whether all signals to a server that runs are in the stream, because another program decides.
  func stream(exportPath: String? = nil, passesOn: Bool = false) -> AsyncStream<Int32> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    // A reader of the output that has ended must not end the program before its export.
    signal(SIGPIPE, SIG_IGN)
    let numbers = Self.names.keys.filter { $0 != SIGHUP || !Self.isIgnored(SIGHUP) }
    let machine = Locked(EndSignalMachine())
    sources = numbers.map { [queue] number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { [isServing, start] in
        let isServing = isServing.withLock { $0 }
        let action = machine.withLock { $0.received(at: start.duration(to: .now), isServing: isServing) }
        switch passesOn && isServing ? .end : action {
        case .ignore: return
        case .endAtOnce:
          Main.say(exportPath == nil ? "Ended at once." : "Ended at once, without the export.")
          exit(128 + number)
        case .end:
          if !passesOn { Main.say(Self.sentence(about: number, exportPath)) }
          continuation.yield(number)
          // The run ends by itself; an export that has begun, or a command that cannot be killed, would hold it up.
          if action == .endAtOnce { queue.asyncAfter(deadline: .now() + 1) { exit(128 + number) } }
        }
      }
      source.resume()
      return source
    }
    return stream
  }

  private static func sentence(about number: Int32, _ exportPath: String?) -> String {
    let work = exportPath.map { "Exporting to \($0), then ending" } ?? "Ending"
    return "\(names[number] ?? ""): \(work). Send it again to end at once."
  }

  /// Whether the program was started so that a signal is ignored, as `nohup` does.
  private static func isIgnored(_ number: Int32) -> Bool {
    let former = signal(number, SIG_IGN)
    // Functions cannot be compared; this one is a mark, and none that can be called.
    // unsafeBitCast is sound: handlers are addresses, and are only compared.
    return unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
