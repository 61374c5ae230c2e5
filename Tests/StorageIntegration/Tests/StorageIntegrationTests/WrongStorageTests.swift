import StorageHarness
import Testing
import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageBackendContracts
import VestaStorageService
import VestaTesting

/// A service that does one thing wrong, around the real one.
private struct WrongStorage: StorageBackend {
  enum Flaw: CaseIterable {
    case losesLastByte, wrongChecksum, takesAnyOffset, ignoresPreconditions, ignoresExpectations, hidesCode
    case returnsOldMetadata, forgetsToDelete, listsBackwards, losesPrefixes, oversizedPages, noTokens, readsNewContent
    case ignoresRange, forgetsCancellation, alwaysFirstGeneration, refusesSecondFinalize
  }

  let base: any StorageBackend
  let flaw: Flaw

  private func when(_ wanted: Flaw, _ preconditions: Preconditions) -> Preconditions {
    flaw == wanted ? .none : preconditions
  }

  private func changed(_ object: StorageObject) -> StorageObject {
    var object = object
    if flaw == .wrongChecksum { object.crc32c ^= 1 }
    if flaw == .noTokens { object.downloadTokens = [] }
    if flaw == .alwaysFirstGeneration { object.generation = 1 }
    return object
  }

  private func changed(_ request: UploadRequest) -> UploadRequest {
    var request = request
    request.preconditions = when(.ignoresPreconditions, request.preconditions)
    if flaw == .ignoresExpectations { request.expected = ContentDigest() }
    return request
  }

  func putObject(_ request: UploadRequest, content: [UInt8], context: CallContext) async throws -> StorageObject {
    let content = flaw == .losesLastByte ? Array(content.dropLast()) : content
    return changed(try await base.putObject(changed(request), content: content, context: context))
  }

  func startUpload(_ request: UploadRequest, context: CallContext) async throws -> UploadID {
    try await base.startUpload(changed(request), context: context)
  }

  func appendToUpload(
    _ id: UploadID, offset: Int64, bytes: [UInt8], context: CallContext
  ) async throws -> UploadStatus {
    var offset = offset
    if flaw == .takesAnyOffset { offset = try await base.uploadStatus(id, context: context).received }
    return try await base.appendToUpload(id, offset: offset, bytes: bytes, context: context)
  }

  func finalizeUpload(_ id: UploadID, expected: ContentDigest, context: CallContext) async throws -> StorageObject {
    let isFinal = try await base.uploadStatus(id, context: context).state == .final
    if flaw == .refusesSecondFinalize, isFinal { throw StorageServiceError(.notFound, "finished") }
    let expected = flaw == .ignoresExpectations ? ContentDigest() : expected
    return changed(try await base.finalizeUpload(id, expected: expected, context: context))
  }

  func uploadStatus(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    do {
      return try await base.uploadStatus(id, context: context)
    } catch  where flaw == .hidesCode {
      throw StorageServiceError(.unknown, "something")
    }
  }

  func cancelUpload(_ id: UploadID, context: CallContext) async throws {
    if flaw != .forgetsCancellation { try await base.cancelUpload(id, context: context) }
  }

  func openObject(_ request: ReadRequest, context: CallContext) async throws -> ObjectDownload {
    var request = request
    request.preconditions = when(.ignoresPreconditions, request.preconditions)
    if flaw == .ignoresRange { (request.offset, request.length) = (0, nil) }
    let download = try await base.openObject(request, context: context)
    guard flaw == .readsNewContent else { return download }
    return ObjectDownload(
      object: download.object, content: Reopening(base: base, request: request, context: context, position: Log()))
  }

  func getObject(
    _ object: ObjectName, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    changed(
      try await base.getObject(object, preconditions: when(.ignoresPreconditions, preconditions), context: context))
  }

  func listObjects(_ request: ListRequest, context: CallContext) async throws -> ListPage {
    var request = request
    if flaw == .oversizedPages, request.maximumResults > 0 { request.maximumResults = 1000 }
    var page = try await base.listObjects(request, context: context)
    if flaw == .listsBackwards { page.items.reverse() }
    if flaw == .losesPrefixes { page.prefixes = [] }
    return page
  }

  func updateObject(
    _ object: ObjectName, change: MetadataChange, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    let old = try await base.getObject(object, preconditions: .none, context: context)
    let new = try await base.updateObject(
      object, change: change, preconditions: when(.ignoresPreconditions, preconditions), context: context)
    return flaw == .returnsOldMetadata ? old : changed(new)
  }

  func deleteObject(_ object: ObjectName, preconditions: Preconditions, context: CallContext) async throws {
    if flaw != .forgetsToDelete {
      try await base.deleteObject(object, preconditions: when(.ignoresPreconditions, preconditions), context: context)
    }
  }

  func changeDownloadTokens(
    _ object: ObjectName, _ action: DownloadTokenAction, context: CallContext
  ) async throws -> StorageObject {
    changed(try await base.changeDownloadTokens(object, action, context: context))
  }
}

/// Opens the object anew for each reading.
private struct Reopening: ObjectContent {
  let base: any StorageBackend
  let request: ReadRequest
  let context: CallContext
  let position: Log<Int>

  func read(maximumLength: Int) async throws -> [UInt8] {
    var request = request
    request.offset += Int64(position.entries.reduce(0, +))
    let bytes = try await base.openObject(request, context: context).content.read(maximumLength: maximumLength)
    position.add(bytes.count)
    return bytes
  }

  func close() {}
}

/// A blob store that does one thing wrong, around the real one.
private struct WrongBlobs: BlobStore {
  enum Flaw: CaseIterable {
    case readsUnsealed, losesBytes, overwritesSealed, forgetsToRemove, listsNothing, keepsTooMuch
  }

  let base: FileBlobStore
  let flaw: Flaw

  func write(_ id: BlobID, keeping size: Int64) async throws -> any BlobWriter {
    if flaw == .overwritesSealed, (try? await base.read(id)) != nil { try await base.remove(id) }
    if flaw == .keepsTooMuch, size > 0, let unsealed = try? await base.readUnsealed(id), unsealed.size > size {
      return try await base.write(id, keeping: unsealed.size)
    }
    return try await base.write(id, keeping: size)
  }

  func read(_ id: BlobID) async throws -> any BlobReader {
    if flaw == .readsUnsealed, let reader = try? await base.readUnsealed(id) { return reader }
    let reader = try await base.read(id)
    return flaw == .losesBytes ? Shorter(base: reader) : reader
  }

  func readUnsealed(_ id: BlobID) async throws -> any BlobReader { try await base.readUnsealed(id) }

  func remove(_ id: BlobID) async throws { if flaw != .forgetsToRemove { try await base.remove(id) } }

  func list() async throws -> [BlobID] { flaw == .listsNothing ? [] : try await base.list() }

  func close() async {}
}

private struct Shorter: BlobReader {
  let base: any BlobReader
  var size: Int64 { base.size }
  func read(at offset: Int64, length: Int) async throws -> [UInt8] {
    Array(try await base.read(at: offset, length: length).dropLast())
  }
  func close() { base.close() }
}

@Suite struct WrongStorageTests {
  @Test(arguments: WrongStorage.Flaw.allCases)
  fileprivate func `a wrong service is caught`(flaw: WrongStorage.Flaw) async throws {
    let directory = try TemporaryDirectory()
    var broken: [String] = []
    for contract in StorageContracts.all where broken.isEmpty {
      let harness = try StorageHarness(directory: directory.path)
      do {
        try await contract.verify(WrongStorage(base: harness.backend, flaw: flaw))
      } catch {
        broken.append(contract.name)
      }
      await harness.app.delete()
    }
    #expect(!broken.isEmpty, "\(flaw)")
  }

  @Test(arguments: WrongBlobs.Flaw.allCases)
  fileprivate func `a wrong blob store is caught`(flaw: WrongBlobs.Flaw) async throws {
    let directory = try TemporaryDirectory()
    let outcomes = await BlobContracts.all.run { contract in
      WrongBlobs(base: FileBlobStore(directory: directory.path(of: "\(contract.name.hashValue)")), flaw: flaw)
    }
    #expect(outcomes.contains { !$0.isKept }, "\(flaw)")
  }
}
