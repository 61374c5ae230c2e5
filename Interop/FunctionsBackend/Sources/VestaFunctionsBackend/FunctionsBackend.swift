public import VestaBytes
public import VestaServiceInterop

/// The service that Functions calls: callable functions by name, with one result or a stream of messages before it.
///
/// The embedded engine runs Swift closures of the process; a remote client will speak the callable protocol over HTTP.
///
/// Promises of every implementation (`FunctionsContracts` checks them):
/// - All methods may be called from any task at any time.
/// - Cancelling the calling task, dropping a stream, and the deadline of the context end the call at once; the function
///   is cancelled.
/// - Methods throw `FunctionsServiceError`.
public protocol FunctionsBackend: Sendable {
  /// Calls a function.
  ///
  /// - Parameters:
  ///   - call: Which function, and its data.
  ///   - context: The caller, and until when the answer is wanted.
  /// - Returns: The result.
  /// - Throws: `FunctionsServiceError`: the error of the function, `notFound` for an unknown function,
  ///   `deadlineExceeded`, `unauthenticated` for a token that is not valid, `resourceExhausted` when too many calls
  ///   wait.
  func call(_ call: FunctionCall, context: CallContext) async throws -> JSONValue

  /// Calls a function that streams.
  ///
  /// The function is started when the stream is first read, and waits for the reader once some messages are unread.
  ///
  /// - Parameters:
  ///   - call: Which function, and its data.
  ///   - context: The caller, and until when the end is wanted.
  /// - Returns: The messages, then the result, then the end. Throws `FunctionsServiceError`.
  func stream(_ call: FunctionCall, context: CallContext) -> AsyncThrowingStream<FunctionEvent, any Error>
}

/// A call of a function.
///
/// Data is in the wire's form: integers of 64 bits are objects with `@type` and `value`.
public struct FunctionCall: Sendable, Hashable {
  /// The function.
  public var target: FunctionTarget

  /// The argument.
  public var data: JSONValue

  /// The caller's registration token for messages, if it has one.
  public var instanceIDToken: String?

  /// A call.
  public init(_ target: FunctionTarget, data: JSONValue = .null, instanceIDToken: String? = nil) {
    self.target = target
    self.data = data
    self.instanceIDToken = instanceIDToken
  }
}

/// The name or the URL of a function.
public enum FunctionTarget: Sendable, Hashable, CustomStringConvertible {
  /// By name, in a region.
  case name(String, region: String)
  /// By its URL; the last component of the path is the name.
  case url(String)

  /// The name with its region, or the URL.
  public var description: String {
    switch self {
    case .name(let name, let region): "\(region)/\(name)"
    case .url(let url): url
    }
  }
}

/// An event of a streaming call.
public enum FunctionEvent: Sendable, Hashable {
  /// A message on the way.
  case message(JSONValue)
  /// The result, which is the last event.
  case result(JSONValue)
}
