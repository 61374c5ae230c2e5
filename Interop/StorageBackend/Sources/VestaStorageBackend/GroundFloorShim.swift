// Stands in for VestaServiceInterop until that is in main.

/// The canonical status codes of a call.
public enum ServiceCode: Int, Sendable, Hashable {
  /// See the sixteen canonical codes.
  case ok = 0
  /// See the sixteen canonical codes.
  case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists, permissionDenied
  /// See the sixteen canonical codes.
  case resourceExhausted, failedPrecondition, aborted, outOfRange, unimplemented, `internal`, unavailable, dataLoss
  /// See the sixteen canonical codes.
  case unauthenticated
}

/// Who calls.
public struct CallContext: Sendable {
  /// A context.
  public init() {}
}

extension CallContext {
  /// A context.
  public init(userID: String?, idToken: String?, appCheckToken: String?) {}
}
