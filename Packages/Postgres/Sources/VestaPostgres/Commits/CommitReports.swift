import VestaConcurrency
import VestaStoreInterop

/// Notifies the observers of commits: of each once, in order, whichever source reports it first.
final class CommitReports: Sendable {
  private struct State: Sendable {
    var reported: Int64
    var pending: [Int64] = []
    var isReporting = false
    var isFinished = false
  }

  private let state: Locked<State>
  let registry = ListenerRegistry<StoreVersion>()

  /// - Parameter version: The last version of which no observer need be notified.
  init(after version: Int64) { state = Locked(State(reported: version)) }

  /// The last version that has been reported, or is about to be.
  var reported: Int64 { state.withLock { $0.reported } }

  /// Reports all versions above the last reported one.
  func report(_ versions: [Int64]) {
    let isReporter = state.withLock { state in
      for version in versions where version > state.reported {
        state.reported = version
        state.pending.append(version)
      }
      if state.isReporting || state.pending.isEmpty { return false }
      state.isReporting = true
      return true
    }
    if isReporter { reportPending() }
  }

  private func reportPending() {
    while true {
      let (next, isLast) = state.withLock { state -> ([Int64], Bool) in
        defer { state.pending = [] }
        if state.pending.isEmpty { state.isReporting = false }
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
      return !state.isReporting
    }
    if isIdle { registry.finish() }
  }
}
