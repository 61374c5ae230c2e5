import Foundation
import StorageHarness
import Testing
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop
import VestaStoreInteropCrashTesting
import VestaTesting

@testable import VestaStorageService

/// A disk that is full or fails at any step of an upload.
@Suite struct DiskFaultTests {
  private static let name = ObjectName(bucket: "test-bucket", name: "a")
  private static let chunk = [UInt8](repeating: 7, count: 300_000)
  private let context = CallContext()

  @Test(arguments: [BlobError.Code.diskFull, .inputOutput])
  func `a failure at any step changes no object, and the upload continues afterwards`(code: BlobError.Code) async throws
  {
    var step = 0
    var isOver = false
    while !isOver {
      let directory = try TemporaryDirectory()
      let harness = try StorageHarness(directory: directory.path)
      let blobs = FaultyBlobs(FileBlobStore(directory: directory.path + "/blobs"))
      let engine = try engine(harness, blobs, directory.path)
      let old = try await upload(engine, [1, 2, 3])
      blobs.fail(after: step, code)
      do {
        _ = try await upload(engine, Self.chunk)
        isOver = true
        blobs.fail(after: nil, code)
      } catch let error as StorageServiceError {
        #expect(error.code == (code == .diskFull ? .resourceExhausted : .internal), "step \(step): \(error)")
        blobs.fail(after: nil, code)
        #expect(try await content(engine) == [1, 2, 3], "step \(step)")
        #expect(
          try await engine.getObject(Self.name, preconditions: .none, context: context).generation == old.generation)
      }
      _ = try await upload(engine, Self.chunk)
      #expect(try await content(engine) == Self.chunk + Self.chunk + Self.chunk, "step \(step)")
      try await engine.close()
      let next = try self.engine(harness, blobs, directory.path)
      #expect(try await content(next) == Self.chunk + Self.chunk + Self.chunk, "step \(step)")
      #expect(try await next.removeOrphans() == 0, "step \(step)")
      try await next.close()
      await harness.app.delete()
      step += 1
    }
    // Begin, three appends, at least one sync, and sealing.
    #expect(step > 5)
  }

  @Test func `a disk that is really full is a quota error, takes no space for what failed, and keeps what was there`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let lines = try await WorkerProcess("StorageCrashWorker", "full", directory.path).finish()
    #expect(
      lines == [
        "quotaExceeded", "quotaExceeded", "quotaExceeded", "quotaExceeded", "kept true", "replaced true", "done",
      ])
    // Failed uploads are cancelled, and the space is free again.
    let left = (FileManager.default.subpaths(atPath: directory.path) ?? []).filter { path in
      path.contains("storage-content/") && path.split(separator: "/").last?.count == 32
    }
    #expect(left.isEmpty)
  }

  @Test func `1,000 transfers at once all arrive where a process may have 256 files open`() async throws {
    let directory = try TemporaryDirectory()
    try Data(repeating: 7, count: 300_000).write(to: URL(fileURLWithPath: directory.path(of: "source")))
    let lines = try await WorkerProcess("StorageCrashWorker", "many", directory.path, directory.path(of: "source"))
      .finish()
    #expect(lines == ["arrived 1000", "fetched 1000", "done"])
  }

  @Test func `an upload that failed continues from its durable bytes`() async throws {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    let blobs = FaultyBlobs(FileBlobStore(directory: directory.path + "/blobs"))
    let engine = try engine(harness, blobs, directory.path)
    let id = try await engine.startUpload(UploadRequest(object: Self.name), context: context)
    _ = try await engine.appendToUpload(id, offset: 0, bytes: Self.chunk, context: context)
    _ = try await engine.appendToUpload(id, offset: 300_000, bytes: Self.chunk, context: context)
    blobs.fail(after: 0, .diskFull)
    await #expect(throws: StorageServiceError.self) {
      try await engine.appendToUpload(id, offset: 600_000, bytes: Self.chunk, context: context)
    }
    blobs.fail(after: nil, .diskFull)
    var received = try await engine.uploadStatus(id, context: context).received
    #expect(received > 0 && received % 300_000 == 0)
    while received < 900_000 {
      received = try await engine.appendToUpload(id, offset: received, bytes: Self.chunk, context: context).received
    }
    _ = try await engine.finalizeUpload(id, expected: ContentDigest(), context: context)
    #expect(try await content(engine) == Self.chunk + Self.chunk + Self.chunk)
    try await engine.close()
    await harness.app.delete()
  }

  @Test func `content above the limit has no MD5, unless its sender knows it`() async throws {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    var options = StorageServiceOptions()
    options.digestLimit = 400_000
    let blobs = FaultyBlobs(FileBlobStore(directory: directory.path + "/blobs"))
    let engine = try engine(harness, blobs, directory.path, options)
    let crypto = try harness.app.container.require((any CryptoProvider).self)
    let content = Self.chunk + Self.chunk + Self.chunk
    let md5 = try crypto.digest(.md5, of: content.span.bytes)
    #expect(try await upload(engine, Self.chunk).md5 == nil)
    #expect(try await upload(engine, Self.chunk, expected: ContentDigest(md5: md5)).md5 == md5)
    let error = await #expect(throws: StorageServiceError.self) {
      try await upload(engine, Self.chunk, expected: ContentDigest(md5: [UInt8](repeating: 0, count: 16)))
    }
    #expect(error?.reason == .contentMismatch)
    try await engine.close()
    await harness.app.delete()
  }

  @Test func `uploads that were given up are removed while the service runs`() async throws {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    let clock = ManualClock()
    let files = FileBlobStore(directory: directory.path + "/blobs")
    let engine = try engine(harness, FaultyBlobs(files), directory.path, clock: clock)
    let id = try await engine.startUpload(UploadRequest(object: Self.name), context: context)
    _ = try await engine.appendToUpload(id, offset: 0, bytes: Self.chunk, context: context)
    #expect(try await files.list().count == 1)
    clock.advance(by: .seconds(8 * 24 * 3600))
    _ = try await engine.startUpload(UploadRequest(object: Self.name), context: context)
    #expect(try await files.list().isEmpty)
    try await engine.close()
    await harness.app.delete()
  }

  @Test func `the sweeper leaves a slow upload alone, and one beyond its lifetime takes nothing more`() async throws {
    let directory = try TemporaryDirectory()
    let harness = try StorageHarness(directory: directory.path)
    let clock = ManualClock()
    let files = FileBlobStore(directory: directory.path + "/blobs")
    let engine = try engine(harness, FaultyBlobs(files), directory.path, clock: clock)
    let id = try await engine.startUpload(UploadRequest(object: Self.name), context: context)
    for index in 0..<20 {
      let offset = Int64(index * Self.chunk.count)
      _ = try await engine.appendToUpload(id, offset: offset, bytes: Self.chunk, context: context)
      clock.advance(by: .seconds(8 * 3600))
      // Each start looks for what has expired.
      let other = UploadRequest(object: ObjectName(bucket: "test-bucket", name: "other"))
      try await engine.cancelUpload(engine.startUpload(other, context: context), context: context)
      #expect(try await engine.removeOrphans() == 0)
    }
    let late = try await engine.startUpload(UploadRequest(object: Self.name), context: context)
    _ = try await engine.appendToUpload(late, offset: 0, bytes: Self.chunk, context: context)
    _ = try await engine.finalizeUpload(id, expected: ContentDigest(), context: context)
    #expect(try await content(engine).count == 20 * Self.chunk.count)
    clock.advance(by: .seconds(8 * 24 * 3600))
    let error = await #expect(throws: StorageServiceError.self) {
      try await engine.appendToUpload(late, offset: Int64(Self.chunk.count), bytes: Self.chunk, context: context)
    }
    #expect(error?.reason == .uploadGone)
    await #expect(throws: StorageServiceError.self) {
      try await engine.finalizeUpload(late, expected: ContentDigest(), context: context)
    }
    _ = try await engine.startUpload(UploadRequest(object: Self.name), context: context)
    #expect(try await files.list().count == 1)
    #expect(try await content(engine).count == 20 * Self.chunk.count)
    try await engine.close()
    await harness.app.delete()
  }

  // MARK: Steps

  private func engine(
    _ harness: StorageHarness, _ blobs: FaultyBlobs, _ directory: String,
    _ options: StorageServiceOptions? = nil, clock: ManualClock? = nil
  ) throws -> StorageEngine {
    var small = StorageServiceOptions()
    small.checkpointInterval = 256 * 1024
    small.inlineLimit = 0
    let stores = try harness.app.container.require((any StoreProvider).self)
    return StorageEngine(
      options: options ?? small, crypto: try harness.app.container.require((any CryptoProvider).self),
      content: .provided(blobs),
      clock: clock.map { clock in ServiceClock(now: { clock.now }) { clock.schedule(after: $0, $1) } } ?? .system
    ) {
      try await stores.openStore(named: "faulty", in: directory, options: StoreOptions())
    }
  }

  private func upload(
    _ engine: StorageEngine, _ chunk: [UInt8], expected: ContentDigest = ContentDigest()
  ) async throws -> StorageObject {
    let id = try await engine.startUpload(UploadRequest(object: Self.name), context: context)
    if chunk.count < 10 {
      _ = try await engine.appendToUpload(id, offset: 0, bytes: chunk, context: context)
    } else {
      for index in 0..<3 {
        let offset = Int64(index * chunk.count)
        _ = try await engine.appendToUpload(id, offset: offset, bytes: chunk, context: context)
      }
    }
    return try await engine.finalizeUpload(id, expected: expected, context: context)
  }

  private func content(_ engine: StorageEngine) async throws -> [UInt8] {
    let download = try await engine.openObject(ReadRequest(object: Self.name), context: context)
    defer { download.content.close() }
    var bytes: [UInt8] = []
    while true {
      let next = try await download.content.read(maximumLength: 1 << 20)
      if next.isEmpty { return bytes }
      bytes += next
    }
  }
}

/// A blob store whose disk fails from some step on.
private final class FaultyBlobs: BlobStore {
  private struct State {
    var left: Int?
    var code = BlobError.Code.inputOutput
  }

  private let base: FileBlobStore
  private let state = Locked(State())

  init(_ base: FileBlobStore) { self.base = base }

  /// Lets some steps pass, then fails all of them; `nil` ends that.
  func fail(after steps: Int?, _ code: BlobError.Code) { state.withLock { $0 = State(left: steps, code: code) } }

  func step() throws {
    try state.withLock { state in
      guard let left = state.left else { return }
      guard left > 0 else { throw BlobError(state.code, "The disk fails in this test.") }
      state.left = left - 1
    }
  }

  func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter {
    try step()
    return FaultyWriter(base: try await base.write(id, keeping: size), store: self)
  }

  func read(_ id: BlobID) async throws -> any BlobReader { try await base.read(id) }
  func readUnsealed(_ id: BlobID) async throws -> any BlobReader { try await base.readUnsealed(id) }
  func remove(_ id: BlobID) async throws { try await base.remove(id) }
  func list() async throws -> [BlobID] { try await base.list() }
  func close() async {}
}

private struct FaultyWriter: BlobWriter {
  let base: any BlobWriter
  let store: FaultyBlobs
  var size: Int64 { base.size }

  func append(_ bytes: [UInt8]) async throws {
    try store.step()
    try await base.append(bytes)
  }

  func sync() async throws {
    try store.step()
    try await base.sync()
  }

  func seal() async throws {
    try store.step()
    try await base.seal()
  }

  func close() { base.close() }
}
