import StorageHarness
import VestaConcurrency
import VestaServiceInterop
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
    // Waits end at once.
    let clock = ServiceClock(now: { 0 }) { _, work in
      work()
      return ListenerRegistration {}
    }
    let caller = StorageCaller(
      backend: HookedStorageBackend(harness.backend, hook: hook), auth: nil, appCheck: nil, clock: clock, random: { 0 })
    let storage = Storage(app: harness.app, bucket: "test-bucket", caller: caller)
    storage.uploadChunkSizeBytes = 256 * 1024
    return storage
  }
}
