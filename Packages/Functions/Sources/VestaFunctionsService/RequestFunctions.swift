public import VestaTransportInterop

/// The options of a function that answers requests.
public struct RequestFunctionOptions: Sendable {
  /// The region in which it is called.
  public var region = CallableOptions().region

  /// The time limit until the head of the response; `nil` for that of the service.
  public var timeout: Duration?

  /// The rules for pages of other origins; `nil` where the function answers browsers itself.
  public var crossOrigin: CrossOriginRules?

  /// The options with their defaults.
  public init() {}
}

extension FunctionRegistry {
  /// Registers a function that answers requests of HTTP, in any form.
  ///
  /// ```swift
  /// functions.onRequest("numbers") { request in
  ///   let stream = ByteStream()
  ///   Task {
  ///     for number in 0..<1_000 { try await stream.write(Array("\(number)\n".utf8)) }
  ///     stream.finish()
  ///   }
  ///   return HTTPResponse(.ok, fields: [.contentType: "text/plain"], body: .stream(stream))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name by which it is called: letters, digits, `-` and `_`.
  ///   - options: How it behaves.
  ///   - handler: Makes the response. The path of the request is what follows the function's own; credentials are not
  ///     looked at. A body that is a stream is written by a task of the function's own, which ends when a write throws.
  public func onRequest(
    _ name: String, options: RequestFunctionOptions = RequestFunctionOptions(),
    _ handler: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) {
    register(name, RequestFunction(options: options, handler: handler))
  }
}

/// A function that answers requests.
struct RequestFunction: Sendable {
  let options: RequestFunctionOptions
  let handler: @Sendable (HTTPRequest) async throws -> HTTPResponse

  func respond(to request: HTTPRequest) async throws -> HTTPResponse {
    guard let rules = options.crossOrigin else { return try await handler(request) }
    if let answer = rules.preflight(for: request) { return answer }
    return rules.allowing(request, try await handler(request))
  }
}
