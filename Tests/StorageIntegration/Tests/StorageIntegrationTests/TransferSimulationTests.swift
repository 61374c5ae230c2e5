import Foundation
import StorageHarness
import Testing
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// Transfers that are paused, resumed and cancelled at every point where they wait, and whose outcome is looked at
/// after everything has settled.
@Suite struct TransferSimulationTests {
  private static let seeds: Range<UInt64> = 0..<60

  /// One simulated run: small tunings, a service that waits and fails at random, and a folder.
  private struct Run {
    let seed: UInt64
    let random: Locked<SplitMix>
    let tuning: StorageTuning
    let places: TransferPlaces
    let storage: Storage
    let folder: TemporaryDirectory

    init(_ seed: UInt64, _ harness: StorageHarness) throws {
      var start = SplitMix(seed: seed)
      var tuning = StorageTuning()
      tuning.transfers = 1 + start.below(3)
      tuning.readLength = 1 + start.below(9_000)
      tuning.notedSize = Int64(start.below(20_000))
      tuning.rereadSize = Int64(start.below(30_000))
      tuning.singleCallLength = 1 + start.below(30_000)
      tuning.restarts = 1 + start.below(4)
      tuning.piecesBetweenYields = 1 + start.below(4)
      let random = Locked(start)
      let backend = HookedStorageBackend(harness.backend) { call, moment in
        for _ in 0..<random.withLock({ $0.below(6) }) { await Task.yield() }
        if random.withLock({ $0.oneIn(25) }) { throw StorageServiceError(.unavailable, "lost at \(call) \(moment)") }
      }
      let places = TransferPlaces(count: tuning.transfers)
      // Waits end at once.
      let clock = ServiceClock(now: { 0 }) { _, work in
        work()
        return ListenerRegistration {}
      }
      let caller = StorageCaller(
        backend: backend, auth: nil, appCheck: nil, clock: clock, random: { 0 }, tuning: tuning, places: places)
      folder = try TemporaryDirectory()
      (self.seed, self.random, self.tuning, self.places) = (seed, random, tuning, places)
      storage = Storage(
        app: harness.app, bucket: "test-bucket", caller: caller,
        uploads: UploadSessionBook(directory: URL(fileURLWithPath: folder.path(of: "uploads"))),
        downloads: DownloadBook(directory: URL(fileURLWithPath: folder.path(of: "downloads"))))
      storage.uploadChunkSizeBytes = 256 * 1024
    }

    var comment: Comment { "seed \(seed), \(tuning)" }
    var path: String { "simulated/\(seed)" }

    func below(_ bound: Int) -> Int { random.withLock { $0.below(bound) } }

    func content() -> Data {
      let sizes = [0, 1, 5_000, 16_384, 16_385, 60_000, 300_000, 700_000]
      return ClientTests.data(sizes[below(sizes.count)], UInt64(below(256)))
    }

    /// Calls members of a task at random, from here and from observers.
    func disturb(_ task: StorageTask, cancels: Bool) async {
      let calls = Locked(below(4))
      for status in [StorageTaskStatus.progress, .pause, .resume] {
        task.observe(status) { snapshot in
          guard
            calls.withLock({
              $0 -= 1; return $0 >= 0
            })
          else { return }
          call(snapshot.task, cancels: cancels)
        }
      }
      for _ in 0..<below(9) {
        for _ in 0..<below(40) { await Task.yield() }
        call(task, cancels: cancels)
      }
    }

    private func call(_ task: StorageTask, cancels: Bool) {
      switch below(cancels ? 12 : 9) {
      case 0...3: task.pause()
      case 4...7: task.resume()
      case 8: task.enqueue()
      default: task.cancel()
      }
    }

    /// Lets a task run to its end, and waits until nothing of it runs.
    func settle(_ task: StorageTask, _ runner: TransferRunner) async -> (any Error)? {
      let over = Locked(false)
      let end = Task {
        let end = await runner.end()
        over.withLock { $0 = true }
        return end.error
      }
      while !over.withLock({ $0 }) {
        task.resume()
        await Task.yield()
      }
      let error = await end.value
      await runner.cleanedUp()
      return error
    }

    func checkNothingIsLeft(except names: Set<String>) {
      #expect(places.counts == (0, 0), comment)
      let left = folder.names.filter {
        !$0.hasSuffix("folders.json") && !["uploads", "downloads"].contains($0) && !names.contains($0)
      }
      #expect(left == [], comment)
    }
  }

  @Test func `a download that is stopped anywhere leaves the old file, and one that succeeds the whole object`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    for seed in Self.seeds {
      let run = try Run(seed, harness)
      let content = run.content()
      _ = try await harness.storage.reference(withPath: run.path).putDataAsync(content)
      let target = URL(fileURLWithPath: run.folder.path(of: "target"))
      let old = run.below(3) == 0 ? nil : Data("precious".utf8)
      try old?.write(to: target)
      try await leaveOver(run, harness, target, content)
      let cancels = run.below(2) == 0
      let task = run.storage.reference(withPath: run.path).write(toFile: target)
      await run.disturb(task, cancels: cancels)
      let error = await run.settle(task, task.runner)
      #expect((try? Data(contentsOf: target)) == (error == nil ? content : old), run.comment)
      #expect(error == nil || cancels, run.comment)
      // One that was cancelled before it began leaves what a killed process has left, and its note.
      let left = run.storage.downloads.entry(StorageLocation(bucket: "test-bucket", path: run.path), target.path)
      #expect(left == nil || error != nil, run.comment)
      if let left { FileBeside.removeLeftover(left.temporary) }
      run.storage.downloads.forget(left?.key ?? "")
      run.checkNothingIsLeft(except: ["target"])
    }
    await harness.app.delete()
  }

  /// Leaves what a killed process may have left: a part of the content, or something else.
  private func leaveOver(_ run: Run, _ harness: StorageHarness, _ target: URL, _ content: Data) async throws {
    guard run.below(2) == 0, content.count > 1 else { return }
    let object = try await harness.backend.getObject(
      ObjectName(bucket: "test-bucket", name: run.path), preconditions: .none, context: CallContext())
    let temporary = run.folder.path(of: run.storage.downloads.temporaryName())
    var part = content.prefix(1 + run.below(content.count))
    if run.below(4) == 0 { part[part.startIndex] ^= 1 }
    try part.write(to: URL(fileURLWithPath: temporary))
    run.storage.downloads.remember(
      StorageLocation(bucket: "test-bucket", path: run.path), target.path, temporary: temporary, object)
  }

  @Test func `a download whose caller is cancelled anywhere changes nothing after the caller has continued`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    for seed in Self.seeds {
      let run = try Run(seed, harness)
      let content = run.content()
      let reference = run.storage.reference(withPath: run.path)
      _ = try await harness.storage.reference(withPath: run.path).putDataAsync(content)
      let target = URL(fileURLWithPath: run.folder.path(of: "target"))
      try Data("precious".utf8).write(to: target)
      let form = run.below(3)
      let task = Task { () -> Data in
        switch form {
        case 0: return try Data(contentsOf: try await reference.writeAsync(toFile: target))
        case 1: return try await reference.data(maxSize: 10_000_000)
        default:
          var all = Data()
          for try await chunk in reference.contents(chunkSize: run.tuning.readLength) { all += chunk }
          return all
        }
      }
      for _ in 0..<run.below(120) { await Task.yield() }
      task.cancel()
      let result = await task.result
      // All running work ends.
      await run.storage.close()
      switch result {
      case .success(let data): #expect(data == content, run.comment)
      case .failure(let error):
        #expect((error as? StorageError)?.errorCode == StorageErrorCode.cancelled.rawValue, "\(run.comment): \(error)")
      }
      let isWritten = form == 0 && (try? result.get()) != nil
      #expect(try Data(contentsOf: target) == (isWritten ? content : Data("precious".utf8)), run.comment)
      run.checkNothingIsLeft(except: ["target"])
    }
    await harness.app.delete()
  }

  @Test func `an upload that is stopped anywhere leaves the old object, and one that succeeds the whole content`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    for seed in Self.seeds {
      let run = try Run(seed, harness)
      let (old, content) = (Data("old".utf8), run.content())
      let plain = harness.storage.reference(withPath: run.path)
      _ = try await plain.putDataAsync(old)
      let source = URL(fileURLWithPath: run.folder.path(of: "source"))
      try content.write(to: source)
      let reference = run.storage.reference(withPath: run.path)
      let cancels = run.below(2) == 0
      let form = run.below(3)
      let task: StorageUploadTask
      switch form {
      case 0: task = reference.putFile(from: source)
      case 1: task = reference.putData(content)
      default:
        let pieces = stride(from: 0, to: content.count, by: 50_000).map { content.dropFirst($0).prefix(50_000) }
        task = reference.putStream(
          AsyncStream<Data> { stream in
            for piece in pieces { stream.yield(piece) }
            stream.finish()
          })
      }
      await run.disturb(task, cancels: cancels)
      let error = await run.settle(task, task.runner)
      let stored = try await plain.data(maxSize: 10_000_000)
      // The service may have taken the content when the cancellation arrived.
      #expect(stored == content || (error != nil && stored == old), run.comment)
      // A sequence cannot be read again after an answer was lost.
      #expect(error == nil || cancels || form == 2, "\(run.comment): \(String(describing: error))")
      run.checkNothingIsLeft(except: ["source"])
    }
    await harness.app.delete()
  }
}
