import VestaBytes
import VestaConcurrency
public import VestaCore
import VestaDataCoding
import VestaFunctionsBackend
import VestaFunctionsValues
import VestaServiceInterop

/// The functions of a project: Swift closures that clients call by name.
///
/// ```swift
/// let functions = try FunctionRegistry.registry()
/// functions.onCall("greet") { request in
///   guard let name = (request.data as? [String: Any])?["name"] as? String else {
///     throw HTTPSError(.invalidArgument, "There is no name.")
///   }
///   return ["text": "Hello, \(name)"]
/// }
/// functions.onCall("add") { (numbers: [Int], _) in numbers.reduce(0, +) }
/// ```
///
/// A function runs in a separate task, which is cancelled when the caller leaves and when the time limit has passed.
/// Registering a name again replaces the function for later calls. All members may be called from any thread.
public final class FunctionRegistry: Sendable {
  struct Function: Sendable {
    let options: CallableOptions
    let run: @Sendable (CallableRequest, StreamChannel?) async throws -> JSONValue
  }

  private let functions = Locked<FunctionTable<Function>>(FunctionTable())
  /// The functions that answer requests; a name is of one kind.
  private let requestFunctions = Locked<FunctionTable<RequestFunction>>(FunctionTable())
  private let coders = SharedCoders()

  let events: EventFunctions
  let schedules: ScheduleRunner?

  init(events: EventFunctions? = nil, schedules: ScheduleRunner? = nil) {
    self.events = events ?? EventFunctions(options: FunctionsServiceOptions(), clock: .system) { [] }
    self.schedules = schedules
  }

  /// The functions of an app.
  ///
  /// - Parameter app: The app; `nil` for the default app.
  /// - Throws: `VestaError` when the app has no `FunctionsServiceLibrary`.
  public class func registry(for app: VestaApp? = nil) throws(VestaError) -> FunctionRegistry {
    try VestaApp.instance(
      of: FunctionRegistry.self, for: app,
      providedBy: "FunctionsServiceLibrary of VestaFunctionsService (Packages/Functions)")
  }

  // MARK: Registering

  /// Registers a function.
  ///
  /// - Parameters:
  ///   - name: The name by which it is called: letters, digits, `-` and `_`.
  ///   - options: How it behaves.
  ///   - handler: Returns `nil`, numbers, strings, and arrays and dictionaries of these.
  public func onCall(
    _ name: String, options: CallableOptions = CallableOptions(),
    _ handler: @escaping @Sendable (CallableRequest) async throws -> Any?
  ) {
    register(name, options) { request, _ in try CallableValue.encode(try await handler(request)) }
  }

  /// Registers a function with types for its argument and its result.
  ///
  /// - Parameters:
  ///   - name: The name by which it is called.
  ///   - options: How it behaves.
  ///   - handler: Gets the decoded argument and the call. An argument of another shape fails with `invalidArgument`.
  public func onCall<Argument: Decodable & SendableMetatype, Value: Encodable & SendableMetatype>(
    _ name: String, options: CallableOptions = CallableOptions(),
    _ handler: @escaping @Sendable (Argument, CallableRequest) async throws -> Value
  ) {
    register(name, options) { [coders] request, _ in
      let argument = try Self.argument(Argument.self, request, coders)
      return try coders.encoded(try await handler(argument, request))
    }
  }

  /// Registers a function that sends messages before its result.
  ///
  /// - Parameters:
  ///   - name: The name by which it is called.
  ///   - options: How it behaves.
  ///   - handler: Sends messages and returns the result, both of the types that a function can return.
  public func onStreamingCall(
    _ name: String, options: CallableOptions = CallableOptions(),
    _ handler: @escaping @Sendable (CallableRequest, CallableStream<Any?>) async throws -> Any?
  ) {
    register(name, options) { request, channel in
      let stream = CallableStream<Any?>(channel: channel) { try CallableValue.encode($0) }
      return try CallableValue.encode(try await handler(request, stream))
    }
  }

  /// Registers a function with types that sends messages before its result.
  ///
  /// - Parameters:
  ///   - name: The name by which it is called.
  ///   - options: How it behaves.
  ///   - handler: Gets the decoded argument, the call, and the stream to send to.
  public func onStreamingCall<
    Argument: Decodable & SendableMetatype, Message: Encodable & SendableMetatype, Value: Encodable & SendableMetatype
  >(
    _ name: String, options: CallableOptions = CallableOptions(),
    _ handler: @escaping @Sendable (Argument, CallableRequest, CallableStream<Message>) async throws -> Value
  ) {
    register(name, options) { [coders] request, channel in
      let argument = try Self.argument(Argument.self, request, coders)
      let stream = CallableStream<Message>(channel: channel) {
        try coders.encoded($0)
      }
      return try coders.encoded(try await handler(argument, request, stream))
    }
  }

  /// Removes a function; running calls continue.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - region: Its region.
  public func remove(_ name: String, region: String = CallableOptions().region) {
    let removed = (
      functions.withLock { $0.set(nil, name, region) }, requestFunctions.withLock { $0.set(nil, name, region) }
    )
    withExtendedLifetime(removed) {}
  }

  /// Registers a function that answers requests; a callable one of its name is removed.
  func register(_ name: String, _ function: RequestFunction) {
    let region = function.options.region
    let replaced = (
      requestFunctions.withLock { $0.set(function, name, region) }, functions.withLock { $0.set(nil, name, region) }
    )
    withExtendedLifetime(replaced) {}
  }

  private func register(
    _ name: String, _ options: CallableOptions,
    _ run: @escaping @Sendable (CallableRequest, StreamChannel?) async throws -> JSONValue
  ) {
    let function = Function(options: options, run: run)
    let replaced = (
      functions.withLock { $0.set(function, name, options.region) },
      requestFunctions.withLock { $0.set(nil, name, options.region) }
    )
    withExtendedLifetime(replaced) {}
  }

  // MARK: Finding

  /// The function that a caller names.
  ///
  /// A URL names the function by the last component of its path; the region does not count then.
  func function(for target: FunctionTarget) throws(FunctionsServiceError) -> Function {
    guard let found = functions.withLock({ $0.function(for: target) }) else { throw FailureRules.notFound(target) }
    return found
  }

  /// The function that answers requests for a target; `nil` where there is none, or a callable one.
  func requestFunction(for target: FunctionTarget) -> RequestFunction? {
    requestFunctions.withLock { $0.function(for: target) }
  }

  private static func argument<Argument: Decodable>(
    _ type: Argument.Type, _ request: CallableRequest, _ coders: SharedCoders
  ) throws -> Argument {
    do {
      return try coders.decoder.decode(type, from: try CallableValue.decode(request.rawData, numbers: .swift))
    } catch {
      throw HTTPSError(.invalidArgument, "The argument is not a \(type): \(error)")
    }
  }
}
