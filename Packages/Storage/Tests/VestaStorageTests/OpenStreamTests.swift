import Foundation
import Testing
import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend

@testable import VestaStorage

/// Streams of content, of which only some have their object open.
@Suite struct OpenStreamTests {
  private let backend = OneObject()
  private let content = OneObject.bytes

  private func caller(streams: Int, places: Int) -> StorageCaller {
    var caller = StorageCaller(backend: backend, auth: nil, appCheck: nil, clock: .system)
    (caller.streams, caller.places) = (OpenStreams(limit: streams), TransferPlaces(count: places))
    return caller
  }

  private func reader(_ caller: StorageCaller) -> StorageContentsReader {
    StorageContentsReader(
      OneObject.name, caller: caller, transfers: TransferTable(), length: 100, retrySeconds: 0)
  }

  @Test(arguments: [(0, 1), (1, 1), (3, 2), (50, 1)])
  func `any number of streams that are read in turn have few objects open, and all arrive`(
    streams: Int, places: Int
  ) async throws {
    let caller = caller(streams: streams, places: places)
    let readers = (0..<20).map { _ in reader(caller) }
    var found = [Data](repeating: Data(), count: readers.count)
    for _ in 0..<20 {
      for (index, reader) in readers.enumerated() { found[index] += try await reader.next() ?? Data() }
    }
    for bytes in found { #expect(bytes == Data(content)) }
    #expect(backend.counts.most <= min(streams, 20) + places)
    #expect(backend.counts.open == 0)
    // All places are free again.
    #expect(caller.places.counts.running == 0)
    if streams > 0 { #expect(caller.streams.enter()) }
  }

  @Test func `streams that are read at once wait for one another, and all arrive`() async throws {
    let caller = caller(streams: 2, places: 3)
    try await withThrowingTaskGroup { group in
      for _ in 0..<50 {
        group.addTask {
          let reader = self.reader(caller)
          var bytes = Data()
          while let next = try await reader.next() { bytes += next }
          #expect(bytes == Data(content))
        }
      }
      try await group.waitForAll()
    }
    #expect(backend.counts.most <= 5 && backend.counts.open == 0)
  }

  @Test func `a stream that is left gives its place to the next one`() async throws {
    let caller = caller(streams: 1, places: 1)
    for _ in 0..<3 {
      let reader = reader(caller)
      #expect(try await reader.next()?.count == 100)
      #expect(backend.counts.open == 1, "the object stays open")
      withExtendedLifetime(reader) {}
    }
    #expect(backend.counts.open == 0)
  }

  @Test func `a stream whose object is replaced while it is closed fails, and mixes nothing`() async throws {
    let reader = reader(caller(streams: 0, places: 1))
    #expect(try await reader.next() == Data(content.prefix(100)))
    backend.replace()
    await #expect(throws: (any Error).self) { _ = try await reader.next() }
    #expect(try await reader.next() == nil)
    #expect(backend.counts.open == 0)
  }
}

/// A service with one object.
private final class OneObject: StorageBackend {
  static let name = ObjectName(bucket: "b", name: "o")
  static let bytes = (0..<1_050).map { UInt8($0 % 251) }

  private struct State {
    var generation: Int64 = 1
    var open = 0
    var most = 0
  }

  private let state = Locked(State())

  var counts: (open: Int, most: Int) { state.withLock { ($0.open, $0.most) } }

  func replace() { state.withLock { $0.generation += 1 } }

  private final class Content: ObjectContent {
    private let position: Locked<Int>
    private let backend: OneObject
    private let isClosed = Locked(false)

    init(from offset: Int, _ backend: OneObject) {
      position = Locked(offset)
      self.backend = backend
    }

    func read(maximumLength: Int) async throws -> [UInt8] {
      await Task.yield()
      return position.withLock { position in
        let bytes = Array(OneObject.bytes[position...].prefix(maximumLength))
        position += bytes.count
        return bytes
      }
    }

    func close() {
      let isFirst = isClosed.withLock { isClosed in
        defer { isClosed = true }
        return !isClosed
      }
      if isFirst { backend.state.withLock { $0.open -= 1 } }
    }
  }

  func openObject(_ request: ReadRequest, context: CallContext) async throws -> ObjectDownload {
    let generation = try state.withLock { state in
      if let wanted = request.preconditions.ifGenerationMatch, wanted != state.generation {
        throw StorageServiceError(.failedPrecondition, "replaced", reason: .precondition)
      }
      state.open += 1
      state.most = max(state.most, state.open)
      return state.generation
    }
    var checksum = CRC32C()
    checksum.update(Self.bytes)
    let object = StorageObject(
      name: Self.name, generation: generation, size: Int64(Self.bytes.count), crc32c: checksum.value, md5: nil,
      timeCreated: 0, updated: 0, metadata: ObjectMetadata())
    return ObjectDownload(object: object, content: Content(from: Int(request.offset), self))
  }

  private func nothing() -> StorageServiceError { StorageServiceError(.unimplemented, "There is one object to read.") }

  func putObject(_ request: UploadRequest, content: [UInt8], context: CallContext) async throws -> StorageObject {
    throw nothing()
  }

  func startUpload(_ request: UploadRequest, context: CallContext) async throws -> UploadID { throw nothing() }

  func appendToUpload(
    _ id: UploadID, offset: Int64, bytes: [UInt8], context: CallContext
  ) async throws -> UploadStatus { throw nothing() }

  func finalizeUpload(_ id: UploadID, expected: ContentDigest, context: CallContext) async throws -> StorageObject {
    throw nothing()
  }

  func uploadStatus(_ id: UploadID, context: CallContext) async throws -> UploadStatus { throw nothing() }

  func keepUpload(_ id: UploadID, context: CallContext) async throws -> UploadStatus { throw nothing() }

  func cancelUpload(_ id: UploadID, context: CallContext) async throws { throw nothing() }

  func getObject(
    _ object: ObjectName, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject { throw nothing() }

  func listObjects(_ request: ListRequest, context: CallContext) async throws -> ListPage { throw nothing() }

  func updateObject(
    _ object: ObjectName, change: MetadataChange, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject { throw nothing() }

  func deleteObject(_ object: ObjectName, preconditions: Preconditions, context: CallContext) async throws {
    throw nothing()
  }

  func changeDownloadTokens(
    _ object: ObjectName, _ action: DownloadTokenAction, context: CallContext
  ) async throws -> StorageObject { throw nothing() }
}
