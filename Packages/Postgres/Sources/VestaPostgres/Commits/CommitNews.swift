import VestaConcurrency
import VestaStoreInterop

/// Notifies the observers of commits: of each once, in order, whichever source reports it first.
final class CommitNews: Sendable {
  private struct State: Sendable {
    var told: Int64
    var pending: [Int64] = []
    var isTelling = false
    var isFinished = false
  }

  private let state: Locked<State>
  let registry = ListenerRegistry<StoreVersion>()

  /// - Parameter version: The last version of which no observer need be notified.
  init(after version: Int64) { state = Locked(State(told: version)) }

  /// The last version that has been reported, or is about to be.
  var told: Int64 { state.withLock { $0.told } }

  /// Reports all versions above the last reported one.
  func tell(_ versions: [Int64]) {
    let isTeller = state.withLock { state in
      for version in versions where version > state.told {
        state.told = version
        state.pending.append(version)
      }
      if state.isTelling || state.pending.isEmpty { return false }
      state.isTelling = true
      return true
    }
    if isTeller { tellPending() }
  }

  private func tellPending() {
    while true {
      let (next, isLast) = state.withLock { state -> ([Int64], Bool) in
        defer { state.pending = [] }
        if state.pending.isEmpty { state.isTelling = false }
        return (state.pending, state.pending.isEmpty && state.isFinished)
      }
      for version in next { registry.emit(StoreVersion(microseconds: version)) }
      if isLast { registry.finish() }
      if next.isEmpty { return }
    }
  }

  /// Ends the streams after the commits that are being reported.
  func finish() {
    let isIdle = state.withLock { state in
      state.isFinished = true
      return !state.isTelling
    }
    if isIdle { registry.finish() }
  }
}
