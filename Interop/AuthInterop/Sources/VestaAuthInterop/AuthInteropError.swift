/// Why there is no token.
public struct AuthInteropError: Error, CustomStringConvertible {
  /// The kind of a failure; more kinds may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The backend could not be reached or did not answer; trying again later may help.
    public static let unavailable = Code("unavailable")

    /// The backend no longer accepts this user (disabled, deleted, revoked); only a new sign-in helps.
    public static let userRejected = Code("user-rejected")

    /// Something else failed; see `underlying`.
    public static let unknown = Code("unknown")

    /// Lets `catch AuthInteropError.Code.unavailable` match.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? AuthInteropError)?.code == code }
  }

  /// The kind of failure.
  public let code: Code

  /// The cause, and the way to mend it.
  public let message: String

  /// The underlying error.
  public let underlying: (any Error)?

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The kind of the failure.
  ///   - message: The cause and the remedy; no tokens in it.
  ///   - underlying: The underlying error.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
