import Foundation
import StorageHarness
import Testing
import VestaCore
import VestaStorage
import VestaStorageBackend
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import StorageCrashWorker
@testable import VestaStorageService

/// Kills a process that uploads and replaces objects, at a random time, and looks at what it left behind.
///
/// 10 rounds; 200 with `VESTA_SOAK=1`.
@Suite struct CrashSoakTests {
  /// A version of an object: the seed and the length of its content.
  private struct Version: Hashable {
    let lane: Int, seed: UInt64, length: Int

    init?(_ line: String, _ word: String) {
      let words = line.split(separator: " ")
      guard words.count == 4, words[0] == word, let lane = Int(words[1]), let seed = UInt64(words[2]),
        let length = Int(words[3])
      else { return nil }
      (self.lane, self.seed, self.length) = (lane, seed, length)
    }

    var content: Data { Worker.content(seed, length) }
  }

  @Test func `finished objects are whole, unfinished uploads continue, and nothing is left over`() async throws {
    let rounds = ProcessInfo.processInfo.environment["VESTA_SOAK"] == "1" ? 200 : 10
    let seed = UInt64.random(in: 0...UInt64.max)
    print("CrashSoakTests: seed \(seed)")
    var random = SplitMix(seed: seed)
    let directory = try TemporaryDirectory()
    let file = directory.path(of: "file")
    let data = directory.path(of: "data")
    // The versions that each object may have: the last acknowledged one, or one that was begun after that.
    var acknowledged: [Int: Version] = [:]
    for round in 0..<rounds {
      try Worker.content(random.next() >> 1, 6_000_000).write(to: URL(fileURLWithPath: file))
      let worker = try WorkerProcess("StorageCrashWorker", data, "\(random.next() >> 1)", file)
      let lines = try await worker.killAfter(
        microseconds: random.below(120_000), afterLine: "ready", andMore: round % 3 == 2 ? 0 : random.below(9))
      #expect(!lines.contains { $0.hasPrefix("error") }, "seed \(seed), round \(round): \(lines)")
      var begun: [Int: [Version]] = [:]
      for line in lines {
        if let version = Version(line, "begin") { begun[version.lane, default: []].append(version) }
        if let version = Version(line, "done") {
          acknowledged[version.lane] = version
          begun[version.lane] = []
        }
      }
      try await check(data, file, acknowledged, begun, "seed \(seed), round \(round)") { acknowledged[$0] = $1 }
    }
    #expect(acknowledged.count == 3)
  }

  private func check(
    _ data: String, _ file: String, _ acknowledged: [Int: Version], _ begun: [Int: [Version]], _ round: String,
    _ found: (Int, Version) -> Void
  ) async throws {
    let harness = try StorageHarness(directory: data, name: "crash")
    for lane in 0..<3 {
      let candidates = [acknowledged[lane]].compactMap { $0 } + (begun[lane] ?? [])
      do {
        let content = try await harness.storage.reference(withPath: "lane\(lane)").data(maxSize: 10_000_000)
        let version = candidates.first { $0.content == content }
        #expect(version != nil, "\(round): lane \(lane) has \(content.count) bytes of no version")
        if let version { found(lane, version) }
      } catch let error as StorageError where error.code == .objectNotFound {
        #expect(acknowledged[lane] == nil, "\(round): an acknowledged object is gone")
      }
    }
    for task in harness.storage.resumeInterruptedUploads() { for try await _ in task.progressUpdates {} }
    _ = try await harness.storage.reference(withPath: "file").putFileAsync(from: URL(fileURLWithPath: file))
    let back = directory(data) + "/back"
    _ = try await harness.storage.reference(withPath: "file").writeAsync(toFile: URL(fileURLWithPath: back))
    #expect(FileManager.default.contentsEqual(atPath: back, andPath: file), "\(round): the file")
    let engine = try harness.app.container.require(EmbeddedService<StorageEngine>.self).engine
    #expect(try await engine.removeOrphans() == 0, "\(round): blobs of nobody")
    await harness.app.delete()
  }

  private func directory(_ path: String) -> String { (path as NSString).deletingLastPathComponent }
}
