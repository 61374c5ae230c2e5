import Foundation
import VestaAuthInterop
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreSync
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// Apps of clients that end, are killed, and begin again with the rows of their stores.
enum EverydayApps {
  /// The parts of an app.
  struct Parts: Sendable {
    var auth: EverydayAuth
    var backend: EverydayBackend
    var store: EverydayStore
    var tuning: SyncTuning
  }

  private struct Provider: StoreProvider {
    let store: EverydayStore

    func openStore(named name: String, in directory: String, options: StoreOptions) async throws -> any OrderedStore {
      store
    }
  }

  private static let parts = Locked<[String: Parts]>([:])

  private enum PartsLibrary: Library {
    static let name = "everyday-parts"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any AuthInterop).self) { container, isCacheable in
          isCacheable = true
          return try EverydayApps.parts(of: container).auth
        },
        Component((any FirestoreBackend).self) { container, isCacheable in
          isCacheable = true
          return try EverydayApps.parts(of: container).backend
        },
        Component((any StoreProvider).self) { container, isCacheable in
          isCacheable = true
          return Provider(store: try EverydayApps.parts(of: container).store)
        },
        Component(SyncTuning.self) { container, isCacheable in
          isCacheable = true
          return try EverydayApps.parts(of: container).tuning
        },
      ]
    }
  }

  private static func parts(of container: ComponentContainer) throws -> Parts {
    guard let found = parts.withLock({ $0[container.app?.name ?? ""] }) else { throw CancellationError() }
    return found
  }

  static func make(_ name: String, isEmbedded: Bool, _ made: Parts) throws -> VestaApp {
    parts.withLock { $0[name] = made }
    let directory = URL(filePath: NSTemporaryDirectory()).appending(path: "firestore-everyday-\(getpid())-\(name)")
    return try VestaApp.configure(
      name: name,
      options: VestaOptions(projectID: "everyday", backend: isEmbedded ? .embedded(directory: directory) : .firebase),
      libraries: [FirestoreLibrary.self, PartsLibrary.self])
  }

  /// Small figures, and none that depends on how fast the machine is.
  static func tuning(_ random: inout SplitMix) -> SyncTuning {
    var tuning = SyncTuning()
    tuning.onlineSeconds = 3_600
    tuning.pipelineLimit = 1 + random.below(10)
    tuning.limboLimit = 1 + random.below(3)
    tuning.followSeconds = random.pick([0, 0.002])
    tuning.awaitedSeconds = 0.1
    (tuning.pauses.initial, tuning.pauses.maximum) = (0.001, 0.01)
    (tuning.embeddedPauses.initial, tuning.embeddedPauses.maximum) = (0.001, 0.01)
    tuning.idleSeconds = random.pick([0.01, 60])
    tuning.resumeTokenSeconds = random.pick([0, 300])
    tuning.indexedSize = 1 + random.below(10)
    tuning.candidateLimit = 1 + random.below(10)
    tuning.residentQueries = random.below(5)
    tuning.exactReplays = random.below(4)
    tuning.readAttempts = 1 + random.below(3)
    return tuning
  }
}
