import VestaConcurrency
import VestaStoreInterop
import VestaStoreInteropFakes

/// A store whose commits fail while it says so.
final class FullStore: OrderedStore {
  let isFull = Locked(false)
  private let store = ModelStore()

  func read<Result>(_ body: (any StoreReader) async throws -> Result) async throws -> Result {
    try await store.read(body)
  }

  func write<Result: Sendable>(
    _ body: nonisolated(nonsending) @escaping @Sendable (any StoreTransaction) async throws -> Result
  ) async throws -> StoreCommit<Result> {
    if isFull.withLock({ $0 }) { throw StoreError(.diskFull, operation: "write", message: "The disk is full.") }
    return try await store.write(body)
  }

  func raiseFloor(to version: StoreVersion?) async throws -> StoreVersion { try await store.raiseFloor(to: version) }
  func close() async throws { try await store.close() }
}
