import VestaAuthBackend
import VestaConcurrency

/// Lets callers hash passwords in turns: a caller who guesses without end delays only himself.
///
/// A caller is a network address, or where none is known the account that is asked for. Each waits in a line of its
/// own, and the lines take turns. The lines of addresses are bounded, and all lines together: beyond that a call is
/// refused at once, which costs nothing.
final class HashingQueue: Sendable {
  private struct State {
    var lines: [String: Int] = [:]
    var waiting = 0
  }

  private let state = Locked(State())
  private let places: FairShares<String>
  private let limit: Int
  private let perCaller: Int

  /// - Parameters:
  ///   - limit: How many calls may hash or wait together.
  ///   - perCaller: How many of one network address.
  ///   - running: How many hash at the same time: as many as there are cores.
  init(waiting limit: Int, perCaller: Int, running: Int = Platform.processors) {
    places = FairShares(limit: running)
    (self.limit, self.perCaller) = (max(1, limit), max(1, perCaller))
  }

  /// The number of calls that hash.
  var runningCount: Int { places.runningCount }

  /// The number of calls that wait.
  var waitingCount: Int { places.waitingCount }

  /// Hashes when it is the caller's turn.
  ///
  /// - Parameters:
  ///   - address: The network address of the caller, if it is known.
  ///   - account: Whose line it is where it is not; one for all new accounts.
  ///   - body: Hashes.
  func run<Result>(
    for address: String?, account: String = "", _ body: () async throws -> Result
  ) async throws -> Result {
    guard admit(address) else {
      throw AuthServiceError(.tooManyAttempts, "Too many passwords wait to be compared. Please try again later.")
    }
    defer { release(address) }
    // No address has a zero in it.
    let owner = address ?? "\u{0}\(account)"
    try await places.enter(owner)
    defer { places.leave(owner) }
    return try await body()
  }

  /// Counts a call in; false where its line or the queue is full.
  private func admit(_ address: String?) -> Bool {
    state.withLock { state in
      guard state.waiting < limit else { return false }
      if let address {
        guard state.lines[address, default: 0] < perCaller else { return false }
        state.lines[address, default: 0] += 1
      }
      state.waiting += 1
      return true
    }
  }

  private func release(_ address: String?) {
    state.withLock { state in
      state.waiting -= 1
      guard let address else { return }
      let left = (state.lines[address] ?? 1) - 1
      state.lines[address] = left > 0 ? left : nil
    }
  }
}
