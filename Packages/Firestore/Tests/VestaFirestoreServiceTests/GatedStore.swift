import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes

/// A store whose writes wait once a number of them have been let through, until it is opened.
final class GatedStore: OrderedStore {
  private struct State: Sendable {
    var allowed = Int.max
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let store = ModelStore()
  private let state = Locked(State())

  func allow(_ writes: Int) { state.withLock { $0.allowed = writes } }

  func open() {
    let waiting = state.withLock { state in
      state.allowed = .max
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.allowed > 0 {
          state.allowed -= state.allowed == .max ? 0 : 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isOpen { continuation.resume() }
    }
    return try await store.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }

  func close() async throws { try await store.close() }
}
