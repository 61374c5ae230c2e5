/// The outcome of a request for an App Check token: always something to send, and an error when it is a placeholder.
///
/// A backend that does not enforce App Check accepts the placeholder and can count it; one that does refuses it. So the
/// caller sends `token` either way, and the decision stays with the backend.
public struct AppCheckTokenResultInterop: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The token to send, or `placeholderToken`.
  public let token: String

  /// Why there is only a placeholder; `nil` when `token` is a real one.
  public let error: (any Error)?

  /// A real token.
  ///
  /// - Parameter token: The token.
  public init(token: String) {
    self.token = token
    error = nil
  }

  /// A failure, with the placeholder as the token.
  ///
  /// - Parameter error: An `AppCheckInteropError`, or `CancellationError`.
  public init(error: any Error) {
    token = Self.placeholderToken
    self.error = error
  }

  /// The token to send when there is none: `{"error":"UNKNOWN_ERROR"}` in Base64, as Firebase's backends know it.
  public static let placeholderToken = "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=="

  /// The error, if there is one; never the token, which is a secret.
  public var description: String { error.map { "a placeholder, because: \($0)" } ?? "an App Check token" }

  /// The same as `description`.
  public var debugDescription: String { description }
}

/// A new App Check token.
public struct AppCheckTokenChange: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The new token.
  public let token: String

  /// A new token.
  ///
  /// - Parameter token: The token.
  public init(token: String) { self.token = token }

  /// That it is a token; never the token itself, which is a secret.
  public var description: String { "a new App Check token" }

  /// The same as `description`.
  public var debugDescription: String { description }
}
