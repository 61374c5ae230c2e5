import Foundation
import StorageHarness
import Testing
import VestaConcurrency
import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendFakes
import VestaTesting

@testable import VestaStorage

/// The streams of Storage: when they listen, what they yield, and how they end.
@Suite struct StreamTests {
  let directory: TemporaryDirectory
  let harness: StorageHarness

  init() throws {
    directory = try TemporaryDirectory()
    harness = try StorageHarness(directory: directory.path + "/data")
  }

  /// An upload that continues for as long as it is let.
  private func endless(_ gate: Gate = Gate(isOpen: true)) -> StorageUploadTask {
    let pieces = AsyncStream<Data>(unfolding: {
      await gate.wait()
      return Data(count: 300_000)
    })
    return harness.storage.reference(withPath: "endless").putStream(pieces)
  }

  @Test func `a stream listens when it is made, and no longer after a break`() async throws {
    let task = endless()
    #expect(task.runner.listenerCount == 0)
    for try await _ in task.progressUpdates {
      #expect(task.runner.listenerCount == 1)
      break
    }
    #expect(task.runner.listenerCount == 0)
    #expect(task.snapshot.status != .failure)
    task.cancel()
  }

  @Test func `cancelling the reader removes the listener and leaves the transfer running`() async throws {
    let (gate, seen) = (Gate(isOpen: true), Gate())
    let task = endless(gate)
    let reader = Task {
      for try await _ in task.progressUpdates {
        gate.close()
        seen.open()
      }
    }
    await seen.wait()
    reader.cancel()
    _ = await reader.result
    while task.runner.listenerCount > 0 { await Task.yield() }
    #expect(task.snapshot.status != .failure)
    gate.open()
    task.cancel()
  }

  @Test func `dropping the stream removes the listener`() async throws {
    let task = endless()
    do {
      let stream = task.progressUpdates
      #expect(task.runner.listenerCount == 1)
      withExtendedLifetime(stream) {}
    }
    while task.runner.listenerCount > 0 { await Task.yield() }
    task.cancel()
  }

  @Test func `progress only grows, and the stream ends with success`() async throws {
    let task = harness.storage.reference(withPath: "a").putData(ClientTests.data(5_000_000))
    var last: Int64 = -1
    for try await snapshot in task.progress {
      let done = snapshot.progress?.completedUnitCount ?? -1
      #expect(done >= last)
      last = done
    }
    #expect(task.runner.listenerCount == 0)
    #expect(task.snapshot.status == .success)
    for try await _ in task.progressUpdates { Issue.record("a finished transfer has no progress") }
  }

  @Test func `the stream of a failed transfer throws its error, early and late`() async throws {
    let task = harness.storage.reference(withPath: "none").write(toFile: URL(fileURLWithPath: directory.path(of: "x")))
    for _ in 0..<2 {
      let error = await #expect(throws: StorageError.self) { for try await _ in task.progressUpdates {} }
      #expect(error?.code == .objectNotFound)
    }
    #expect(task.runner.listenerCount == 0)
  }

  @Test func `chunks are fetched when they are asked for, and the object is closed when the loop is left`() async throws
  {
    let data = ClientTests.data(3_000_000)
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(data)
    let reads = Log<Int>()
    let hooked = HookedStorageBackend(harness.backend) { call, _ in if call == .read { reads.add(1) } }
    let caller = StorageCaller(backend: hooked, auth: nil, appCheck: nil, clock: .system)
    let storage = Storage(app: harness.app, bucket: "test-bucket", caller: caller)
    var count = 0
    for try await chunk in storage.reference(withPath: "a").contents(chunkSize: 100_000) {
      count += chunk.count
      if count == 300_000 { break }
    }
    #expect(reads.entries.count == 3)
    let twice = storage.reference(withPath: "a").contents()
    var sizes: [Int] = []
    for _ in 0..<2 {
      var size = 0
      for try await chunk in twice { size += chunk.count }
      sizes.append(size)
    }
    #expect(sizes == [3_000_000, 3_000_000])
  }

  @Test func `a cancelled reader of chunks stops`() async throws {
    _ = try await harness.storage.reference(withPath: "a").putDataAsync(ClientTests.data(3_000_000))
    let first = Gate()
    let reference = harness.storage.reference(withPath: "a")
    let reader = Task {
      var count = 0
      for try await chunk in reference.contents(chunkSize: 1000) {
        count += chunk.count
        first.open()
        await Task.yield()
        if Task.isCancelled { try Task.checkCancellation() }
      }
      return count
    }
    await first.wait()
    reader.cancel()
    await #expect(throws: (any Error).self) { try await reader.value }
  }

  @Test func `the executor of the caller is kept, on success and on failure`() async throws {
    let root = harness.storage.reference()
    let file = URL(fileURLWithPath: directory.path(of: "file"))
    try ClientTests.data(600_000).write(to: file)
    let nowhere = URL(fileURLWithPath: directory.path(of: "none"))
    let (small, large) = (ClientTests.data(10), ClientTests.data(600_000))
    _ = try await root.child("a").putDataAsync(small)
    let calls: [(String, @Sendable (_ succeeds: Bool) async throws -> Void)] = [
      ("putDataAsync", { _ = try await ($0 ? root.child("b") : root).putDataAsync(small) }),
      ("putDataAsync in chunks", { _ = try await ($0 ? root.child("b") : root.child("a\n")).putDataAsync(large) }),
      ("putFileAsync", { _ = try await root.child("b").putFileAsync(from: $0 ? file : nowhere) }),
      ("data", { _ = try await root.child("a").data(maxSize: $0 ? 100 : 1) }),
      ("writeAsync", { _ = try await root.child($0 ? "a" : "none").writeAsync(toFile: nowhere) }),
      ("getMetadata", { _ = try await root.child($0 ? "a" : "none").getMetadata() }),
      ("updateMetadata", { _ = try await root.child($0 ? "a" : "none").updateMetadata(StorageMetadata()) }),
      ("downloadURL", { _ = try await root.child($0 ? "a" : "none").downloadURL() }),
      ("list", { _ = try await root.list(maxResults: $0 ? 10 : 0) }),
      ("list of a page", { _ = try await root.list(maxResults: 10, pageToken: $0 ? try await Self.token(root) : "?") }),
      ("listAll", { _ = try await ($0 ? root : Self.otherBucket(root)).listAll() }),
      ("contents", { for try await _ in root.child($0 ? "a" : "none").contents() {} }),
      ("delete", { try await root.child($0 ? "b" : "none").delete() }),
    ]
    for (name, call) in calls {
      for succeeds in [true, false] {
        let main = await ExecutorProbe.fromMainActor { try await call(succeeds) }
        if name == "delete", succeeds { _ = try await root.child("b").putDataAsync(small) }
        let actor = await ExecutorProbe.fromActor { try await call(succeeds) }
        for report in [main, actor] { #expect(report.isKept && report.hasThrown != succeeds, "\(name): \(report)") }
      }
    }
  }

  @Test func `the engine keeps the executor of its caller, on success and on failure`() async throws {
    let (backend, context, app) = (harness.engine, CallContext.owner, harness.app)
    let name = ObjectName(bucket: "test-bucket", name: "a")
    let calls: [(String, @Sendable () async throws -> Void)] = [
      ("put", { _ = try await backend.putObject(UploadRequest(object: name), content: [1], context: context) }),
      (
        "upload",
        {
          let id = try await backend.startUpload(UploadRequest(object: name), context: context)
          _ = try await backend.appendToUpload(id, offset: 0, bytes: [1], context: context)
          _ = try await backend.uploadStatus(id, context: context)
          _ = try await backend.finalizeUpload(id, expected: ContentDigest(size: 1), context: context)
        }
      ),
      (
        "cancel",
        {
          try await backend.cancelUpload(
            try await backend.startUpload(UploadRequest(object: name), context: context), context: context)
        }
      ),
      ("get", { _ = try await backend.getObject(name, preconditions: .none, context: context) }),
      ("list", { _ = try await backend.listObjects(ListRequest(bucket: "test-bucket"), context: context) }),
      (
        "delete",
        {
          _ = try await backend.putObject(UploadRequest(object: name), content: [1], context: context)
          try await backend.deleteObject(name, preconditions: .none, context: context)
        }
      ),
    ]
    for fails in [false, true] {
      if fails { await app.delete() }
      for (name, call) in calls {
        let reports = [await ExecutorProbe.fromMainActor(call), await ExecutorProbe.fromActor(call)]
        for report in reports { #expect(report.isKept && report.hasThrown == fails, "\(name): \(report)") }
      }
    }
  }

  private static func token(_ root: StorageReference) async throws -> String {
    _ = try await root.child("c").putDataAsync(Data([1]))
    return try #require(try await root.list(maxResults: 1).pageToken)
  }

  private static func otherBucket(_ root: StorageReference) -> StorageReference {
    StorageReference(storage: root.storage, location: StorageLocation(bucket: "No Bucket", path: ""))
  }
}
