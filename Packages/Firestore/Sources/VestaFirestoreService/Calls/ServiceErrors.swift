import VestaEventsInterop
import VestaFirestoreBackend
import VestaStoreInterop

extension FirestoreServiceError {
  /// The service's error for one of the store or of a row; any other error unchanged.
  ///
  /// Whatever a cancelled task calls its end, it is a `CancellationError`: the boundary knows whether the caller has
  /// cancelled it or the deadline.
  static func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as FirestoreServiceError where error.code == .cancelled && Task.isCancelled: CancellationError()
    case is StoreError, is BytesError, is EventOutboxFull: FirestoreServiceError(serving: error)
    default: error
    }
  }

  /// The service's error that an error is translated to.
  init(serving error: any Error) {
    switch error {
    case let error as FirestoreServiceError: self = error
    case is CancellationError: self.init(.cancelled, "The call was cancelled.")
    case let error as StoreError: self.init(store: error)
    case let error as BytesError: self.init(.dataLoss, "\(error)")
    case let error as EventOutboxFull: self.init(.resourceExhausted, error.description)
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
  static let late = FirestoreServiceError(.deadlineExceeded, "The deadline of the call has passed.")
  static let shutDown = FirestoreServiceError(.unavailable, "The engine has been shut down.")
  /// Retryable: the client begins again, and this time all calls reach one engine, or there are no others.
  static let transactionOfAnotherEngine = FirestoreServiceError(
    .aborted, "The referenced transaction was begun by another process. Please try again.")
  static let unknownTransaction = FirestoreServiceError(
    .invalidArgument, "The referenced transaction has expired or is no longer valid.")

  static let transactionTooBig = FirestoreServiceError(
    .invalidArgument, "Transaction too big. Decrease transaction size.")
  static let tooManyTransactions = FirestoreServiceError(
    .resourceExhausted, "Too many transactions are open, or have read too much. Commit or roll back some of them.")

  static func refused(_ message: String) -> FirestoreServiceError { FirestoreServiceError(.invalidArgument, message) }
}
