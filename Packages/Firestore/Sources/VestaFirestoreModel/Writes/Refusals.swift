package import VestaFirestoreBackend

extension ServiceCode {
  /// Whether trying the same again cannot help.
  package var isPermanent: Bool {
    switch self {
    case .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .internal, .unavailable, .unauthenticated: false
    default: true
    }
  }

  /// Whether the error is the final answer to a request to write.
  ///
  /// `ABORTED` is not: the same request succeeds once the others are done.
  package var isRefusal: Bool { isPermanent && self != .aborted }
}
