import Testing
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// The engine's limits: a value at the limit, and its neighbours on both sides.
@Suite struct BoundaryTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()
  private let context = CallContext()
  private let name = ObjectName(bucket: "bucket", name: "a")
  private let store = ModelStore()

  init() throws { directory = try TemporaryDirectory() }

  private func engine(_ change: (inout StorageServiceOptions) -> Void) -> StorageEngine {
    var options = StorageServiceOptions()
    change(&options)
    return StorageEngine(
      options: options, crypto: BarredCrypto(countsBytes: true),
      content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))),
      clock: clock.service, openStore: { [store] in store })
  }

  private func rows(_ range: KeyRange) async throws -> Int {
    try await store.read { try await $0.entries(in: range).count }
  }

  @Test(arguments: [(99, true), (100, true), (101, false)])
  func `content has a digest up to the limit, however it is uploaded`(length: Int, hasDigest: Bool) async throws {
    let bytes = [UInt8](repeating: 7, count: length)
    let expected: [UInt8]? = hasDigest ? BarredCrypto.digest(of: length) : nil
    for declared in [nil, Int64(length)] as [Int64?] {
      let first = engine { ($0.digestLimit, $0.checkpointInterval) = (100, 10) }
      let id = try await first.startUpload(UploadRequest(object: name, size: declared), context: context)
      _ = try await first.appendToUpload(id, offset: 0, bytes: Array(bytes[..<98]), context: context)
      for upload in await first.uploads.removeAll() { await first.suspend(upload) }
      // The next process reads again what it needs for the digest.
      let second = engine { $0.digestLimit = 100 }
      _ = try await second.appendToUpload(id, offset: 98, bytes: Array(bytes[98...]), context: context)
      let object = try await second.finalizeUpload(id, expected: ContentDigest(), context: context)
      #expect(object.md5 == expected, "declared: \(declared as Any)")
    }
  }

  @Test(arguments: [(15, 0), (16, 0), (17, 1)])
  func `content is kept in its row up to the limit, else in a file`(length: Int, files: Int) async throws {
    let engine = engine { $0.inlineLimit = 16 }
    _ = try await engine.putObject(
      UploadRequest(object: name), content: [UInt8](repeating: 7, count: length), context: context)
    #expect(try await FileBlobStore(directory: directory.path(of: "blobs")).list().count == files)
    try await engine.close()
  }

  @Test(arguments: [("", nil), ("a\n", nil), (".", nil), ("a", -1), ("a", 101)] as [(String, Int64?)])
  func `an upload that cannot end well does not begin`(name: String, size: Int64?) async throws {
    let engine = engine { $0.objectSizeLimit = 100 }
    let error = await #expect(throws: StorageServiceError.self) {
      try await engine.startUpload(
        UploadRequest(object: ObjectName(bucket: "bucket", name: name), size: size), context: context)
    }
    #expect(error?.code == .invalidArgument)
    #expect(try await rows(Keys.uploads) == 0)
    try await engine.close()
  }

  @Test func `an upload that is open ends with its lifetime, and not before`() async throws {
    let engine = engine { $0.sessionLifetime = .seconds(1_000) }
    let id = try await engine.startUpload(UploadRequest(object: name), context: context)
    clock.advance(by: .seconds(1_000) - .microseconds(1))
    _ = try await engine.appendToUpload(id, offset: 0, bytes: [1], context: context)
    clock.advance(by: .microseconds(1))
    let gone = await #expect(throws: StorageServiceError.self) {
      try await engine.appendToUpload(id, offset: 1, bytes: [2], context: context)
    }
    #expect(gone?.reason == .uploadGone)
    try await engine.close()
  }

  @Test func `content that was read to its end has no section of a file left`() async throws {
    let engine = engine { $0.inlineLimit = 0 }
    _ = try await engine.putObject(UploadRequest(object: name), content: [1, 2, 3], context: context)
    let content = try await engine.openObject(ReadRequest(object: name), context: context).content
    #expect(content.section()?.count == 3)
    #expect(try await content.read(maximumLength: 2) == [1, 2])
    #expect(content.section()?.count == 1)
    #expect(try await content.read(maximumLength: 2) == [3])
    #expect(content.section() == nil)
    content.close()
    try await engine.close()
  }

  @Test func `a download token is a UUID`() async throws {
    let engine = engine { _ in }
    let object = try await engine.putObject(UploadRequest(object: name), content: [1], context: context)
    let token = try #require(object.downloadTokens.first)
    #expect(token.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
    #expect(token.allSatisfy { "0123456789abcdef-".contains($0) })
    try await engine.close()
  }

  @Test func `what an upload has beyond the limit of a digest is not hashed again`() async throws {
    let first = engine { ($0.digestLimit, $0.checkpointInterval) = (100, 10) }
    let id = try await first.startUpload(UploadRequest(object: name, size: 1_000), context: context)
    _ = try await first.appendToUpload(id, offset: 0, bytes: [UInt8](repeating: 7, count: 50), context: context)
    for upload in await first.uploads.removeAll() { await first.suspend(upload) }
    let crypto = BarredCrypto(countsBytes: true)
    var options = StorageServiceOptions()
    options.digestLimit = 100
    let second = StorageEngine(
      options: options, crypto: crypto, content: .provided(FileBlobStore(directory: directory.path(of: "blobs"))),
      clock: clock.service, openStore: { [store] in store })
    #expect(try await second.uploadStatus(id, context: context).received == 50)
    #expect(crypto.streams == 0)
    try await second.close()
  }

  @Test(arguments: [(99, 0), (100, 100), (101, 101)])
  func `a process that is killed keeps its durable bytes`(length: Int, kept: Int64) async throws {
    let first = engine { $0.checkpointInterval = 100 }
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    _ = try await first.appendToUpload(id, offset: 0, bytes: [UInt8](repeating: 7, count: length), context: context)
    // Its open uploads are forgotten and their files closed, as by a kill; a checkpoint that has begun is awaited.
    for upload in await first.uploads.removeAll() { await upload.close() }
    let second = engine { $0.checkpointInterval = 100 }
    #expect(try await second.uploadStatus(id, context: context).received == kept)
    try await second.close()
  }

  @Test func `what an upload was asked to keep survives a process that is killed`() async throws {
    let first = engine { $0.checkpointInterval = 100 }
    let id = try await first.startUpload(UploadRequest(object: name), context: context)
    var size: Int64 = 0
    for length in [0, 30, 0, 99, 101] {
      let bytes = [UInt8](repeating: 7, count: length)
      _ = try await first.appendToUpload(id, offset: size, bytes: bytes, context: context)
      size += Int64(length)
      #expect(try await first.keepUpload(id, context: context).received == size)
    }
    _ = try await first.appendToUpload(id, offset: size, bytes: [7], context: context)
    for upload in await first.uploads.removeAll() { await upload.close() }
    let second = engine { $0.checkpointInterval = 100 }
    #expect(try await second.keepUpload(id, context: context).received == size)
    let made = try await second.finalizeUpload(id, expected: ContentDigest(), context: context)
    #expect(made.size == size)
    #expect(try await second.keepUpload(id, context: context).state == .final)
    try await second.close()
  }

  @Test func `uploads that have expired are removed an hour after the first one began, and not before`() async throws {
    let engine = engine { $0.checkpointInterval = 1 }
    let begun = clock.now
    await engine.expireUploads(now: begun)
    let expired = try await engine.startUpload(UploadRequest(object: name), context: context)
    _ = try await store.write { transaction in
      let row = try #require(try await transaction.get(Keys.upload(expired)))
      var record = try UploadRecord(fieldBytes: row)
      record.expires = begun
      try await transaction.put(try record.fieldBytes(), for: Keys.upload(expired))
    }
    await engine.expireUploads(now: begun + 3_600_000_000 - 1)
    #expect(try await rows(Keys.uploads) == 1)
    await engine.expireUploads(now: begun + 3_600_000_000)
    #expect(try await rows(Keys.uploads) == 0)
    try await engine.close()
  }

  @Test func `blobs that were removed leave no row, and nothing in memory`() async throws {
    let engine = engine { ($0.inlineLimit, $0.checkpointInterval) = (1, 100) }
    for round in 0..<4 {
      let content = [UInt8](repeating: UInt8(round), count: 50)
      _ = try await engine.putObject(UploadRequest(object: name), content: content, context: context)
    }
    // The last blob that was replaced waits for the next commit.
    #expect(engine.garbage.withLock { $0.count } <= 1)
    #expect(try await rows(Keys.allGarbage) <= 1)
    // Remains of a crash are removed at the next start.
    let left = try #require(BlobID(rawValue: "0123456789abcdef"))
    _ = try await store.write { try await $0.put([], for: Keys.garbage(left)) }
    await Sweep(store: store, blobs: engine.blobs, owner: engine.owner, now: clock.now).removeLeftovers()
    #expect(try await rows(Keys.allGarbage) == 0)
    // Nothing to remove is no commit.
    let version = try await store.read { $0.version }
    await Sweep(store: store, blobs: engine.blobs, owner: engine.owner, now: clock.now).removeLeftovers()
    #expect(try await store.read { $0.version } == version)
    try await engine.close()
  }

  @Test func `an inline object is read in as long parts as are asked for, and at least by the byte`() async throws {
    let content = InlineContent([1, 2, 3, 4, 5])
    #expect(try await content.read(maximumLength: 3) == [1, 2, 3])
    #expect(try await content.read(maximumLength: 0) == [4])
    #expect(try await content.read(maximumLength: 3) == [5])
    #expect(try await content.read(maximumLength: 3) == [])
  }

  @Test func `an empty object is read as it was written`() throws {
    #expect(try ObjectRecord(fieldBytes: ObjectRecord().fieldBytes()) == ObjectRecord())
    #expect(ObjectRecord().size == 0)
  }

  @Test func `content with another digest than its sender's is refused`() throws {
    func check(_ wanted: [UInt8]?, _ found: [UInt8]?) throws {
      try ContentRules.check(ContentDigest(md5: wanted), size: 1, crc32c: 1, md5: found)
    }
    try check([1], [1])
    try check(nil, [1])
    // Content without a digest cannot be compared.
    try check([1], nil)
    let error = #expect(throws: StorageServiceError.self) { try check([1], [2]) }
    #expect(error?.code == .dataLoss && error?.reason == .contentMismatch)
  }

  @Test(arguments: ["aaa", "zzz", "000", "999", "a-_.z"])
  func `the first and the last characters that a bucket may have`(bucket: String) throws {
    try ObjectNameRules.check(bucket: bucket)
  }

  @Test(arguments: ["``{", "a{b", "a`b", "a/b", "a:b", "a@b", "aAb", "aZb"])
  func `their neighbours are refused`(bucket: String) {
    #expect(throws: StorageServiceError.self) { try ObjectNameRules.check(bucket: bucket) }
  }
}
