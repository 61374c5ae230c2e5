import VestaConcurrency

/// The transfers of a `Storage` that are not over, so that deleting the app can end them.
final class TransferTable: Sendable {
  private struct State {
    var runners: [ObjectIdentifier: TransferRunner] = [:]
    var isClosed = false
  }

  /// The failure of what begins or continues after the app was deleted.
  static let closed = StorageError.internalError(
    message: "The app was deleted. Configure it again and make a new reference.")

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

  /// Whether the app has been deleted.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Cancels all transfers, refuses new ones, and waits until none runs.
  func close() async {
    let runners = state.withLock { state in
      state.isClosed = true
      return Array(state.runners.values)
    }
    for runner in runners { runner.cancel() }
    for runner in runners {
      _ = await runner.end()
      await runner.cleanedUp()
    }
  }
}
