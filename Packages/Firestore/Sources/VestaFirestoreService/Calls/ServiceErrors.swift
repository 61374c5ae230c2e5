import VestaFirestoreBackend

extension FirestoreServiceError {
  /// An error of a call; the end of a cancelled task as a `CancellationError`, whatever the task calls it.
  ///
  /// The boundary knows whether the caller has cancelled the call or the deadline.
  static func endOfCancelled(_ error: any Error) -> any Error {
    if Task.isCancelled, (error as? FirestoreServiceError)?.code == .cancelled { return CancellationError() }
    return error
  }

  static let contention = FirestoreServiceError(
    .aborted, "Too much contention on these documents. Please try again.")
  static let denied = FirestoreServiceError(.permissionDenied, "Missing or insufficient permissions.")
  static let deadlock = FirestoreServiceError(.aborted, "Transaction lock timeout.")
  static let cancelled = FirestoreServiceError(.cancelled, "The call was cancelled.")
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
