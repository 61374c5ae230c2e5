import Foundation
import StorageHarness
import StorageOracle
import VestaConcurrency
import VestaCore
import VestaTesting

@testable import VestaStorage
@testable import VestaStorageService

/// A process with two apps of one project and small tunings, drawn at random.
struct OracleProgram {
  let harnesses: [StorageHarness]
  let storages: [Storage]
  let folder: String

  /// - Parameters:
  ///   - directory: The data and the files of all processes of a history.
  ///   - name: The beginning of the names of the apps.
  ///   - seed: The seed of the tunings.
  init(directory: String, name: String, seed: UInt64) throws {
    var random = SplitMix(seed: seed &+ 77)
    var service = StorageServiceOptions()
    service.inlineLimit = random.pick([0, 1, 100, 4_096, 16_384, 65_536])
    service.checkpointInterval = random.pick([1, 4_096, 65_536, 262_144, 1 << 20])
    service.digestLimit = random.pick([0, 16_384, .max])
    service.maximumOpenUploads = 1 + random.below(4)
    service.tuning.pieceLength = random.pick([1_000, 4_096, 100_000, 1 << 20])
    var tuning = StorageTuning()
    tuning.transfers = 1 + random.below(4)
    tuning.readLength = random.pick([1_000, 4_096, 30_000, 1 << 20])
    tuning.notedSize = Int64(random.below(100_000))
    tuning.rereadSize = Int64(random.below(400_000))
    tuning.singleCallLength = random.pick([1, 100, 16_384, 262_144])
    tuning.piecesBetweenYields = 1 + random.below(4)
    folder = directory + "/files"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    harnesses = try ["one", "two"].map {
      try StorageHarness(directory: directory, name: "\(name)-\($0)", service: service)
    }
    let places = TransferPlaces(count: tuning.transfers)
    storages = harnesses.map { harness in
      let caller = StorageCaller(
        backend: harness.backend, auth: nil, appCheck: nil, tuning: tuning, places: places)
      let storage = Storage(app: harness.app, bucket: "test-bucket", caller: caller)
      storage.uploadChunkSizeBytes = 256 * 1024
      return storage
    }
  }

  /// Ends all transfers, and deletes the apps.
  func end() async {
    for storage in storages { await storage.close() }
    for harness in harnesses { await harness.app.delete() }
  }

  /// Makes calls and says them, until it is killed.
  static func run(_ arguments: [String]) async {
    guard arguments.count == 4, let seed = UInt64(arguments[2]), let firstID = Int(arguments[3]) else { exit(2) }
    do {
      let program = try OracleProgram(directory: arguments[0], name: arguments[1], seed: seed)
      let turn = Locked(())
      let clients = OracleClients(program.storages, folder: program.folder, seed: seed, firstID: firstID) { event in
        turn.withLock { _ in FileHandle.standardOutput.write(Data((event.line + "\n").utf8)) }
      }
      FileHandle.standardOutput.write(Data("ready\n".utf8))
      await clients.run(calls: 12)
      while true { try await Task.sleep(for: .seconds(3_600)) }
    } catch {
      FileHandle.standardOutput.write(Data("error \(error)\n".utf8))
    }
  }
}
