import VestaBytes
import VestaCryptoInterop
import VestaEngineInterop
import VestaServiceInterop
import VestaStorageBackend

// The checks of a request, the metadata and the digests of its content.
extension UploadCall {
  func check(_ request: UploadRequest) throws(StorageServiceError) {
    try ObjectNameRules.check(request.object)
    guard request.size ?? 0 >= 0 else {
      throw StorageServiceError(.invalidArgument, "An object cannot have \(request.size ?? 0) bytes.")
    }
    try check(size: request.size ?? 0)
  }

  /// Refuses content of more bytes than an object can have.
  func check(size: Int64) throws(StorageServiceError) {
    let limit = min(engine.options.objectSizeLimit, UploadLimits.objectSize)
    guard size > limit else { return }
    throw StorageServiceError(
      .invalidArgument, "The object would have \(size) bytes, and the largest one of this service has \(limit).")
  }

  func prepared(
    _ metadata: ObjectMetadata, for name: ObjectName, _ wanted: UploadTokens
  ) throws -> (metadata: ObjectMetadata, tokens: [String]) {
    let (metadata, own) = try MetadataRules.prepared(metadata, for: name, fillsIn: wanted != .none)
    var tokens = own
    if case .these(let others) = wanted { for token in others where !tokens.contains(token) { tokens.append(token) } }
    if tokens.isEmpty, wanted != .none { tokens = [try newToken()] }
    return (metadata, tokens)
  }

  /// The MD5 digest; `nil` where the system bars MD5.
  func digest(of content: [UInt8]) throws -> [UInt8]? {
    do {
      return try engine.crypto.digest(.md5, of: content)
    } catch CryptoError.Code.unsupported {
      return nil
    }
  }

  /// A digest for content of a size; `nil` for content that gets none.
  func makeDigest(for size: Int64) throws -> (any DigestStream)? {
    size <= engine.options.digestLimit ? try makeDigest() : nil
  }

  /// A digest; `nil` where the system bars MD5.
  func makeDigest() throws -> (any DigestStream)? {
    do {
      return try engine.crypto.makeDigestStream(.md5)
    } catch CryptoError.Code.unsupported {
      return nil
    }
  }

  var lifetime: Int64 { engine.options.sessionLifetime.microseconds }

  static func status(_ state: UploadStatus.State, _ progress: ActiveUpload.Progress) -> UploadStatus {
    UploadStatus(state: state, received: progress.size, crc32c: progress.checksum.value)
  }

  static let finished = StorageServiceError(
    .failedPrecondition, "The upload is finished. Delete the object instead.")

  static let gone = StorageServiceError(
    .notFound, "The upload session is unknown or has expired. Upload again.", reason: .uploadGone)
}
