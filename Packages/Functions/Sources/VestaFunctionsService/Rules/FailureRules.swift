import VestaFunctionsBackend
import VestaFunctionsValues
import VestaServiceInterop

/// The errors of functions as their callers see them; pure.
enum FailureRules {
  /// The failure for what a function threw; `nil` for an error that only the log may show.
  static func failure(for error: any Error) -> FunctionsServiceError? {
    switch error {
    case let error as FunctionsServiceError: error
    case let status as ServiceStatus where status.code == .unauthenticated: unauthenticated
    case let status as ServiceStatus: FunctionsServiceError(status)
    case let error as HTTPSError where error.code == .internal || error.code == .unknown: unexpected
    case let error as HTTPSError: FunctionsServiceError(error.code, error.message, details: error.details)
    case is CancellationError: FunctionsServiceError(.cancelled, "CANCELLED")
    default: nil
    }
  }

  /// The failure for an unexpected error.
  static let unexpected = FunctionsServiceError(.internal, "INTERNAL")

  static let crowded = FunctionsServiceError(.resourceExhausted, "Too many calls are waiting. Try again later.")

  static let unauthenticated = FunctionsServiceError(.unauthenticated, "Unauthenticated")

  static let noAppCheck = FunctionsServiceError(
    .failedPrecondition, "The function enforces App Check. Set verifyAppCheckToken in FunctionsServiceOptions.")

  static let noConsumption = FunctionsServiceError(
    .failedPrecondition,
    "The function consumes App Check tokens, and nothing keeps a record of them. Add AppCheckServiceLibrary to the app's "
      + "list, or set consumeAppCheckToken in FunctionsServiceOptions together with verifyAppCheckToken.")

  static let nothingToConsume = FunctionsServiceError(
    .failedPrecondition,
    "The function consumes App Check tokens, and the token of this call was verified before: send the token itself.")

  /// The failure of a call of a function that is not registered.
  ///
  /// The names of other functions are not part of it: it is sent to every caller.
  static func notFound(_ target: FunctionTarget) -> FunctionsServiceError {
    let (place, name) =
      switch target {
      case .name(let name, let region): ("in \(region)", name)
      case .url(let url): ("for \(url)", FunctionName.last(ofURL: url))
      }
    return FunctionsServiceError(
      .notFound,
      "There is no function \"\(name)\" \(place). Register it with FunctionRegistry.registry().onCall(\"\(name)\") "
        + "before it is called, and check the name and the region. `vesta serve` finds functions of other programs by "
        + "--function \(name)=URL.")
  }

  static let late = FunctionsServiceError(.deadlineExceeded, "DEADLINE EXCEEDED")
}
