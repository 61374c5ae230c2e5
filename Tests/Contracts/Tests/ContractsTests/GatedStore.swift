import VestaConcurrency
import VestaMemoryStore
import VestaStoreInterop

/// A store that fails or keeps its callers waiting on request, as a backend in trouble does.
final class GatedStore: OrderedStore {
  private struct State: Sendable {
    var fails = false
    var isHeld = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let store = MemoryStore()
  private let state = Locked(State())

  /// Makes every call fail, or succeed again.
  func setFails(_ fails: Bool) { state.withLock { $0.fails = fails } }

  /// Keeps callers waiting, or lets all of them continue.
  func setHeld(_ isHeld: Bool) {
    let released = state.withLock { state in
      state.isHeld = isHeld
      guard !isHeld else { return [] as [CheckedContinuation<Void, Never>] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for caller in released { caller.resume() }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await pass("read")
    return try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    try await pass("write")
    return try await store.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }

  func close() async throws { try await store.close() }

  private func pass(_ operation: String) async throws {
    await withCheckedContinuation { continuation in
      let goesOn = state.withLock { state in
        if state.isHeld { state.waiting.append(continuation) }
        return !state.isHeld
      }
      if goesOn { continuation.resume() }
    }
    guard state.withLock({ $0.fails }) else { return }
    throw StoreError(.inputOutput, operation: operation, message: "It was told to fail.")
  }
}
