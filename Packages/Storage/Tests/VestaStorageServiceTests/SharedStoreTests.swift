import Foundation
import Testing
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaFiles
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// Two engines on one store, as two processes have them.
@Suite struct SharedStoreTests {
  private let directory: TemporaryDirectory
  private let clock: ManualClock
  private let storeClock = ManualStoreClock()
  private let store: ModelStore
  private let context = CallContext()
  private let name = ObjectName(bucket: "bucket", name: "a")

  init() throws {
    directory = try TemporaryDirectory()
    store = ModelStore(clock: storeClock.clock)
    clock = ManualClock(at: storeClock.now.wall)
  }

  private func engine(_ content: ContentPlace? = nil, clock: ManualClock? = nil) -> StorageEngine {
    var options = StorageServiceOptions()
    (options.inlineLimit, options.checkpointInterval) = (16, 100)
    options.tuning.pieceLength = 64
    return StorageEngine(
      options: options, crypto: BarredCrypto(), content: content ?? .sharedFolder(directory.path(of: "shared")),
      clock: (clock ?? self.clock).service, openStore: { [store] in SharedStore(store) })
  }

  private func read(_ engine: StorageEngine) async throws -> [UInt8] {
    let download = try await engine.openObject(ReadRequest(object: name), context: context)
    defer { download.content.close() }
    var bytes: [UInt8] = []
    while case let next = try await download.content.read(maximumLength: 1_000), !next.isEmpty { bytes += next }
    return bytes
  }

  /// Waits until `durable` bytes of an upload are durable, and then until its owner has had it for too long.
  private func stop(_ engine: StorageEngine, _ id: UploadID, durable: Int64) async throws {
    let call = UploadCall(engine: engine, context: context, now: clock.now)
    while try await call.upload(id)?.checkpoint != durable { await Task.yield() }
    storeClock.advance(by: StorageServiceTuning().ownership + 1_000)
  }

  private func refusal(_ body: () async throws -> Void) async -> StorageServiceError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? StorageServiceError
    }
  }

  @Test func `another folder than the one of the store's content is refused`() async throws {
    let first = engine()
    _ = try await first.putObject(UploadRequest(object: name), content: [1], context: context)
    let second = engine()
    #expect(try await read(second) == [1])
    let other = engine(.sharedFolder(directory.path(of: "other")))
    let refused = await refusal { _ = try await read(other) }
    #expect(refused?.code == .failedPrecondition)
    #expect(refused?.message.contains(directory.path(of: "other")) == true)
  }

  @Test func `content that is not in its place is reported as that, and not as deleted`() async throws {
    let engine = engine()
    _ = try await engine.putObject(
      UploadRequest(object: name), content: [UInt8](repeating: 1, count: 50), context: context)
    for blob in try await engine.blobs.list() { try await engine.blobs.remove(blob) }
    let refused = await refusal { _ = try await read(engine) }
    #expect(refused?.code == .dataLoss)
    #expect(refused?.message.contains("is not in the folder \(directory.path(of: "shared"))") == true)
  }

  @Test func `an upload that another process writes is neither opened, nor cut, nor finalized`() async throws {
    let (first, second) = (engine(), engine())
    let chunk = [UInt8](repeating: 9, count: 80)
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    for part in 0..<3 {
      _ = try await first.appendToUpload(id, offset: Int64(80 * part), bytes: chunk, context: context)
    }
    for call in [
      { _ = try await second.uploadStatus(id, context: context) },
      { _ = try await second.appendToUpload(id, offset: 240, bytes: chunk, context: context) },
      { _ = try await second.finalizeUpload(id, expected: ContentDigest(), context: context) },
    ] as [() async throws -> Void] {
      #expect(await refusal(call)?.code == .aborted)
    }
    let status = try await first.appendToUpload(id, offset: 240, bytes: chunk, context: context)
    #expect(status.received == 320)
    _ = try await first.finalizeUpload(id, expected: ContentDigest(size: 320), context: context)
    #expect(try await read(second) == chunk + chunk + chunk + chunk)
  }

  @Test func `an upload whose owner has stopped is taken over, and what the owner still writes is not in it`()
    async throws
  {
    let (first, second) = (engine(), engine())
    let (old, new) = ([UInt8](repeating: 9, count: 120), [UInt8](repeating: 5, count: 60))
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    _ = try await first.appendToUpload(id, offset: 0, bytes: old, context: context)
    _ = try await first.appendToUpload(id, offset: 120, bytes: [1], context: context)
    // The time of the store counts, and no clock of a process.
    clock.advance(by: .seconds(3_600))
    #expect(await refusal { _ = try await second.uploadStatus(id, context: context) }?.code == .aborted)
    try await stop(first, id, durable: 120)
    #expect(try await second.uploadStatus(id, context: context).received == 120)
    _ = try await second.appendToUpload(id, offset: 120, bytes: new, context: context)
    // The former owner continues with a blob that is another one by now; where it is slow it has to renew, and is told.
    let late = await refusal { _ = try await first.appendToUpload(id, offset: 121, bytes: [1, 1], context: context) }
    #expect(late == nil || late?.code == .aborted)
    #expect(
      await refusal { _ = try await first.finalizeUpload(id, expected: ContentDigest(), context: context) }?.code
        == .aborted)
    _ = try await second.finalizeUpload(id, expected: ContentDigest(size: 180), context: context)
    #expect(try await read(second) == old + new)
    #expect(try await read(first) == old + new)
    #expect(try await second.blobs.list().count == 1)
  }

  @Test func `a former owner whose content is refused does not remove the upload of the new one`() async throws {
    let (first, second) = (engine(), engine())
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    _ = try await first.appendToUpload(id, offset: 0, bytes: [UInt8](repeating: 9, count: 120), context: context)
    try await stop(first, id, durable: 120)
    #expect(try await second.uploadStatus(id, context: context).received == 120)
    #expect(
      await refusal {
        _ = try await first.finalizeUpload(id, expected: ContentDigest(size: 7), context: context)
      }?.reason == .contentMismatch)
    _ = try await second.finalizeUpload(id, expected: ContentDigest(size: 120), context: context)
    #expect(try await read(second).count == 120)
  }

  @Test func `an upload that its engine gives up is continued by another one at once`() async throws {
    let (first, second) = (engine(), engine())
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    _ = try await first.appendToUpload(id, offset: 0, bytes: [UInt8](repeating: 9, count: 70), context: context)
    try await first.close()
    #expect(try await second.uploadStatus(id, context: context).received == 70)
    _ = try await second.finalizeUpload(id, expected: ContentDigest(size: 70), context: context)
    #expect(try await read(second).count == 70)
  }

  @Test func `a clock that is ahead expires no upload of another process`() async throws {
    let first = engine()
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    _ = try await first.appendToUpload(id, offset: 0, bytes: [1, 2], context: context)
    let ahead = ManualClock(at: clock.now + 30 * 24 * 3_600_000_000)
    let second = engine(nil, clock: ahead)
    _ = try? await second.getObject(name, preconditions: .none, context: context)
    _ = try await first.finalizeUpload(id, expected: ContentDigest(size: 2), context: context)
    #expect(try await read(first) == [1, 2])
  }
}

/// Remains of crashes, and damage, of one engine on a separate store.
@Suite struct LeftoverTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()
  private let context = CallContext()
  private let name = ObjectName(bucket: "bucket", name: "a")

  init() throws { directory = try TemporaryDirectory() }

  private func engine(_ store: any OrderedStore) -> StorageEngine {
    var options = StorageServiceOptions()
    options.inlineLimit = 0
    return StorageEngine(
      options: options, crypto: BarredCrypto(), content: .ownFolder(directory.path(of: "content")),
      clock: clock.service, openStore: { store })
  }

  @Test func `an upload that only its process could continue is removed at the next start, and others stay`()
    async throws
  {
    let store = ModelStore()
    let first = engine(store)
    for isContinuable in [true, false] {
      let request = UploadRequest(object: name, isContinuable: isContinuable)
      let id = try await first.startUpload(request, context: context)
      _ = try await first.appendToUpload(id, offset: 0, bytes: [1], context: context)
    }
    #expect(try await first.blobs.list().count == 2)
    let next = engine(store)
    _ = try? await next.getObject(name, preconditions: .none, context: context)
    #expect(try await next.blobs.list().count == 1)
  }

  @Test func `one file that cannot be removed, and one damaged row, do not keep the others`() async throws {
    let store = ModelStore()
    let first = engine(store)
    _ = try await first.putObject(UploadRequest(object: name), content: [1], context: context)
    var ids: [UploadID] = []
    for number in 0..<3 {
      let id = try await first.startUpload(UploadRequest(object: name), context: context)
      _ = try await first.appendToUpload(id, offset: 0, bytes: [UInt8(number)], context: context)
      ids.append(id)
    }
    for upload in await first.uploads.removeAll() { await first.suspend(upload) }
    // A directory in the place of a blob cannot be removed as a file.
    let (damaged, stuck) = (Keys.upload(ids[0]), Keys.garbage(try #require(BlobID(rawValue: "0stuck"))))
    _ = try await store.write { transaction in
      try await transaction.put([0xFF], for: damaged)
      try await transaction.put([], for: stuck)
    }
    try DurableFile.makeDirectory(directory.path(of: "content/partial/0stuck/x"))
    clock.advance(by: .seconds(8 * 24 * 3_600))
    let next = engine(store)
    _ = try await next.getObject(name, preconditions: .none, context: context)
    // The object, the blob of the damaged row, and the directory.
    #expect(try await next.blobs.list().count == 3)
  }

  @Test func `an object can be deleted on a full disk, and room is kept for the next one`() async throws {
    let reserve = directory.path(of: "blobs/reserve")
    let isFull = Locked(false)
    let store = SharedStore(ModelStore()) {
      let hasNoRoom = isFull.withLock { $0 } && ((try? OpenFile(reading: reserve).size()) ?? 0) > 0
      return hasNoRoom ? StoreError(.diskFull, operation: "commit", message: "The disk is full.") : nil
    }
    var options = StorageServiceOptions()
    options.inlineLimit = 4
    let engine = StorageEngine(
      options: options, crypto: BarredCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))), clock: clock.service,
      openStore: { store })
    for number in 0..<2 {
      let object = ObjectName(bucket: "bucket", name: "\(number)")
      _ = try await engine.putObject(
        UploadRequest(object: object), content: [UInt8](repeating: 1, count: 9 * number), context: context)
    }
    isFull.withLock { $0 = true }
    for number in 0..<2 {
      let object = ObjectName(bucket: "bucket", name: "\(number)")
      try await engine.deleteObject(object, preconditions: .none, context: context)
      #expect(try OpenFile(reading: reserve).size() == Int64(options.tuning.reservedBytes))
    }
    #expect(try await engine.blobs.list().isEmpty)
  }

  @Test func `a folder that was removed is made again for the next upload`() async throws {
    let engine = engine(ModelStore())
    for round in 0..<2 {
      let object = try await engine.putObject(
        UploadRequest(object: name), content: [UInt8](repeating: 1, count: 9), context: context)
      #expect(object.size == 9, "round \(round)")
      for folder in ["partial", "blobs"] {
        try FileManager.default.removeItem(atPath: directory.path(of: "content/\(folder)"))
      }
    }
  }

  @Test func `a blob whose file is not what was written is not sealed`() async throws {
    let blobs = FileBlobStore(directory: directory.path(of: "blobs"))
    let id = try #require(BlobID(rawValue: "a1"))
    let writer = try await blobs.write(id, keeping: 0)
    try await writer.append([1, 2, 3])
    try OpenFile(writing: directory.path(of: "blobs/partial/a1"), .never).truncate(to: 2)
    await #expect(throws: BlobError.self) { try await writer.seal() }
    await #expect(throws: BlobError.self) { try await blobs.read(id) }
    let refused = await #expect(throws: BlobError.self) { try await blobs.write(id, keeping: 2) }
    #expect(refused?.code == .busy)
    writer.close()
    try await blobs.write(id, keeping: 2).seal()
  }

  @Test(arguments: ["a\r\nb", "a\u{0}", "\u{7F}"])
  func `custom metadata with control characters is refused`(text: String) async throws {
    let engine = engine(ModelStore())
    for custom in [[text: "v"], ["n": text]] {
      let request = UploadRequest(object: name, metadata: ObjectMetadata(custom: custom))
      await #expect(throws: StorageServiceError.self) {
        try await engine.putObject(request, content: [1], context: context)
      }
    }
  }
}
