import Testing
import VestaBytes
import VestaConcurrency
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStorageService
import VestaTesting

/// A blob store that does one thing wrong, around the real one.
private final class WrongBlobs: BlobStore {
  enum Flaw: CaseIterable {
    case readsUnsealed, losesBytes, overwritesSealed, forgetsToRemove, listsNothing, listsTwice, keepsTooMuch
    case findsMissingBytes, keepsOldBytes, refusesEmpty, readsTooMuch, failsAfterTheEnd, mixesAlikeIDs
    case readsSealedAsUnsealed, admitsSecondWriter, appendsAfterTheEnd, readsAfterTheEnd, readsTheNewBlob
    case losesReadersOfRemoved, lendsAnotherFile
  }

  let base: FileBlobStore
  let flaw: Flaw
  private let writers = Locked<[BlobID: any BlobWriter]>([:])

  init(base: FileBlobStore, flaw: Flaw) {
    self.base = base
    self.flaw = flaw
  }

  private func changed(_ id: BlobID) -> BlobID {
    guard flaw == .mixesAlikeIDs else { return id }
    return BlobID(rawValue: String(id.rawValue.prefix(2))) ?? id
  }

  func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter {
    let id = changed(id)
    if flaw == .overwritesSealed, (try? await base.read(id)) != nil { try await base.remove(id) }
    if flaw == .admitsSecondWriter, let writer = writers.withLock({ $0[id] }) { return writer }
    var size = size
    if let unsealed = try? await base.readUnsealed(id) {
      if flaw == .keepsTooMuch && size > 0 || flaw == .keepsOldBytes && size == 0 { size = max(size, unsealed.size) }
      if flaw == .findsMissingBytes { size = min(size, unsealed.size) }
      unsealed.close()
    }
    let writer = try await base.write(id, keeping: size)
    writers.withLock { $0[id] = writer }
    return flaw == .appendsAfterTheEnd || flaw == .refusesEmpty ? WrongWriter(base: writer, flaw: flaw) : writer
  }

  func read(_ id: BlobID) async throws -> any BlobReader {
    let id = changed(id)
    if flaw == .readsUnsealed, let reader = try? await base.readUnsealed(id) { return reader }
    return WrongReader(base: try await base.read(id), flaw: flaw, id: id, store: base)
  }

  func readUnsealed(_ id: BlobID) async throws -> any BlobReader {
    if flaw == .readsSealedAsUnsealed, let reader = try? await base.read(id) { return reader }
    return try await base.readUnsealed(changed(id))
  }

  func remove(_ id: BlobID) async throws { if flaw != .forgetsToRemove { try await base.remove(changed(id)) } }

  func list() async throws -> [BlobID] {
    let ids = try await base.list()
    return flaw == .listsNothing ? [] : flaw == .listsTwice ? ids + ids : ids
  }

  func close() async {}
}

private struct WrongWriter: BlobWriter {
  let base: any BlobWriter
  let flaw: WrongBlobs.Flaw

  var size: Int64 { base.size }

  func append(_ bytes: [UInt8]) async throws {
    do { try await base.append(bytes) } catch { if flaw != .appendsAfterTheEnd { throw error } }
  }

  func sync() async throws { try await base.sync() }

  func seal() async throws {
    if flaw == .refusesEmpty, size == 0 { throw BlobError(.inputOutput, "The blob is empty.") }
    try await base.seal()
  }

  func close() { base.close() }
}

private struct WrongReader: BlobReader {
  let base: any BlobReader
  let flaw: WrongBlobs.Flaw
  let id: BlobID
  let store: FileBlobStore

  var size: Int64 { base.size }

  func read(at offset: Int64, length: Int) async throws -> [UInt8] {
    if flaw == .failsAfterTheEnd, offset > size { throw BlobError(.inputOutput, "There is nothing.") }
    if flaw == .readsTheNewBlob || flaw == .losesReadersOfRemoved {
      let isThere = (try? await store.read(id)) != nil
      if flaw == .losesReadersOfRemoved, !isThere { throw BlobError(.notFound, "The blob was removed.") }
      if isThere { return try await store.read(id).read(at: offset, length: length) }
    }
    var bytes: [UInt8]
    do {
      bytes = try await base.read(at: offset, length: flaw == .readsTooMuch ? length + 1 : length)
    } catch {
      guard flaw == .readsAfterTheEnd else { throw error }
      bytes = try await store.read(id).read(at: offset, length: length)
    }
    return flaw == .losesBytes ? bytes.dropLast() : bytes
  }

  func openFile() throws -> (any ReadableFile)? {
    flaw == .lendsAnotherFile ? OneByteFile() : try base.openFile()
  }

  func close() { base.close() }
}

private final class OneByteFile: ReadableFile {
  var descriptor: Int32 { 0 }

  func read(at offset: Int64, count: Int) -> [UInt8]? { [1] }
}

@Suite struct WrongBlobTests {
  /// The promise that each flaw breaks.
  private static let broken: [(flaw: WrongBlobs.Flaw, promise: String)] = [
    (.losesBytes, "a sealed blob has the bytes that were appended"),
    (.readsUnsealed, "a blob that is not sealed cannot be read, and is there to go on"),
    (.keepsTooMuch, "a blob that is not sealed cannot be read, and is there to go on"),
    (.findsMissingBytes, "a blob with fewer bytes than were to be kept is not found"),
    (.overwritesSealed, "a sealed blob cannot be written"),
    (.losesReadersOfRemoved, "an open reader reads on after the blob was removed"),
    (.forgetsToRemove, "removing works for sealed, unsealed and absent blobs, and the list knows"),
    (.listsNothing, "removing works for sealed, unsealed and absent blobs, and the list knows"),
    (.keepsOldBytes, "a blob that begins anew has none of its old bytes"),
    (.refusesEmpty, "an empty blob can be sealed and read"),
    (.readsTooMuch, "a read has as many bytes as were asked for at most, and none after the end"),
    (.failsAfterTheEnd, "a read has as many bytes as were asked for at most, and none after the end"),
    (.mixesAlikeIDs, "blobs do not touch one another, however alike their ids are"),
    (.listsTwice, "blobs do not touch one another, however alike their ids are"),
    (.readsSealedAsUnsealed, "what is sealed is no unsealed blob, and what is not there neither"),
    (.admitsSecondWriter, "a blob has one writer at a time, and the next one when that has ended"),
    (.appendsAfterTheEnd, "a writer that has ended writes nothing more, and can be ended again"),
    (.readsAfterTheEnd, "a reader that has ended reads nothing more, and can be ended again"),
    (.lendsAnotherFile, "a blob that is a file has the same bytes there, also after its reader and itself are gone"),
    (.readsTheNewBlob, "a reader stays with its blob when another one takes its id"),
  ]

  @Test func `every promise of a blob store is broken by a wrong one`() {
    #expect(Set(Self.broken.map(\.promise)) == Set(BlobContracts.all.map(\.name)))
    #expect(Set(Self.broken.map(\.flaw)) == Set(WrongBlobs.Flaw.allCases))
  }

  @Test(arguments: broken)
  fileprivate func `a wrong blob store is caught by the promise that it breaks`(
    flaw: WrongBlobs.Flaw, promise: String
  ) async throws {
    let directory = try TemporaryDirectory()
    let contract = try #require(BlobContracts.all.first { $0.name == promise })
    await #expect(throws: (any Error).self) {
      try await contract.verify(WrongBlobs(base: FileBlobStore(directory: directory.path + "/blobs"), flaw: flaw))
    }
  }
}
