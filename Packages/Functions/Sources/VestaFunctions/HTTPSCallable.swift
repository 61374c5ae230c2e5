public import Foundation
import VestaBytes
import VestaConcurrency
import VestaFunctionsValues

/// The options of calls of a function.
public final class HTTPSCallableOptions: Sendable {
  /// Whether each call sends an App Check token that is accepted once.
  public let requireLimitedUseAppCheckTokens: Bool

  /// Options.
  ///
  /// - Parameter requireLimitedUseAppCheckTokens: Whether each call sends an App Check token that is accepted once.
  public init(requireLimitedUseAppCheckTokens: Bool) {
    self.requireLimitedUseAppCheckTokens = requireLimitedUseAppCheckTokens
  }

  static let standard = HTTPSCallableOptions(requireLimitedUseAppCheckTokens: false)
}

/// The result of a call.
public final class HTTPSCallableResult: Sendable {
  private let wire: JSONValue

  init(_ wire: JSONValue) throws {
    // A value that cannot be decoded is an error of the call.
    try CallableValue.check(wire)
    self.wire = wire
  }

  /// The returned data: `NSNull`, `NSNumber` for numbers and booleans, `String`, `[Any]` or `[String: Any]`.
  ///
  /// A number casts to every type of number that can hold it: `data as? Double` of 5 is 5.0.
  public var data: Any { (try? CallableValue.decode(wire, numbers: .foundation)) ?? NSNull() }
}

/// A function that can be called.
public final class HTTPSCallable: Sendable {
  enum Name: Sendable, Hashable {
    case name(String)
    case url(String)
  }

  let functions: Functions
  let name: Name
  let options: HTTPSCallableOptions
  private let timeout = Locked(70.0)

  init(_ functions: Functions, _ name: Name, _ options: HTTPSCallableOptions) {
    self.functions = functions
    self.name = name
    self.options = options
  }

  /// The time limit of a call in seconds; 70 unless it was set.
  public var timeoutInterval: TimeInterval {
    get { timeout.withLock { $0 } }
    set { timeout.withLock { $0 = newValue } }
  }

  /// Calls the function.
  ///
  /// Cancelling the task cancels the call and the task of the function.
  ///
  /// - Parameter data: The argument: `nil`, numbers, strings, and arrays and dictionaries of these.
  /// - Returns: The result.
  /// - Throws: `FunctionsError`.
  public func call(_ data: Any? = nil) async throws -> HTTPSCallableResult {
    let wire = try Self.encoded(data)
    return try Self.result(try await call(wire: wire))
  }

  func call(wire: JSONValue) async throws -> JSONValue {
    let location = functions.location(of: name)
    return try await functions.caller.call(location, wire, timeout: timeoutInterval, options: options)
  }

  static func encoded(_ data: Any?) throws(FunctionsError) -> JSONValue {
    do throws(CallableValue.Failure) {
      return try CallableValue.encode(data)
    } catch {
      throw FunctionsError(.invalidArgument, error.description)
    }
  }

  static func result(_ wire: JSONValue) throws -> HTTPSCallableResult {
    do {
      return try HTTPSCallableResult(wire)
    } catch {
      throw FunctionsError(.internal, "The function returned a value that cannot be read: \(error)")
    }
  }
}
