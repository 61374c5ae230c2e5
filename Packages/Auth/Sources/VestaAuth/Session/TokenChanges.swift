import VestaConcurrency

/// The changes of an account that are under way and bring new tokens, as they end the old ones.
///
/// The backend refuses the old refresh token once such a change is committed, which is before its answer is here: until
/// then a refusal says nothing about the session.
final class TokenChanges: Sendable {
  private struct State {
    var underWay = 0
    var ended = Waiters()
  }

  private let state = Locked(State())

  func begin() { state.withLock { $0.underWay += 1 } }

  /// Ends a change whose tokens, if it brought any, have been taken over.
  func end() {
    let ended = state.withLock { state in
      state.underWay -= 1
      return state.underWay == 0 ? state.ended.takeAll() : Waiters()
    }
    ended.resume()
  }

  /// Waits until none is under way; a cancellation does not end the wait.
  func allEnded() async { await state.wait(in: \.ended) { $0.underWay == 0 } }
}
