import VestaServiceInterop
import VestaStorageBackend

/// The failures of the service for errors of its blobs; pure.
///
/// Failures of the store are the frame's to translate.
enum BlobFailures {
  /// The failure for an error of a blob store; `nil` for any other error.
  static func failure(for error: any Error) -> StorageServiceError? {
    guard let error = error as? BlobError else { return nil }
    return switch error.code {
    case .diskFull: StorageServiceError(.resourceExhausted, error.description, reason: .diskFull)
    case .notFound: StorageServiceError(.dataLoss, "The content of the object is not in its place: \(error.message)")
    case .busy: StorageServiceError(.aborted, error.description)
    case .closed: StorageServiceError(.unavailable, error.description)
    case .sealed, .inputOutput: StorageServiceError(.internal, error.description)
    }
  }
}
