import VestaServiceInterop

/// The canonical codes of a function's failures.
public enum FunctionStatus: Int, Sendable, CaseIterable {
  /// The call was cancelled.
  case cancelled = 1
  /// A failure without a specific code.
  case unknown = 2
  /// The argument is wrong, whatever the state of the system.
  case invalidArgument = 3
  /// The time limit has passed.
  case deadlineExceeded = 4
  /// Something that the call names is not there.
  case notFound = 5
  /// Something that was to be created exists already.
  case alreadyExists = 6
  /// The caller may not do this.
  case permissionDenied = 7
  /// A quota is used up.
  case resourceExhausted = 8
  /// The system is not in the state that the call needs.
  case failedPrecondition = 9
  /// Another call was in the way.
  case aborted = 10
  /// The argument is beyond the valid range.
  case outOfRange = 11
  /// The function does not do this.
  case unimplemented = 12
  /// An invariant is broken; the caller does not see the message.
  case `internal` = 13
  /// Something that the function needs cannot be reached. Trying again later may help.
  case unavailable = 14
  /// Data is lost or damaged.
  case dataLoss = 15
  /// The caller's credentials are missing or not valid.
  case unauthenticated = 16

  var serviceCode: ServiceCode { ServiceCode(wire: rawValue) }
}
