import StorageHarness
import Testing
import VestaBytes
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
    case ignoresRange, forgetsCancellation, alwaysFirstGeneration, refusesSecondFinalize, losesLastByteOfChunks
    case refusesEmpty, showsUnfinished, wrongStatus, takesAnyName, inventsObjects, listsOneBucket, takesAnyPage
    case checksBeforehand, takesAnyCredential, ignoresSuffix, alwaysMakesTokens, forgetsRequest, composesFirst
    case cancelsAnything, refusesTurns, forgetsCustomTime, sendsWholeFiles, listsFromStart, listsToEnd
    case takesManySources, deletesSourcesFirst, deletesReplaced
  }

  let base: any StorageBackend
  let flaw: Flaw
  private let started = Log<UploadRequest>()
  private let checked = Log<UploadRequest>()
  private let begun = Log<UploadID>()

  init(base: any StorageBackend, flaw: Flaw) {
    self.base = base
    self.flaw = flaw
  }

  /// An object of which the real service knows nothing.
  private func invented(_ name: ObjectName) -> StorageObject {
    StorageObject(
      name: name, generation: 1, size: 0, crc32c: 0, md5: nil, timeCreated: 0, updated: 0, metadata: ObjectMetadata())
  }

  private func when(_ wanted: Flaw, _ preconditions: Preconditions) -> Preconditions {
    flaw == wanted ? .none : preconditions
  }

  private func changed(_ object: StorageObject) -> StorageObject {
    var object = object
    if flaw == .wrongChecksum { object.crc32c ^= 1 }
    if flaw == .noTokens { object.downloadTokens = [] }
    if flaw == .forgetsCustomTime { object.metadata.customTime = nil }
    if flaw == .alwaysFirstGeneration { object.generation = 1 }
    return object
  }

  private func changed(_ request: UploadRequest) -> UploadRequest {
    var request = request
    request.preconditions = when(.ignoresPreconditions, request.preconditions)
    if flaw == .ignoresExpectations { request.expected = ContentDigest() }
    if flaw == .alwaysMakesTokens { request.downloadTokens = .make }
    return request
  }

  func putObject(_ request: UploadRequest, content: [UInt8], context: CallContext) async throws -> StorageObject {
    let content = flaw == .losesLastByte ? Array(content.dropLast()) : content
    if flaw == .checksBeforehand, request.preconditions.ifGenerationMatch == 0 {
      return try await put(request, content, checkedBeforehand: context)
    }
    do {
      return changed(try await base.putObject(changed(request), content: content, context: context))
    } catch let error as StorageServiceError where flaw == .takesAnyName && error.code == .invalidArgument {
      return invented(request.object)
    }
  }

  /// Looks at the preconditions, and writes when another writer has done so too.
  private func put(
    _ request: UploadRequest, _ content: [UInt8], checkedBeforehand context: CallContext
  ) async throws -> StorageObject {
    var request = request
    request.preconditions = .none
    checked.add(request)
    await checked.wait { $0.count > 1 }
    return try await base.putObject(request, content: content, context: context)
  }

  func startUpload(_ request: UploadRequest, context: CallContext) async throws -> UploadID {
    started.add(request)
    return try await base.startUpload(changed(request), context: context)
  }

  func appendToUpload(
    _ id: UploadID, offset: Int64, bytes: [UInt8], context: CallContext
  ) async throws -> UploadStatus {
    var offset = offset
    if flaw == .refusesTurns, offset == 0 {
      begun.add(id)
      if begun.entries.count > 1 { throw StorageServiceError(.aborted, "Another call has this upload.") }
    }
    if flaw == .takesAnyOffset { offset = try await base.uploadStatus(id, context: context).received }
    if flaw == .showsUnfinished, let request = started.entries.last {
      _ = try await base.putObject(request, content: [9], context: context)
    }
    let bytes = flaw == .losesLastByteOfChunks ? Array(bytes.dropLast()) : bytes
    return try await base.appendToUpload(id, offset: offset, bytes: bytes, context: context)
  }

  func finalizeUpload(_ id: UploadID, expected: ContentDigest, context: CallContext) async throws -> StorageObject {
    let status = try await base.uploadStatus(id, context: context)
    if flaw == .refusesEmpty, status.received == 0 { throw StorageServiceError(.invalidArgument, "empty") }
    let isFinal = status.state == .final
    if flaw == .refusesSecondFinalize, isFinal { throw StorageServiceError(.notFound, "finished") }
    let expected = flaw == .ignoresExpectations ? ContentDigest() : expected
    return changed(try await base.finalizeUpload(id, expected: expected, context: context))
  }

  func keepUpload(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    _ = try await base.keepUpload(id, context: context)
    return try await uploadStatus(id, context: context)
  }

  func uploadStatus(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    do {
      let status = try await base.uploadStatus(id, context: context)
      switch flaw {
      case .wrongStatus:
        return UploadStatus(state: status.state, received: status.received + 1, crc32c: status.crc32c)
      case .forgetsRequest:
        return UploadStatus(state: status.state, received: status.received, crc32c: status.crc32c)
      default: return status
      }
    } catch  where flaw == .hidesCode {
      throw StorageServiceError(.unknown, "something")
    }
  }

  func cancelUpload(_ id: UploadID, context: CallContext) async throws {
    if flaw == .forgetsCancellation { return }
    do {
      try await base.cancelUpload(id, context: context)
    } catch {
      if flaw != .cancelsAnything { throw error }
    }
  }

  func openObject(_ request: ReadRequest, context: CallContext) async throws -> ObjectDownload {
    var request = request
    request.preconditions = when(.ignoresPreconditions, request.preconditions)
    if flaw == .ignoresRange { (request.offset, request.length) = (0, nil) }
    if flaw == .ignoresSuffix { request.suffix = nil }
    let download = try await base.openObject(request, context: context)
    if flaw == .sendsWholeFiles {
      return ObjectDownload(object: download.object, content: WholeFile(base: download.content))
    }
    guard flaw == .readsNewContent else { return download }
    return ObjectDownload(
      object: download.object, content: Reopening(base: base, request: request, context: context, position: Log()))
  }

  func getObject(
    _ object: ObjectName, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    do {
      return changed(
        try await base.getObject(object, preconditions: when(.ignoresPreconditions, preconditions), context: context))
    } catch let error as StorageServiceError where flaw == .inventsObjects && error.code == .notFound {
      return invented(object)
    }
  }

  func listObjects(_ request: ListRequest, context: CallContext) async throws -> ListPage {
    var request = request
    if flaw == .oversizedPages, request.maximumResults > 0 { request.maximumResults = 1000 }
    if flaw == .listsOneBucket { request.bucket = "contract-bucket" }
    if flaw == .listsFromStart { request.startOffset = nil }
    if flaw == .listsToEnd { request.endOffset = nil }
    if flaw == .takesAnyPage { request.maximumResults = min(max(request.maximumResults, 1), 1000) }
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
    let context = flaw == .takesAnyCredential ? CallContext() : context
    return changed(try await base.changeDownloadTokens(object, action, context: context))
  }
}

extension WrongStorage {
  func composeObject(
    _ request: UploadRequest, of sources: [ReadRequest], deletesSources: Bool, context: CallContext
  ) async throws -> StorageObject {
    var sources = sources
    switch flaw {
    case .composesFirst: sources = Array(sources.prefix(1))
    case .takesManySources: sources = Array(sources.prefix(UploadLimits.sources))
    case .deletesSourcesFirst where deletesSources: return try await deleting(sources, request, context)
    default: break
    }
    let made = try await base.composeObject(request, of: sources, deletesSources: deletesSources, context: context)
    if flaw == .deletesReplaced, deletesSources, sources.contains(where: { $0.object == request.object }) {
      try await base.deleteObject(request.object, preconditions: .none, context: context)
    }
    return made
  }

  /// Composes under another name, deletes the sources, and then looks at the request.
  private func deleting(
    _ sources: [ReadRequest], _ request: UploadRequest, _ context: CallContext
  ) async throws -> StorageObject {
    let other = UploadRequest(object: ObjectName(bucket: request.object.bucket, name: "other"))
    _ = try await base.composeObject(other, of: sources, deletesSources: true, context: context)
    return try await base.composeObject(
      request, of: [ReadRequest(object: other.object)], deletesSources: true, context: context)
  }
}

/// Has the whole file as its section, whatever part of it was asked for.
private struct WholeFile: ObjectContent {
  let base: any ObjectContent

  func read(maximumLength: Int) async throws -> [UInt8] { try await base.read(maximumLength: maximumLength) }

  func section() -> FileSection? {
    base.section().map { FileSection($0.file, offset: 0, count: $0.count) }
  }

  func close() { base.close() }
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

@Suite struct WrongStorageTests {
  /// The promise that each flaw breaks.
  private static let broken: [(flaw: WrongStorage.Flaw, promise: String)] = [
    (.losesLastByte, "an object has the bytes, the size and the checksum of a single-call upload"),
    (.wrongChecksum, "an object has the bytes, the size and the checksum of a single-call upload"),
    (.losesLastByteOfChunks, "an object has the bytes of a resumable upload, whatever its chunks"),
    (.refusesEmpty, "an empty resumable upload makes an empty object"),
    (.showsUnfinished, "an upload that is not finished changes no object"),
    (.takesAnyOffset, "a chunk at another offset is refused and changes nothing"),
    (.wrongStatus, "the status has the number of bytes that have arrived, and their checksum"),
    (.refusesSecondFinalize, "finalizing again returns the same object, and the status is final"),
    (.ignoresExpectations, "content that is not the expected one makes no object"),
    (.forgetsCancellation, "a cancelled upload takes nothing more"),
    (.forgetsCustomTime, "a custom time is kept, and goes forward alone"),
    (.cancelsAnything, "a finished upload cannot be cancelled"),
    (.refusesTurns, "calls on one upload at the same time take turns"),
    (.hidesCode, "an unknown upload is not found"),
    (.takesAnyName, "names that cannot be are refused"),
    (.readsNewContent, "an open object is read to the end although it is replaced and deleted meanwhile"),
    (.sendsWholeFiles, "a section of a file has the bytes that are left of a range"),
    (.ignoresRange, "a range has its bytes and no others"),
    (.inventsObjects, "an object that is not there is not found"),
    (.alwaysFirstGeneration, "generations only grow, also over a deletion"),
    (.returnsOldMetadata, "a change of metadata sets, keeps and removes fields"),
    (.ignoresPreconditions, "preconditions hold back what does not meet them"),
    (.ignoresPreconditions, "a precondition of an upload is checked when it ends"),
    (.checksBeforehand, "of several writers with one precondition exactly one wins"),
    (.noTokens, "every object has a download token, and the last one is replaced when it is revoked"),
    (.forgetsToDelete, "a deleted object is gone"),
    (.listsBackwards, "a listing has the names in order, cut at the delimiter, page after page"),
    (.losesPrefixes, "a listing has the names in order, cut at the delimiter, page after page"),
    (.oversizedPages, "a listing has the names in order, cut at the delimiter, page after page"),
    (.listsFromStart, "bounds of a listing leave out the names before the first and from the second on"),
    (.listsToEnd, "bounds of a listing leave out the names before the first and from the second on"),
    (.listsOneBucket, "a listing holds objects of its bucket only"),
    (.takesAnyPage, "page sizes and page tokens that cannot be are refused"),
    (.ignoresSuffix, "a suffix has the last bytes, and a range outside of the object names its size"),
    (.alwaysMakesTokens, "an object has the download tokens that its upload says"),
    (.forgetsRequest, "the status of an upload says what it was started with"),
    (.composesFirst, "an object that is made of others has their contents in order, and metadata of its own"),
    (.takesManySources, "an object is made of at most 32 others"),
    (.deletesSourcesFirst, "sources are deleted with the object that is made of them, and stay when it is refused"),
    (.deletesReplaced, "a source that the new object replaces is not deleted"),
    (.takesAnyCredential, "a credential that cannot be verified is refused in every call"),
  ]

  @Test func `every promise of a service is broken by a wrong one`() {
    #expect(Set(Self.broken.map(\.promise)) == Set(StorageContracts.all.map(\.name)))
    #expect(Set(Self.broken.map(\.flaw)) == Set(WrongStorage.Flaw.allCases))
  }

  @Test(arguments: broken)
  fileprivate func `a wrong service is caught by the promise that it breaks`(
    flaw: WrongStorage.Flaw, promise: String
  ) async throws {
    let directory = try TemporaryDirectory()
    let contract = try #require(StorageContracts.all.first { $0.name == promise })
    let harness = try StorageHarness(directory: directory.path)
    await #expect(throws: (any Error).self) {
      try await contract.verify(WrongStorage(base: harness.backend, flaw: flaw))
    }
    await harness.app.delete()
  }
}
