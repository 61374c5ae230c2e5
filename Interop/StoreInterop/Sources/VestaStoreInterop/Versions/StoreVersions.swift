import VestaConcurrency

/// The versions of a store that runs one group of transactions at a time: who gets which, and who waits for them.
///
/// For authors of an engine in one process; the stores of this repository share it.
///
/// - The writer calls `next()` for each transaction that asks for its commit version or has changes to commit, and
///   `settle()` after the group has become visible or has failed.
/// - A reader that needs all commits up to a version calls `raise(to:)`. It returns at once unless a version at or
///   below has been handed out and is not visible yet; then it returns with the next `settle()`.
public final class StoreVersions: Sendable {
  private struct State: Sendable {
    var clock: VersionClock
    var firstPending: StoreVersion?
    var waiting: [UInt64: @Sendable (Result<Void, CancellationError>) -> Void] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let state: Locked<State>
  private let clock: StoreClock

  /// Versions above a floor.
  ///
  /// - Parameters:
  ///   - floor: The version of the last commit, or a higher floor that readers were shown.
  ///   - clock: The clocks to take them from.
  public init(above floor: StoreVersion, clock: StoreClock) {
    state = Locked(State(clock: VersionClock(floor: floor)))
    self.clock = clock
  }

  /// Hands out the next version; it is pending until `settle()`.
  public func next() -> StoreVersion {
    let reading = clock.now
    return state.withLock { state in
      let version = state.clock.next(at: reading)
      if state.firstPending == nil { state.firstPending = version }
      return version
    }
  }

  /// Ends all pending versions: their commits are visible to new reads, or will never be.
  public func settle() {
    let waiting = state.withLock { state in
      state.firstPending = nil
      defer { state.waiting = [:] }
      return state.waiting
    }
    for resume in waiting.values { resume(.success(())) }
  }

  /// Raises the floor, and waits until all commits at or below it are visible.
  ///
  /// - Parameter version: The new floor; `nil` for the current version.
  /// - Returns: The version asked for, or the current version.
  /// - Throws: `StoreError.Code.futureVersion`, or `CancellationError`.
  public func raise(to version: StoreVersion?) async throws -> StoreVersion {
    let reading = clock.now
    let (raised, mustWait): (StoreVersion?, Bool) = state.withLock { state in
      let raised = state.clock.raise(to: version, at: reading)
      return (raised, raised.map { Self.isPending($0, state) } ?? false)
    }
    guard let raised else {
      throw StoreError(
        .futureVersion,
        operation: "raiseFloor",
        message: "The version lies more than a minute in the future of the store's clock.",
        hint: "Use a version of the past, or check the clocks of the machines."
      )
    }
    if mustWait { try await waitUntilSettled(raised) }
    return raised
  }

  /// How many calls wait, for tests.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  private static func isPending(_ version: StoreVersion, _ state: State) -> Bool {
    state.firstPending.map { $0 <= version } ?? false
  }

  private func waitUntilSettled(_ version: StoreVersion) async throws {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ended: Result<Void, CancellationError>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          guard Self.isPending(version, state) else { return .success(()) }
          state.waiting[id] = { continuation.resume(with: $0) }
          return nil
        }
        if let ended { continuation.resume(with: ended) }
      }
    } onCancel: {
      let resume = state.withLock { $0.waiting.removeValue(forKey: id) }
      resume?(.failure(CancellationError()))
    }
  }
}
