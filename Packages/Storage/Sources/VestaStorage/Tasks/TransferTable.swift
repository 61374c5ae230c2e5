import VestaConcurrency

/// The transfers of a `Storage` that are not over, so that deleting the app can end them.
final class TransferTable: Sendable {
  private struct State {
    var runners: [ObjectIdentifier: TransferRunner] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// Adds a transfer; `false` when the app has been deleted.
  func add(_ runner: TransferRunner) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.runners[ObjectIdentifier(runner)] = runner
      return true
    }
  }

  func remove(_ runner: TransferRunner) {
    let removed = state.withLock { $0.runners.removeValue(forKey: ObjectIdentifier(runner)) }
    withExtendedLifetime(removed) {}
  }

  /// Cancels all transfers, and lets none begin any more.
  func close() {
    let runners = state.withLock { state in
      state.isClosed = true
      return Array(state.runners.values)
    }
    for runner in runners { runner.cancel() }
  }
}
