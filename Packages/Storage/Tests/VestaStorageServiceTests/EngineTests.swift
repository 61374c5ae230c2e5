import Testing
import VestaBytes
import VestaCryptoInteropFakes
import VestaEventsInterop
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// The engine on the model store and files, where the system has no MD5.
@Suite struct EngineTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()
  private let context = CallContext()
  private let name = ObjectName(bucket: "bucket", name: "a/b")

  init() throws { directory = try TemporaryDirectory() }

  private func engine(
    on store: ModelStore = ModelStore(), _ change: (inout StorageServiceOptions) -> Void = { _ in }
  ) -> StorageEngine {
    var options = StorageServiceOptions()
    (options.inlineLimit, options.checkpointInterval) = (16, 100)
    change(&options)
    return StorageEngine(
      options: options, crypto: BarredCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))),
      clock: clock.service, openStore: { store })
  }

  private func content(_ length: Int) -> [UInt8] { (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

  private func read(_ engine: StorageEngine, offset: Int64 = 0, length: Int64? = nil) async throws -> [UInt8] {
    let download = try await engine.openObject(
      ReadRequest(object: name, offset: offset, length: length), context: context)
    var bytes: [UInt8] = []
    while case let next = try await download.content.read(maximumLength: 7), !next.isEmpty { bytes += next }
    download.content.close()
    return bytes
  }

  @Test func `buckets with objects are listed, for owners alone`() async throws {
    let engine = engine()
    #expect(try await engine.listBuckets(context: .owner) == [])
    for (bucket, name) in [("bbb", "1"), ("aaa", "x"), ("bbb", "2"), ("aaa-b", "z"), ("aaa", "y/z")] {
      let object = ObjectName(bucket: bucket, name: name)
      _ = try await engine.putObject(UploadRequest(object: object), content: [1], context: .owner)
    }
    #expect(try await engine.listBuckets(context: .owner) == ["aaa", "aaa-b", "bbb"])
    try await engine.deleteObject(ObjectName(bucket: "aaa-b", name: "z"), preconditions: .none, context: .owner)
    #expect(try await engine.listBuckets(context: .owner).contains("aaa-b") == false)
    await #expect(throws: StorageServiceError.self) { try await engine.listBuckets(context: CallContext()) }
    try await engine.close()
  }

  @Test(arguments: StorageContracts.all) func `the engine honours`(contract: Contract<any StorageBackend>) async throws
  {
    let engine = engine()
    try await contract.verify(engine)
    try await engine.close()
  }

  @Test(arguments: BlobContracts.all) func `the file store honours`(contract: Contract<any BlobStore>) async throws {
    try await contract.verify(FileBlobStore(directory: directory.path(of: "own")))
  }

  @Test(arguments: [0, 1, 16, 17, 1_000, UploadLimits.singleCallLength])
  func `content survives a round trip, whole and in parts`(length: Int) async throws {
    let (engine, bytes) = (engine(), content(length))
    let object = try await engine.putObject(UploadRequest(object: name), content: bytes, context: context)
    var checksum = CRC32C()
    checksum.update(bytes)
    #expect(object.size == Int64(length) && object.crc32c == checksum.value && object.md5 == nil)
    #expect(object.metageneration == 1)
    #expect(try await read(engine) == bytes)
    let half = Int64(length / 2)
    #expect(try await read(engine, offset: half) == Array(bytes[Int(half)...]))
    #expect(try await read(engine, offset: half, length: 1) == Array(bytes[Int(half)...].prefix(1)))
    #expect(try await read(engine, offset: Int64(length)) == [])
    for (offset, wanted) in [(-1, nil), (Int64(length) + 1, nil), (0, -1)] as [(Int64, Int64?)] {
      await #expect(throws: StorageServiceError.self) { try await read(engine, offset: offset, length: wanted) }
    }
    try await engine.close()
  }

  @Test func `content beyond the limits of a call is refused`() async throws {
    let engine = engine()
    await #expect(throws: StorageServiceError.self) {
      try await engine.putObject(
        UploadRequest(object: name), content: content(UploadLimits.singleCallLength + 1), context: context)
    }
    let id = try await engine.startUpload(UploadRequest(object: name), context: context)
    await #expect(throws: StorageServiceError.self) {
      try await engine.appendToUpload(id, offset: 0, bytes: content(UploadLimits.chunkLength + 1), context: context)
    }
    let most = content(UploadLimits.chunkLength)
    #expect(
      try await engine.appendToUpload(id, offset: 0, bytes: most, context: context).received == Int64(most.count))
    try await engine.close()
  }

  @Test func `times and tokens of an object only go forwards, whatever the clock does`() async throws {
    let store = ModelStore()
    let engine = engine(on: store)
    let first = try await engine.putObject(UploadRequest(object: name), content: [1], context: context)
    clock.advance(by: .seconds(10))
    var change = MetadataChange()
    (change.cacheControl, change.contentType, change.custom) = (
      .set("no-store"), .set("a/b"), .set(["k": "v", "l": "w"])
    )
    let changed = try await engine.updateObject(name, change: change, preconditions: .none, context: context)
    #expect(changed.updated == first.updated + 10_000_000)
    #expect(changed.metageneration == 2 && changed.generation == first.generation)
    #expect(changed.metadata.cacheControl == "no-store" && changed.metadata.custom == ["k": "v", "l": "w"])
    #expect(try await engine.getObject(name, preconditions: .none, context: context) == changed)
    let added = try await engine.changeDownloadTokens(name, .add, context: context)
    #expect(added.downloadTokens.count == 2 && added.metageneration == 3)
    let unknown = try await engine.changeDownloadTokens(name, .revoke("unknown"), context: context)
    #expect(unknown == added)
    let one = try await engine.changeDownloadTokens(name, .revoke(added.downloadTokens[0]), context: context)
    #expect(one.downloadTokens == [added.downloadTokens[1]] && one.metageneration == 4)
    let none = try await engine.changeDownloadTokens(name, .revoke(one.downloadTokens[0]), context: context)
    #expect(none.downloadTokens.count == 1 && none.downloadTokens != one.downloadTokens)

    let behind = StorageEngine(
      options: StorageServiceOptions(), crypto: BarredCrypto(),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))), clock: ManualClock(at: 5).service,
      openStore: { store })
    for later in [
      try await behind.updateObject(name, change: change, preconditions: .none, context: context),
      try await behind.changeDownloadTokens(name, .add, context: context),
    ] { #expect(later.updated == none.updated) }
    try await engine.close()
  }

  @Test func `an upload continues in the next engine from its checkpoint, and is finished once`() async throws {
    let (store, bytes) = (ModelStore(), content(1_000))
    let first = engine(on: store)
    let request = UploadRequest(object: name, size: 1_000)
    let id = try await first.startUpload(request, context: context)
    var status = try await first.appendToUpload(id, offset: 0, bytes: Array(bytes[..<400]), context: context)
    #expect(status.received == 400 && status.state == .active)
    await #expect(throws: StorageServiceError.self) {
      try await first.appendToUpload(id, offset: 399, bytes: [1], context: context)
    }
    // A process that ends in good order keeps all of it.
    for upload in await first.uploads.removeAll() { await first.suspend(upload) }
    let second = engine(on: store)
    status = try await second.uploadStatus(id, context: context)
    #expect(status.received == 400)
    _ = try await second.appendToUpload(id, offset: 400, bytes: Array(bytes[400...]), context: context)
    let object = try await second.finalizeUpload(id, expected: ContentDigest(size: 1_000), context: context)
    #expect(try await second.finalizeUpload(id, expected: ContentDigest(), context: context) == object)
    #expect(try await second.uploadStatus(id, context: context).state == .final)
    #expect(try await read(second) == bytes)
    await #expect(throws: StorageServiceError.self) { try await second.cancelUpload(id, context: context) }
    try await second.close()
  }

  @Test func `a bounded number of uploads stay open, and all of them finish`() async throws {
    let engine = engine { $0.maximumOpenUploads = 2 }
    var ids: [UploadID] = []
    for number in 0..<5 {
      let object = ObjectName(bucket: "bucket", name: "\(number)")
      ids.append(try await engine.startUpload(UploadRequest(object: object), context: context))
    }
    for part in 0..<3 {
      for (number, id) in ids.enumerated() {
        let bytes = [UInt8](repeating: UInt8(number), count: 50)
        _ = try await engine.appendToUpload(id, offset: Int64(part * 50), bytes: bytes, context: context)
      }
    }
    for (number, id) in ids.enumerated() {
      let object = try await engine.finalizeUpload(id, expected: ContentDigest(), context: context)
      var checksum = CRC32C()
      checksum.update([UInt8](repeating: UInt8(number), count: 150))
      #expect(object.size == 150 && object.crc32c == checksum.value)
    }
    #expect(await engine.uploads.removeAll().isEmpty)
    try await engine.close()
  }

  @Test func `uploads that were given up and content that was replaced leave no files`() async throws {
    let store = ModelStore()
    let engine = engine(on: store)
    for _ in 0..<3 {
      _ = try await engine.putObject(UploadRequest(object: name), content: content(90), context: context)
    }
    #expect(try await engine.blobs.list().count == 1)
    let cancelled = try await engine.startUpload(UploadRequest(object: name), context: context)
    _ = try await engine.appendToUpload(cancelled, offset: 0, bytes: [1], context: context)
    try await engine.cancelUpload(cancelled, context: context)
    try await engine.cancelUpload(cancelled, context: context)
    #expect(try await engine.blobs.list().count == 1)
    let lost = try await engine.startUpload(UploadRequest(object: name), context: context)
    _ = try await engine.appendToUpload(lost, offset: 0, bytes: [1], context: context)
    #expect(try await engine.removeOrphans() == 0)
    clock.advance(by: .seconds(8 * 24 * 3_600))
    await #expect(throws: StorageServiceError.self) {
      try await engine.appendToUpload(lost, offset: 1, bytes: [1], context: context)
    }
    let next = self.engine(on: store)
    _ = try await next.getObject(name, preconditions: .none, context: context)
    #expect(try await next.blobs.list().count == 1)
    let stray = try await next.blobs.write(try #require(BlobID(rawValue: "stray1")), keeping: 0)
    try await stray.append([1])
    stray.close()
    #expect(try await next.removeOrphans() == 1)
    try await next.deleteObject(name, preconditions: .none, context: context)
    #expect(try await next.blobs.list().isEmpty)
    try await next.close()
  }

  @Test func `functions get what happened to an object, without its tokens`() async throws {
    let engine = engine()
    let types: Set<EventType> = [.objectFinalized, .objectDeleted, .objectMetadataUpdated]
    engine.events.subscribe([EventSubscription(function: "f", types: types, scope: "bucket")])
    let first = try await engine.putObject(UploadRequest(object: name), content: [1, 2], context: context)
    let second = try await engine.putObject(UploadRequest(object: name), content: [3], context: context)
    var change = MetadataChange()
    change.custom = .set(["k": "v"])
    _ = try await engine.updateObject(name, change: change, preconditions: .none, context: context)
    try await engine.deleteObject(name, preconditions: .none, context: context)
    var events: [Event] = []
    for entry in try await engine.events.events(EventPageRequest(function: "f", limit: 10)).entries {
      events.append(try #require(try await engine.events.event(entry)))
    }
    #expect(
      events.map(\.type) == [
        .objectFinalized, .objectDeleted, .objectFinalized, .objectMetadataUpdated, .objectDeleted,
      ])
    #expect(
      events.map { $0.data["generation"]?.string }
        == [first, first, second, second, second].map { String($0.generation) })
    #expect(events.map { $0.data["size"]?.string } == ["2", "2", "1", "1", "1"])
    #expect(events.map { $0.data["metadata"]?.object?["k"]?.string } == [nil, nil, nil, "v", "v"])
    #expect(events.map { $0.data["metadata"] != nil } == [false, false, false, true, true])
    #expect(events.allSatisfy { $0.path == "a/b" && $0.scope == "bucket" && $0.data["downloadTokens"] == nil })
    try await engine.close()
  }
}
