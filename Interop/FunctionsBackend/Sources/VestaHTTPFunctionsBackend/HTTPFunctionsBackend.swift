public import VestaFunctionsBackend
public import VestaServiceInterop
public import VestaTransportInterop

/// The kind of a function, by which a server decides how to read a request for it.
public enum FunctionKind: Sendable, Hashable {
  /// A callable function: `FunctionsBackend` calls it, and requests have the form of its protocol.
  case callable
  /// A function that answers requests of HTTP itself.
  case request
}

/// The service as a server sees it: functions that answer HTTP requests.
///
/// Callable functions have another service.
///
/// Promises of every implementation (`HTTPFunctionsContracts` checks them):
/// - A function gets the request unchanged; its response leaves as the function has made it.
/// - Cancelling the calling task and the deadline end the wait for the response at once; the function is cancelled.
/// - An error that a function throws is `INTERNAL` and reveals nothing, unless it is a failure of the call.
/// - No credential is looked at: a function reads the fields of the request itself.
public protocol HTTPFunctionsBackend: Sendable {
  /// The kind of a function; `nil` where there is none.
  ///
  /// - Parameter target: The name or the URL of the function.
  func kind(of target: FunctionTarget) -> FunctionKind?

  /// Lets a function answer a request.
  ///
  /// - Parameters:
  ///   - request: The request. Its path is what follows the function's own, and begins with a slash.
  ///   - target: The function.
  ///   - context: Until when the head of the response is wanted.
  /// - Returns: The response; a body that is a stream arrives while it is written.
  /// - Throws: `FunctionsServiceError`: `notFound` for an unknown function, `deadlineExceeded`, `cancelled`.
  func respond(
    to request: HTTPRequest, by target: FunctionTarget, context: CallContext
  ) async throws -> HTTPResponse
}
