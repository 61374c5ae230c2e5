import VestaServiceInterop
import VestaStorageBackend

/// The content of an upload as it arrives: small content is stored in one call, larger one in parts.
///
/// ```
/// write 100 KB, finish                    putObject
/// write 64 KB, 64 KB, …, finish           startUpload, appendToUpload for each chunk, finalizeUpload
/// ```
struct UploadSink {
  private let backend: any StorageBackend
  private let context: CallContext
  private let request: UploadRequest
  private let chunkLength: Int
  private var pending: [UInt8] = []
  private var id: UploadID?
  private var offset: Int64 = 0
  /// Whether bytes that the upload has already, because another request has brought them, are dropped.
  private var dropsKnown = false

  /// A new upload.
  init(_ request: UploadRequest, to backend: any StorageBackend, _ context: CallContext, chunkLength: Int) {
    self.request = request
    self.backend = backend
    self.context = context
    self.chunkLength = chunkLength
  }

  /// An upload that was started before, with the number of its bytes.
  ///
  /// - Parameter dropsKnown: Whether bytes that another request has brought in the meantime are dropped.
  init(
    continuing id: UploadID, of request: UploadRequest, at offset: Int64, in backend: any StorageBackend,
    _ context: CallContext, chunkLength: Int, dropsKnown: Bool
  ) {
    self.init(request, to: backend, context, chunkLength: chunkLength)
    self.id = id
    self.offset = offset
    self.dropsKnown = dropsKnown
  }

  /// Takes the next bytes.
  mutating func write(_ bytes: [UInt8]) async throws {
    pending += bytes
    if id == nil, pending.count > UploadLimits.singleCallLength {
      id = try await backend.startUpload(request, context: context)
    }
    if id != nil, pending.count >= chunkLength { try await flush() }
  }

  /// Gives the backend what has arrived.
  mutating func flush() async throws {
    guard let id else { return }
    while !pending.isEmpty {
      let part = Array(pending.prefix(UploadLimits.chunkLength))
      var taken = part.count
      do {
        _ = try await backend.appendToUpload(id, offset: offset, bytes: part, context: context)
      } catch let error as StorageServiceError {
        guard dropsKnown, case .wrongOffset(let received)? = error.reason, received > offset else { throw error }
        taken = Int(min(received - offset, Int64(part.count)))
      }
      pending.removeFirst(taken)
      offset += Int64(taken)
    }
  }

  /// Ends the upload.
  mutating func finish() async throws -> StorageObject {
    guard let id else { return try await backend.putObject(request, content: pending, context: context) }
    try await flush()
    return try await backend.finalizeUpload(id, expected: ContentDigest(), context: context)
  }

  /// Gives up an upload that its sender does not know the id of.
  func giveUp() async {
    guard let id else { return }
    try? await backend.cancelUpload(id, context: context)
  }
}
