import VestaServiceInterop
import VestaStorageBackend

/// Decides what becomes of the note of an upload that has ended; pure.
enum UploadEnd {
  /// Whether the upload may continue later, from where it is.
  ///
  /// The note of an upload is removed with its object, its cancellation, and a failure that another attempt would meet
  /// again. A service that cannot be reached or that another process has open, or whose disk is full, says nothing
  /// about an upload that an earlier process has begun.
  static func keepsNote(_ ending: TransferEnding, isContinued: Bool) -> Bool {
    guard case .failed(let error) = ending, let error = error as? StorageServiceError else { return false }
    switch error.code {
    case .unavailable, .deadlineExceeded, .aborted, .internal, .unknown: return error.reason != .contentMismatch
    case .failedPrecondition: return error.reason == nil
    case .resourceExhausted, .unauthenticated, .permissionDenied: return isContinued
    default: return false
    }
  }
}
