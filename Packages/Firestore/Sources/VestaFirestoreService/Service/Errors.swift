import VestaFirestoreBackend
import VestaStoreInterop

/// Runs a call and gives every failure the service's codes.
func serving<Result>(_ body: () async throws -> Result) async throws(FirestoreServiceError) -> Result {
  do {
    return try await body()
  } catch {
    throw FirestoreServiceError(serving: error)
  }
}

extension FirestoreServiceError {
  /// A failure as the service tells it.
  init(serving error: any Error) {
    switch error {
    case let error as FirestoreServiceError: self = error
    case is CancellationError: self.init(.cancelled, "The call was cancelled.")
    case let error as StoreError: self.init(store: error)
    case let error as BytesError: self.init(.dataLoss, "\(error)")
    default: self.init(.internal, "\(error)")
    }
  }

  private init(store error: StoreError) {
    switch error.code {
    case .closed, .inputOutput: self.init(.unavailable, error.description)
    case .conflict: self = .contention
    case .diskFull: self.init(.resourceExhausted, error.description)
    case .unknownOutcome: self.init(.deadlineExceeded, error.description)
    case .corrupt, .malformedKey: self.init(.dataLoss, error.description)
    default: self.init(.internal, error.description)
    }
  }

  static let contention = FirestoreServiceError(
    .aborted, "Too much contention on these documents. Please try again.")
  static let deadlock = FirestoreServiceError(.aborted, "Transaction lock timeout.")
  static let shutDown = FirestoreServiceError(.unavailable, "The engine has been shut down.")
  static let unknownTransaction = FirestoreServiceError(
    .invalidArgument, "The referenced transaction has expired or is no longer valid.")

  static func refused(_ message: String) -> FirestoreServiceError { FirestoreServiceError(.invalidArgument, message) }
}
