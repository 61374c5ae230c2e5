import VestaServiceInterop
import VestaStorageBackend

/// The bytes of a content that a request asks for; pure.
struct ByteRange: Sendable, Equatable {
  let start: Int64
  let end: Int64

  /// The part of a content.
  ///
  /// - Throws: `outOfRange` when the first byte is not in the content; the end of the content is in it.
  init(_ request: ReadRequest, size: Int64) throws(StorageServiceError) {
    if let suffix = request.suffix {
      guard suffix >= 0 else {
        throw StorageServiceError(
          .outOfRange, "No object has a negative number of bytes.", reason: .outOfRange(size: size))
      }
      (start, end) = (max(0, size - suffix), size)
      return
    }
    guard request.offset >= 0, request.offset <= size, request.length ?? 0 >= 0 else {
      throw StorageServiceError(
        .outOfRange, "The object has \(size) bytes, and the call asks for bytes from \(request.offset) on.",
        reason: .outOfRange(size: size))
    }
    start = request.offset
    end = request.length.map { $0 < size - request.offset ? request.offset + $0 : size } ?? size
  }
}
