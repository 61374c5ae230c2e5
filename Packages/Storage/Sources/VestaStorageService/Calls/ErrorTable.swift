import VestaEventsInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// The service's errors for the store's and the blobs'; pure.
enum ErrorTable {
  static func error(for error: any Error) -> any Error {
    switch error {
    case let error as StoreError: self.error(for: error)
    case let error as BlobError: self.error(for: error)
    case let error as EventOutboxFull: StorageServiceError(.resourceExhausted, error.description)
    default: error
    }
  }

  private static func error(for error: StoreError) -> StorageServiceError {
    switch error.code {
    case .diskFull: StorageServiceError(.resourceExhausted, error.description, reason: .diskFull)
    case .conflict: StorageServiceError(.aborted, error.description)
    case .closed: StorageServiceError(.failedPrecondition, error.description)
    case .unknownOutcome: StorageServiceError(.unavailable, error.description)
    default: StorageServiceError(.internal, error.description)
    }
  }

  private static func error(for error: BlobError) -> StorageServiceError {
    switch error.code {
    case .diskFull: StorageServiceError(.resourceExhausted, error.description, reason: .diskFull)
    case .notFound: StorageServiceError(.dataLoss, "The content of the object is not in its place: \(error.message)")
    case .busy: StorageServiceError(.aborted, error.description)
    case .closed: StorageServiceError(.failedPrecondition, error.description)
    case .sealed, .inputOutput: StorageServiceError(.internal, error.description)
    }
  }
}
