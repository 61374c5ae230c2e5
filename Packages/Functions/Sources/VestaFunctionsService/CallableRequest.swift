import Foundation
public import VestaBytes
import VestaFunctionsValues
public import VestaServiceInterop

/// A call, as the function sees it.
public struct CallableRequest: Sendable {
  /// The user who calls.
  public struct Auth: Sendable {
    /// The user's id.
    public let uid: String
    /// The claims of the user's verified ID token.
    public let token: JSONObject
  }

  /// The user who calls; `nil` when no user is signed in.
  public let auth: Auth?

  /// The id of the app whose App Check token was verified; `nil` when none was.
  public let appID: String?

  /// Whether an earlier call has consumed the App Check token; `nil` where the call has no valid token, or where the
  /// function does not consume tokens (``CallableOptions/consumesAppCheckToken``).
  ///
  /// Such a call may be a repetition by an attacker: refuse it where that matters.
  public let isAppCheckTokenConsumed: Bool?

  /// The caller's registration token for messages, if it has one.
  public let instanceIDToken: String?

  /// Whether the caller reads messages; otherwise what the function sends is left out.
  public let acceptsStreaming: Bool

  /// The argument in the wire's form.
  public let rawData: JSONValue

  /// The argument: `NSNull`, `NSNumber` for numbers and booleans, `String`, `[Any]` or `[String: Any]`.
  ///
  /// A number casts to every type of number that can hold it.
  public var data: Any { (try? CallableValue.decode(rawData, numbers: .foundation)) ?? NSNull() }
}

/// A failure that a function reports to its caller.
///
/// Any other error that a function throws reaches the caller as `INTERNAL`, without its message.
///
/// ```swift
/// guard let auth = request.auth else { throw HTTPSError(.unauthenticated, "Sign in first.") }
/// ```
public struct HTTPSError: Error, CustomStringConvertible {
  /// The code.
  public let code: ServiceCode

  /// The message, which the caller sees.
  public let message: String

  let details: JSONValue?

  /// A failure.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - message: The cause; the caller sees it.
  ///   - details: More about it, of the types that a function can return; other values are left out.
  public init(_ code: ServiceCode, _ message: String, details: Any? = nil) {
    self.code = code
    self.message = message
    self.details = details.flatMap { try? CallableValue.encode($0) }
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
