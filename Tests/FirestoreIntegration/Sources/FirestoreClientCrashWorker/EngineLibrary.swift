import VestaConcurrency
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreService

/// Brings one engine of the process into several apps, as a backend that is somewhere else.
enum EngineLibrary: Library {
  static let name = "crash-engine"
  static let version = "1"

  private struct Missing: Error {}

  private static let engine = Locked<FirestoreEngine?>(nil)

  static func use(_ new: FirestoreEngine) { engine.withLock { $0 = new } }

  static func components() -> [Component] {
    [
      Component((any FirestoreBackend).self) { _, isCacheable in
        isCacheable = true
        guard let engine = engine.withLock({ $0 }) else { throw Missing() }
        return engine
      }
    ]
  }
}
