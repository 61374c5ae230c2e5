import VestaFirestoreBackend
import VestaStoreInterop

/// Runs a call and gives every failure the service's codes.
func serving<Result>(_ body: () async throws -> Result) async throws(FirestoreError) -> Result {
  do {
    return try await body()
  } catch {
    throw FirestoreError(serving: error)
  }
}

extension FirestoreError {
  /// A failure as the service tells it.
  init(serving error: any Error) {
    switch error {
    case let error as FirestoreError: self = error
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

  static let contention = FirestoreError(
    .aborted, "Too much contention on these documents. Please try again.")
  static let deadlock = FirestoreError(.aborted, "Transaction lock timeout.")
  static let shutDown = FirestoreError(.unavailable, "The engine has been shut down.")
  /// Retryable: the client begins again, and this time all calls come to one engine, or there are no others.
  static let transactionOfAnotherEngine = FirestoreError(
    .aborted, "The referenced transaction was begun by another process. Please try again.")
  static let unknownTransaction = FirestoreError(
    .invalidArgument, "The referenced transaction has expired or is no longer valid.")

  static func refused(_ message: String) -> FirestoreError { FirestoreError(.invalidArgument, message) }
}
