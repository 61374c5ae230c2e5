import VestaAuthBackend
import VestaConcurrency

/// Lets callers hash passwords in turns: one who guesses without end holds up nobody but himself.
///
/// A caller is a network address, or where none is known the account that is asked for. Each waits in a line of its own, and
/// the lines are served one after the other. The lines are bounded, one by one and together: beyond that a call is
/// refused at once, which costs nothing.
final class HashingQueue: Sendable {
  private struct State {
    var lines: [String: Int] = [:]
    var waiting = 0
  }

  private let state = Locked(State())
  private let queue: FairQueue
  private let limit: Int
  private let perCaller: Int

  /// - Parameters:
  ///   - limit: How many calls may hash or wait together.
  ///   - perCaller: How many of one caller.
  ///   - running: How many hash at the same time: as many as there are cores.
  init(waiting limit: Int, perCaller: Int, running: Int = Platform.processors) {
    queue = FairQueue(limit: running)
    (self.limit, self.perCaller) = (max(1, limit), max(1, perCaller))
  }

  /// The number of calls that hash.
  var runningCount: Int { queue.runningCount }

  /// The number of calls that wait.
  var waitingCount: Int { queue.waitingCount }

  /// Hashes when it is the caller's turn.
  func run<Result>(for caller: String, _ body: () async throws -> Result) async throws -> Result {
    let isAdmitted = state.withLock { state -> Bool in
      guard state.waiting < limit, state.lines[caller, default: 0] < perCaller else { return false }
      state.waiting += 1
      state.lines[caller, default: 0] += 1
      return true
    }
    guard isAdmitted else {
      throw AuthServiceError(.tooManyAttempts, "Too many passwords wait to be compared. Please try again later.")
    }
    defer {
      state.withLock { state in
        state.waiting -= 1
        let left = (state.lines[caller] ?? 1) - 1
        state.lines[caller] = left > 0 ? left : nil
      }
    }
    return try await queue.run(inLineOf: caller, body)
  }
}
