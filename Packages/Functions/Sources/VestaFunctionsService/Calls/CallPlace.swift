import VestaConcurrency

/// The place of a function that runs.
///
/// A function that calls functions waits for them, and returns its place for that time: with its place kept, as many
/// functions as there are places could each wait for a place that none of them returns. When the last nested call
/// has ended, it takes a place again, before all that wait for their first one.
final class CallPlace: Sendable {
  /// The place of the function that runs in this task.
  @TaskLocal static var current: CallPlace?

  private struct State {
    var isHeld = false
    var isOver = false
    var isReturning = false
    /// The number of nested calls that have not ended.
    var nested = 0
  }

  private let shares: FairShares<String>
  private let function: String
  private let state = Locked(State())

  init(_ shares: FairShares<String>, _ function: String) { (self.shares, self.function) = (shares, function) }

  /// Whether it is one of some places.
  func isOf(_ shares: FairShares<String>) -> Bool { self.shares === shares }

  /// Waits for the place.
  func enter() async throws {
    try await shares.enter(function)
    state.withLock { $0.isHeld = true }
  }

  /// The function has ended.
  func leave() {
    let wasHeld = state.withLock { state in
      defer { (state.isHeld, state.isOver) = (false, true) }
      return state.isHeld
    }
    if wasHeld { shares.leave(function) }
  }

  /// Waits for a nested call, without the place.
  func lend<Result>(_ call: () async throws -> Result) async throws -> Result {
    begin()
    do {
      let result = try await call()
      await end()
      return result
    } catch {
      await end()
      throw error
    }
  }

  private func begin() {
    let wasHeld = state.withLock { state in
      state.nested += 1
      defer { state.isHeld = false }
      return state.isHeld
    }
    if wasHeld { shares.leave(function) }
  }

  private func end() async {
    let returns = state.withLock { state in
      state.nested -= 1
      guard state.nested == 0, !state.isOver, !state.isHeld, !state.isReturning else { return false }
      state.isReturning = true
      return true
    }
    // A cancelled function continues to its end without a place, and a closed service has none.
    guard returns else { return }
    let isInside = (try? await shares.enter(function, isReturning: true)) != nil
    let isKept = state.withLock { state in
      state.isReturning = false
      // It may have ended, or called again, in the meantime.
      guard isInside, !state.isOver, state.nested == 0 else { return false }
      state.isHeld = true
      return true
    }
    if isInside, !isKept { shares.leave(function) }
  }
}
