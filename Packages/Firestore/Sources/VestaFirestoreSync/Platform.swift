package import VestaFirestoreBackend

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The time of the system.
package struct SystemSyncClock: SyncClock {
  /// The clock.
  package init() {}

  /// The time of day, to the microsecond.
  package var now: Timestamp {
    Timestamp(microseconds: Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down)))
  }

  /// The seconds since the system started.
  package var monotonicSeconds: Double { ProcessInfo.processInfo.systemUptime }

  /// Calls an action later, on no particular thread.
  package func schedule(seconds: Double, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    let task = Task {
      do { try await Task.sleep(for: .seconds(seconds)) } catch { return }
      action()
    }
    return { task.cancel() }
  }
}
