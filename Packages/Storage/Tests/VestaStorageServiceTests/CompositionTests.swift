import Testing
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaEventsInterop
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStorageBackend
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaStorageService

/// Objects that are made of others: one change, within the limits of an object and of the disk.
@Suite struct CompositionTests {
  private let directory: TemporaryDirectory
  private let clock = ManualClock()
  private let context = CallContext()
  private let room = Locked<Int64?>(nil)

  init() throws { directory = try TemporaryDirectory() }

  /// Files on a disk with so much room.
  private struct SmallDisk: BlobStore {
    let base: FileBlobStore
    let room: Locked<Int64?>
    let written: Log<Int>

    func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter {
      written.add(Int(size))
      return try await base.write(id, keeping: size)
    }
    func read(_ id: BlobID) async throws -> any BlobReader { try await base.read(id) }
    func readUnsealed(_ id: BlobID) async throws -> any BlobReader { try await base.readUnsealed(id) }
    func remove(_ id: BlobID) async throws { try await base.remove(id) }
    func list() async throws -> [BlobID] { try await base.list() }
    func close() async {}
    func freeBytes() async -> Int64? { room.withLock { $0 } }
  }

  private let written = Log<Int>()

  private func engine() -> StorageEngine {
    let store = ModelStore()
    var options = StorageServiceOptions()
    (options.inlineLimit, options.objectSizeLimit, options.tuning.pieceLength) = (16, 1_000, 7)
    let blobs = SmallDisk(
      base: FileBlobStore(directory: directory.path(of: "blobs")), room: room, written: written)
    return StorageEngine(
      options: options, crypto: BarredCrypto(), content: .provided(blobs), clock: clock.service,
      openStore: { store })
  }

  private func name(_ name: String) -> ObjectName { ObjectName(bucket: "bucket", name: name) }

  @discardableResult
  private func put(_ object: String, _ length: Int, in engine: StorageEngine) async throws -> StorageObject {
    try await engine.putObject(
      UploadRequest(object: name(object)), content: [UInt8](repeating: 7, count: length), context: context)
  }

  private func compose(
    _ object: String, of sources: [String], deletes: Bool = false, in engine: StorageEngine
  ) async throws -> StorageObject {
    try await engine.composeObject(
      UploadRequest(object: name(object)), of: sources.map { ReadRequest(object: name($0)) }, deletesSources: deletes,
      context: context)
  }

  @Test func `compositions and uploads end at the largest object, before a byte is written`() async throws {
    let engine = engine()
    try await put("a", 500, in: engine)
    #expect(try await compose("b", of: ["a", "a"], in: engine).size == 1_000)
    let before = written.entries.count
    for sources in [["a", "a", "a"], ["b", "a"]] {
      let refused = await #expect(throws: StorageServiceError.self) {
        try await compose("c", of: sources, in: engine)
      }
      #expect(refused?.code == .invalidArgument)
    }
    #expect(written.entries.count == before)
    await #expect(throws: StorageServiceError.self) { try await put("c", 1_001, in: engine) }
    try await engine.close()
  }

  @Test func `a composition for which the disk has no room is refused before a byte is written`() async throws {
    let engine = engine()
    try await put("a", 300, in: engine)
    room.withLock { $0 = 599 }
    let before = written.entries.count
    let refused = await #expect(throws: StorageServiceError.self) {
      try await compose("b", of: ["a", "a"], in: engine)
    }
    #expect(refused?.code == .resourceExhausted && refused?.reason == .diskFull)
    #expect(written.entries.count == before)
    // A move needs no room for content.
    #expect(try await compose("b", of: ["a"], deletes: true, in: engine).size == 300)
    for _ in 0..<3 { _ = try await compose("c", of: ["b"], in: engine) }
    try await engine.close()
  }

  @Test func `the room of compositions under way counts until it is filled`() async throws {
    let (room, blobs) = (
      CompositionRoom(),
      SmallDisk(base: FileBlobStore(directory: directory.path(of: "x")), room: self.room, written: written)
    )
    self.room.withLock { $0 = 100 }
    let first = try await room.take(60, in: blobs)
    await #expect(throws: StorageServiceError.self) { try await room.take(41, in: blobs) }
    let second = try await room.take(40, in: blobs)
    second.end()
    first.fill(30)
    let third = try await room.take(70, in: blobs)
    third.end()
    first.end()
    first.end()
    let all = try await room.take(100, in: blobs)
    all.end()
  }

  @Test(arguments: [10, 300])
  func `a move keeps the content in its place, and changes both names in one commit`(_ length: Int) async throws {
    let engine = engine()
    let old = try await put("a", length, in: engine)
    let before = written.entries.count
    let blobs = try await engine.blobs.list()
    engine.events.subscribe([Self.subscription])
    let made = try await compose("b", of: ["a"], deletes: true, in: engine)
    #expect(made.size == old.size && made.crc32c == old.crc32c && made.generation > old.generation)
    #expect(try await commits(of: engine) == [2, 1])
    #expect(try await engine.blobs.list() == blobs && written.entries.count == before)
    let page = try await engine.listObjects(ListRequest(bucket: "bucket"), context: context)
    #expect(page.items.map(\.name.name) == ["b"])
    let content = try await engine.openObject(ReadRequest(object: name("b")), context: context).content
    #expect(try await content.read(maximumLength: 1_000) == [UInt8](repeating: 7, count: length))
    content.close()
    try await engine.deleteObject(name("b"), preconditions: .none, context: context)
    #expect(try await engine.blobs.list().isEmpty)
    try await engine.close()
  }

  private static let subscription = EventSubscription(
    function: "f", types: [.objectFinalized, .objectDeleted], scope: "bucket")

  /// The number of events, and of the commits that had them.
  private func commits(of engine: StorageEngine) async throws -> [Int] {
    let entries = try await engine.events.events(EventPageRequest(function: "f", limit: 10)).entries
    return [entries.count, Set(entries.map(\.position.version)).count]
  }

  @Test func `sources are deleted in the commit of the object, and their content is removed`() async throws {
    let engine = engine()
    try await put("a", 300, in: engine)
    try await put("b", 10, in: engine)
    engine.events.subscribe([Self.subscription])
    _ = try await compose("c", of: ["a", "b", "a"], deletes: true, in: engine)
    let page = try await engine.listObjects(ListRequest(bucket: "bucket"), context: context)
    #expect(page.items.map(\.name.name) == ["c"])
    #expect(try await engine.blobs.list().count == 1)
    #expect(try await commits(of: engine) == [3, 1])
    try await engine.close()
  }

  @Test func `a cancelled composition leaves no content`() async throws {
    let engine = engine()
    try await put("a", 300, in: engine)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await compose("b", of: ["a", "a"], in: engine)
    }
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try await engine.blobs.list().count == 1)
    try await engine.close()
  }
}
