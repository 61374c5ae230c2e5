import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreService
import VestaFirestoreSync
import VestaTesting

/// Apps whose engine has small figures at which its behavior changes, and apps that share it.
enum OracleApps {
  private struct Kept {
    var options: [String: FirestoreServiceOptions] = [:]
    var backends: [String: any FirestoreBackend] = [:]
    var tunings: [String: SyncTuning] = [:]
    var count = 0
  }

  private static let kept = Locked(Kept())

  /// An engine with separate options.
  private enum SmallEngineLibrary: Library {
    static let name = "oracle-options"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component(FirestoreServiceOptions.self) { container, isCacheable in
          isCacheable = true
          return kept.withLock { $0.options[container.app?.options.projectID ?? ""] } ?? FirestoreServiceOptions()
        }
      ]
    }
  }

  /// The figures of an app's clients.
  enum TuningLibrary: Library {
    static let name = "oracle-tuning"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component(SyncTuning.self) { container, isCacheable in
          isCacheable = true
          return kept.withLock { $0.tunings[container.app?.name ?? ""] } ?? SyncTuning()
        }
      ]
    }
  }

  /// Draws the figures of the clients of an app that is configured next.
  ///
  /// No history depends on how fast the machine is: the client counts as offline only where the network is disabled.
  static func tune(_ name: String, seed: UInt64) {
    var random = SplitMix(seed: seed)
    var tuning = SyncTuning()
    tuning.onlineSeconds = 3_600
    tuning.pipelineLimit = 1 + random.below(10)
    tuning.limboLimit = 1 + random.below(3)
    tuning.followSeconds = random.pick([0, 0.002, 0.02])
    tuning.awaitedSeconds = random.pick([0.1, 1])
    tuning.idleSeconds = random.pick([0.01, 0.2, 60])
    tuning.resumeTokenSeconds = random.pick([0, 1, 300])
    tuning.indexedSize = 1 + random.below(10)
    tuning.largeSize = tuning.indexedSize + random.below(10)
    tuning.durableIndexes = random.below(17)
    tuning.indexPart = 1 + random.below(10)
    tuning.candidateLimit = 1 + random.below(10)
    tuning.candidatesPerResult = random.below(5)
    tuning.spareCandidates = random.below(5)
    tuning.firstEntries = 1 + random.below(4)
    tuning.residentQueries = random.below(5)
    tuning.exactReplays = random.below(4)
    tuning.readAttempts = 1 + random.below(3)
    kept.withLock { [tuning] in $0.tunings[name] = tuning }
  }

  /// The engine of another app, as a remote backend.
  private enum OtherEngineLibrary: Library {
    static let name = "oracle-remote"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any FirestoreBackend).self) { container, isCacheable in
          isCacheable = true
          guard let backend = kept.withLock({ $0.backends[container.app?.name ?? ""] }) else {
            throw CancellationError()
          }
          return backend
        }
      ]
    }
  }

  /// The folder of a project, in which nothing is kept.
  private static func directory(_ project: String) -> URL {
    URL(filePath: NSTemporaryDirectory()).appending(path: "firestore-oracle-\(getpid())-\(project)")
  }

  private static func number() -> Int {
    kept.withLock { kept in
      kept.count += 1
      return kept.count
    }
  }

  static func make(seed: UInt64) throws -> VestaApp {
    let project = "oracle-\(number())"
    var random = SplitMix(seed: seed &+ 1)
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 1 + random.below(3)
    options.tuning.queries.firstPage = page(&random)
    options.tuning.queries.nextPage = page(&random)
    options.tuning.queries.firstBatch = 1 + random.below(8)
    options.tuning.queries.largestBatch = 1 + random.below(20)
    options.tuning.queries.raceBudget = 1 + random.below(20)
    options.tuning.entries.largestBatch = 1 + random.below(10)
    options.tuning.log.page = 1 + random.below(10)
    options.tuning.log.changePage = 1 + random.below(10)
    options.tuning.listening.betweenBytes = random.pick([1, 100, 262_144])
    options.tuning.listening.requeries = random.below(3)
    options.tuning.indexes.documentsInPage = 1 + random.below(10)
    kept.withLock { [options] in $0.options[project] = options }
    return try app("\(project)-a", project, seed: seed &+ 2)
  }

  private static func page(_ random: inout SplitMix) -> PageSize {
    PageSize(
      documents: 1 + random.below(6), bytes: random.pick([1, 100, 1_000, 262_144]),
      rows: random.pick([1, 3, 10, 1_000]))
  }

  /// Another embedded app of the same project.
  static func makeSecond(of first: VestaApp, seed: UInt64) throws -> VestaApp {
    try app("\(first.name)-b", first.options.projectID ?? "", seed: seed &+ 3)
  }

  private static func app(_ name: String, _ project: String, seed: UInt64) throws -> VestaApp {
    tune(name, seed: seed)
    return try VestaApp.configure(
      name: name, options: VestaOptions(projectID: project, backend: .embedded(directory: directory(project))),
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, MemoryStoresLibrary.self, SmallEngineLibrary.self,
        TuningLibrary.self,
      ])
  }

  /// An app that reaches the engine of another one as a remote backend, and keeps a cache.
  static func makeRemote(of first: VestaApp, seed: UInt64) throws -> VestaApp {
    let name = "\(first.name)-remote"
    tune(name, seed: seed &+ 3)
    let backend = try first.container.require((any FirestoreBackend).self)
    if Wire.isAsked { return try Wire.makeApp(name, project: first.options.projectID ?? "", of: backend) }
    kept.withLock { $0.backends[name] = backend }
    return try VestaApp.configure(
      name: name, options: VestaOptions(projectID: first.options.projectID ?? "", backend: .firebase),
      libraries: [
        FirestoreLibrary.self, MemoryStoresLibrary.self, OtherEngineLibrary.self, TuningLibrary.self,
      ])
  }
}
