import Testing
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// Content in pieces in the store, alone and under two engines that share the store and no folder.
@Suite struct PieceTests {
  private let directory: TemporaryDirectory
  private let storeClock = ManualStoreClock()
  private let store: ModelStore
  private let context = CallContext()
  private let name = ObjectName(bucket: "bucket", name: "a")

  init() throws {
    directory = try TemporaryDirectory()
    store = ModelStore(clock: storeClock.clock)
  }

  private func tuning(_ piece: Int, _ together: Int = 100) -> StorageServiceTuning {
    var tuning = StorageServiceTuning()
    (tuning.storedPiece, tuning.storedTogether, tuning.pieceLength) = (piece, together, 64)
    return tuning
  }

  private func id(_ text: String) throws -> BlobID { try #require(BlobID(rawValue: text)) }

  @Test(arguments: BlobContracts.all)
  func `content in the store keeps the contract, whatever its pieces are`(contract: Contract<any BlobStore>)
    async throws
  {
    for (piece, together) in [(1, 100), (2, 120), (3, 2_000), (1_000, 10), (256 << 10, 4 << 20)] {
      try await contract.verify(StoreBlobStore(ModelStore(), tuning: tuning(piece, together)))
    }
  }

  @Test func `pieces of removed content stay for its readers, and go when their time is over`() async throws {
    let blobs = StoreBlobStore(store, tuning: tuning(2))
    let writer = try await blobs.write(try id("a1"), keeping: 0)
    try await writer.append([1, 2, 3, 4, 5])
    try await writer.seal()
    let reader = try await blobs.read(try id("a1"))
    try await blobs.remove(try id("a1"))
    #expect(try await reader.read(at: 0, length: 9) == [1, 2, 3, 4, 5])
    storeClock.advance(by: StorageServiceTuning().removalDelay + 1_000)
    try await blobs.remove(try id("other"))
    await #expect(throws: BlobError.self) { try await reader.read(at: 0, length: 9) }
    #expect(try await store.read { try await $0.entries(in: KeyRange(prefix: [])) }.isEmpty)
  }

  @Test func `a full store is told whether it has given room away: the content that was removed before`() async throws {
    let blobs = StoreBlobStore(store, tuning: tuning(2))
    #expect(await blobs.makeRoom() == false)
    let writer = try await blobs.write(try id("a1"), keeping: 0)
    try await writer.append([1, 2, 3, 4, 5])
    try await writer.seal()
    try await blobs.remove(try id("a1"))
    #expect(await blobs.makeRoom())
    #expect(try await store.read { try await $0.entries(in: KeyRange(prefix: [])) }.isEmpty)
    #expect(await blobs.makeRoom() == false)
  }

  @Test func `a writer whose blob another process has taken writes nothing more`() async throws {
    let (first, second) = (StoreBlobStore(store, tuning: tuning(2)), StoreBlobStore(store, tuning: tuning(2)))
    let old = try await first.write(try id("a1"), keeping: 0)
    try await old.append([1, 2, 3])
    try await old.sync()
    let new = try await second.write(try id("a1"), keeping: 3)
    try await new.append([4])
    await #expect(throws: BlobError.self) { try await old.append([9, 9, 9]) }
    await #expect(throws: BlobError.self) { try await old.sync() }
    await #expect(throws: BlobError.self) { try await old.seal() }
    try await new.seal()
    #expect(try await first.read(try id("a1")).read(at: 0, length: 9) == [1, 2, 3, 4])
  }

  @Test func `an upload that is cancelled lets go of its content`() async throws {
    let blobs = StoreBlobStore(store, tuning: tuning(2))
    let engine = StorageEngine(
      options: StorageServiceOptions(), crypto: BarredCrypto(), content: .provided(blobs),
      openStore: { [store] in store })
    let upload = try await engine.startUpload(UploadRequest(object: name), context: context)
    _ = try await engine.appendToUpload(upload, offset: 0, bytes: [1, 2, 3], context: context)
    let row = try #require(try await store.read { try await $0.get(Keys.upload(upload)) })
    let used = try id(try UploadRecord(fieldBytes: row).blob)
    await #expect(throws: BlobError.self) { try await blobs.write(used, keeping: 0) }
    try await engine.cancelUpload(upload, context: context)
    try await blobs.write(used, keeping: 0).close()
    try await engine.close()
  }

  @Test func `syncs concurrent with appends leave every byte in its place`() async throws {
    var random = SplitMix(seed: 4)
    for round in 0..<30 {
      let blobs = StoreBlobStore(ModelStore(), tuning: tuning(1 + random.below(9), 1 + random.below(40)))
      let writer = try await blobs.write(try id("a1"), keeping: 0)
      var bytes: [UInt8] = []
      var sync: Task<Void, any Error>?
      for _ in 0..<20 {
        let part = random.bytes(random.below(30))
        try await writer.append(part)
        bytes += part
        guard random.oneIn(2) else { continue }
        try await sync?.value
        sync = Task { try await writer.sync() }
      }
      try await sync?.value
      try await writer.seal()
      let reader = try await blobs.read(try id("a1"))
      var read: [UInt8] = []
      while case let part = try await reader.read(at: Int64(read.count), length: 17), !part.isEmpty { read += part }
      #expect(read == bytes, "round \(round)")
    }
  }

  // MARK: Two engines

  private func engine() -> StorageEngine {
    var options = StorageServiceOptions()
    (options.inlineLimit, options.checkpointInterval) = (16, 100)
    options.tuning = tuning(50)
    return StorageEngine(
      options: options, crypto: BarredCrypto(),
      content: .ownFolder(directory.path(of: "own-\(UInt64.random(in: 0 ... .max))")),
      openStore: { [store] in SharedStore(store) })
  }

  private func read(_ engine: StorageEngine) async throws -> [UInt8] {
    let download = try await engine.openObject(ReadRequest(object: name), context: context)
    defer { download.content.close() }
    var bytes: [UInt8] = []
    while case let next = try await download.content.read(maximumLength: 33), !next.isEmpty { bytes += next }
    return bytes
  }

  @Test func `processes that share a store and no folder read what each of them has stored`() async throws {
    let (first, second) = (engine(), engine())
    let content = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    _ = try await first.putObject(UploadRequest(object: name), content: content, context: context)
    #expect(try await read(second) == content)
    _ = try await second.putObject(UploadRequest(object: name), content: Array(content.reversed()), context: context)
    #expect(try await read(first) == content.reversed())
    try await first.deleteObject(name, preconditions: .none, context: context)
    await #expect(throws: StorageServiceError.self) { try await read(second) }
    #expect(directory.names.isEmpty)
  }

  @Test func `an upload that one process begins is continued and ended by another`() async throws {
    let (first, second) = (engine(), engine())
    let (old, new) = ([UInt8](repeating: 9, count: 130), [UInt8](repeating: 5, count: 70))
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    _ = try await first.appendToUpload(id, offset: 0, bytes: old, context: context)
    let busy = await #expect(throws: StorageServiceError.self) { try await second.uploadStatus(id, context: context) }
    #expect(busy?.code == .aborted)
    try await first.close()
    #expect(try await second.uploadStatus(id, context: context).received == 130)
    _ = try await second.appendToUpload(id, offset: 130, bytes: new, context: context)
    _ = try await second.finalizeUpload(id, expected: ContentDigest(size: 200), context: context)
    #expect(try await read(second) == old + new)
  }
}
