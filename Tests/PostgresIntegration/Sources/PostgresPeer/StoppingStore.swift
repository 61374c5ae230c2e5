import VestaConcurrency
import VestaStoreInterop

/// A store whose process stands still behind a given number of writes, as if it had been stopped there.
final class StoppingStore: CommitObservable {
  private let store: any CommitObservable
  /// How many writes are still let through; `nil` for all.
  private let left = Locked(Int?.none)
  private let onStop: @Sendable () -> Void

  /// - Parameter onStop: Called by each write that is not let through.
  init(_ store: any CommitObservable, onStop: @escaping @Sendable () -> Void) {
    self.store = store
    self.onStop = onStop
  }

  /// Lets a number of writes through, and none after them.
  func stop(after writes: Int) { left.withLock { $0 = writes } }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read(body)
  }

  func read<Result>(
    expecting first: @autoclosure () -> StoreFirstRead, _ body: (any StoreReader) async throws -> Result
  ) async throws -> Result {
    try await store.read(expecting: first(), body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    let goesOn = left.withLock { left in
      guard let count = left else { return true }
      left = count - 1
      return count > 0
    }
    if !goesOn {
      onStop()
      // Nothing follows this in the life of the process, which its killer ends.
      while true { try await Task.sleep(for: .seconds(3_600)) }
    }
    return try await store.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }

  func close() async throws { try await store.close() }

  func observeCommits(_ observer: @escaping @Sendable (StoreVersion) -> Void) -> ListenerRegistration {
    store.observeCommits(observer)
  }

  var commits: AsyncStream<StoreVersion> { store.commits }
}
