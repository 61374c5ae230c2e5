import Foundation
import VestaConcurrency

/// A command that runs in the process group and with the streams of this process, as one that a shell has started.
final class ChildProcess: Sendable {
  /// How a command has ended.
  enum End: Sendable, Hashable {
    /// By itself, with a status from 0 to 255.
    case exited(Int32)
    /// By a signal.
    case killed(Int32)

    /// The status that a shell would report.
    var status: Int32 {
      switch self {
      case .exited(let status): status
      case .killed(let signal): 128 + signal
      }
    }
  }

  private let identifier: pid_t
  private let outcome = Locked<End?>(nil)
  private let isOver = Latch()

  /// Starts a command.
  ///
  /// Signals that this process ignores have their usual effect on the command.
  ///
  /// - Parameters:
  ///   - words: The program, which is looked up in `PATH`, and its arguments.
  ///   - variables: All variables of its environment.
  /// - Throws: ``ServerError`` where there is no such program.
  init(_ words: [String], variables: [String: String]) throws(ServerError) {
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
    #else
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    Self.setUsualSignals(of: &attributes)
    // Unsafe pointers: C strings that are freed when the program has been started.
    var arguments = words.map { strdup($0) } + [nil]
    var environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + environment { free(text) } }
    var child: pid_t = 0
    let failure = posix_spawnp(&child, words.first ?? "", nil, &attributes, &arguments, &environment)
    guard failure == 0 else {
      throw ServerError("The command \(words.first ?? "") cannot be started: \(String(cString: strerror(failure))).")
    }
    identifier = child
    awaitEnd()
  }

  #if canImport(Darwin)
    private typealias Attributes = posix_spawnattr_t?
  #else
    private typealias Attributes = posix_spawnattr_t
  #endif

  private static func setUsualSignals(of attributes: inout Attributes) {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // Threads of the pool block signals, and a command would inherit that.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    posix_spawnattr_setsigmask(&attributes, &blocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
  }

  private func awaitEnd() {
    Thread.detachNewThread { [outcome, isOver, identifier] in
      let end = Self.wait(for: identifier)
      outcome.withLock { $0 = end }
      isOver.open()
    }
  }

  /// The end of the command.
  var end: End {
    get async {
      await isOver.wait()
      return outcome.withLock { $0 } ?? .exited(1)
    }
  }

  /// Sends the command a signal; nothing happens after its end.
  func signal(_ number: Int32) {
    if outcome.withLock({ $0 }) == nil { kill(identifier, number) }
  }

  private static func wait(for child: pid_t) -> End {
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      if errno != EINTR { return .exited(1) }
    }
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
  }
}
