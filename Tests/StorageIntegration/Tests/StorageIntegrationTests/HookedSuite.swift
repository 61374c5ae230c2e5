import StorageHarness
import VestaStorageBackend
import VestaStorageBackendFakes

@testable import VestaStorage

/// A suite whose storages have a service that runs a hook around each call.
protocol HookedSuite {
  var harness: StorageHarness { get }
}

extension HookedSuite {
  /// A storage whose service runs a hook around each call, and whose retries do not wait.
  func storage(
    _ hook: @escaping @Sendable (HookedStorageBackend.Call, HookedStorageBackend.Moment) async throws -> Void
  ) -> Storage {
    let clock = StorageClock(sleep: { _ in try Task.checkCancellation() }, jitter: { 0 })
    let caller = StorageCaller(
      backend: HookedStorageBackend(harness.backend, hook: hook), auth: nil, appCheck: nil, clock: clock)
    let storage = Storage(app: harness.app, bucket: "test-bucket", caller: caller)
    storage.uploadChunkSizeBytes = 256 * 1024
    return storage
  }
}
