import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaEngineInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// The embedded object service: metadata in an `OrderedStore`, content in a `BlobStore`.
///
/// Each upload has a separate blob. Finishing it seals the blob and then changes the object's row in one transaction,
/// so an object always points to a whole blob; the blob of the replaced generation is noted as garbage in that
/// transaction and removed afterwards. A crash between the two steps leaves a sealed blob that its upload session still
/// knows: the session can be finished again, or expires and takes the blob along.
///
/// | step of an upload | store | blobs |
/// |---|---|---|
/// | `startUpload` | session row with the blob's id | |
/// | `appendToUpload` | every 64 MiB the checkpoint in the session row | bytes of the unsealed blob |
/// | `finalizeUpload` | | blob synced and sealed |
/// | | object row, session row final, old blob's garbage row | |
/// | | | old blob removed |
///
/// To read on: `Calls/ActiveUpload.swift`, `Calls/StorageCall+Placing.swift`, `Store/Keys.swift`.
final class StorageEngine: StorageBackend, StorageAdminBackend {
  let frame: EngineFrame<StorageServiceError>
  let blobs: any BlobStore
  let content: ContentPlace
  /// Distinguishes the engines of a store, in this process and in others.
  let owner = String(UInt64.random(in: 0..<UInt64.max), radix: 36)
  let crypto: any CryptoProvider
  let options: StorageServiceOptions
  /// Who decides about the calls of others than owners; `nil` lets every caller do everything.
  let gatekeeper: (any StorageGuard)?
  let uploads = ActiveUploads()
  let room = CompositionRoom()
  let garbage = Locked<[BlobID]>([])
  private let nextExpiry = Locked<Int64?>(nil)

  init(
    options: StorageServiceOptions, crypto: any CryptoProvider, content: ContentPlace,
    clock: ServiceClock = .system, callers: CallerCheck = CallerCheck(), gatekeeper: (any StorageGuard)? = nil,
    openStore: @escaping @Sendable () async throws -> any OrderedStore
  ) {
    self.options = options
    self.crypto = crypto
    self.content = content
    let blobs = content.blobs(options.tuning)
    self.blobs = blobs
    self.gatekeeper = gatekeeper
    let (owner, reserved) = (owner, options.tuning.reservedBytes)
    frame = EngineFrame(
      "Storage", clock: clock, callers: callers, events: ObjectEvents.offer, translate: BlobFailures.failure(for:)
    ) {
      let store = try await openStore()
      (blobs as? ChosenBlobs)?.choose(by: store)
      do {
        try await content.check(store, clock)
      } catch {
        try? await store.close()
        throw error
      }
      await Sweep(store: store, blobs: blobs, owner: owner, now: clock.now()).removeLeftovers()
      await blobs.keepRoom(reserved)
      return store
    } report: {
      log.error("I-STS000006", "An unexpected error: \($0)")
    }
  }

  /// Ends the engine; uploads that are under way can be continued by the next one.
  func close() async throws {
    let end: Result<Void, any Error>
    do {
      end = .success(try await frame.close { for upload in await uploads.removeAll() { await suspend(upload) } })
    } catch {
      end = .failure(error)
    }
    await blobs.close()
    try end.get()
  }

  /// The clock of the service.
  var clock: ServiceClock { frame.clock }

  /// The events of objects that functions want.
  var events: EventOutbox { frame.events }

  // MARK: StorageBackend

  func putObject(_ request: UploadRequest, content: [UInt8], context: CallContext) async throws -> StorageObject {
    try await call(context) { (call: UploadCall) in try await call.putObject(request, content: content) }
  }

  func startUpload(_ request: UploadRequest, context: CallContext) async throws -> UploadID {
    try await call(context) { (call: UploadCall) in try await call.startUpload(request) }
  }

  func appendToUpload(
    _ id: UploadID, offset: Int64, bytes: [UInt8], context: CallContext
  ) async throws -> UploadStatus {
    try await call(context) { (call: UploadCall) in try await call.append(id, offset: offset, bytes: bytes) }
  }

  func finalizeUpload(_ id: UploadID, expected: ContentDigest, context: CallContext) async throws -> StorageObject {
    try await call(context) { (call: UploadCall) in try await call.finalize(id, expected: expected) }
  }

  func uploadStatus(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    try await call(context) { (call: UploadCall) in try await call.status(id) }
  }

  func keepUpload(_ id: UploadID, context: CallContext) async throws -> UploadStatus {
    try await call(context) { (call: UploadCall) in try await call.status(id, isKept: true) }
  }

  func cancelUpload(_ id: UploadID, context: CallContext) async throws {
    try await call(context) { (call: UploadCall) in try await call.cancel(id) }
  }

  func openObject(_ request: ReadRequest, context: CallContext) async throws -> ObjectDownload {
    try await call(context) { (call: ObjectCall) in try await call.open(request) }
  }

  func getObject(
    _ object: ObjectName, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    try await call(context) { (call: ObjectCall) in try await call.get(object, preconditions) }
  }

  func listObjects(_ request: ListRequest, context: CallContext) async throws -> ListPage {
    try await call(context) { (call: ObjectCall) in try await call.list(request) }
  }

  func updateObject(
    _ object: ObjectName, change: MetadataChange, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject {
    try await call(context) { (call: ObjectCall) in try await call.update(object, change, preconditions) }
  }

  func deleteObject(_ object: ObjectName, preconditions: Preconditions, context: CallContext) async throws {
    try await call(context) { (call: ObjectCall) in try await call.delete(object, preconditions) }
  }

  func changeDownloadTokens(
    _ object: ObjectName, _ action: DownloadTokenAction, context: CallContext
  ) async throws -> StorageObject {
    try await call(context) { (call: ObjectCall) in try await call.changeTokens(object, action) }
  }

  func composeObject(
    _ request: UploadRequest, of sources: [ReadRequest], deletesSources: Bool, context: CallContext
  ) async throws -> StorageObject {
    try await call(context) { (call: ComposeCall) in
      try await call.compose(request, of: sources, deletesSources: deletesSources)
    }
  }

  // MARK: StorageAdminBackend

  func listBuckets(context: CallContext) async throws -> [String] {
    try await call(context) { (call: BucketCall) in try await call.buckets() }
  }

  func createBucket(_ name: String, context: CallContext) async throws {
    try await call(context) { (call: BucketCall) in try await call.createBucket(name) }
  }

  func deleteBucket(_ name: String, context: CallContext) async throws {
    try await call(context) { (call: BucketCall) in try await call.deleteBucket(name) }
  }

  /// Runs a call as the frame does: for a verified caller, and with every error as `StorageServiceError`.
  private func call<Call: StorageCall, Result: Sendable>(
    _ context: CallContext, _ body: @escaping @Sendable (Call) async throws -> Result
  ) async throws -> Result {
    try await frame.serve(context) { [self] context in
      try await body(Call(engine: self, context: context, now: clock.now()))
    }
  }

  // MARK: Maintenance

  /// Removes what has expired, once an hour: a service that runs for long would otherwise keep every upload that was
  /// given up until its next start.
  func expireUploads(now: Int64) async {
    let isDue = nextExpiry.withLock { next in
      let isDue = next.map { now >= $0 } ?? false
      // The first hour begins with the first upload: opening the store has just removed everything.
      if isDue || next == nil { next = now + options.tuning.sweepInterval }
      return isDue
    }
    guard isDue, let store = try? await frame.store() else { return }
    await Sweep(store: store, blobs: blobs, owner: owner, now: now).removeLeftovers()
  }

  /// Whether a blob is there as a whole.
  func isSealed(_ blob: BlobID) async throws -> Bool {
    do {
      try await blobs.read(blob).close()
      return true
    } catch let error as BlobError where error.code == .notFound {
      return false
    }
  }

  /// Removes every blob that neither an object nor an upload knows.
  ///
  /// For after a store was restored from a copy; in ordinary work there are none.
  ///
  /// - Returns: How many were removed.
  func removeOrphans() async throws -> Int {
    try await Sweep(store: frame.store(), blobs: blobs, owner: owner, now: clock.now()).removeOrphans()
  }
}

private let log = Logger(service: "VestaStorageService")
