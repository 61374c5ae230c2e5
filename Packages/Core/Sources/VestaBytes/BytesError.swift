/// A failure to read bytes or a string, or to write a value.
///
/// The message says what is wrong and where, for a developer. It never holds the bytes themselves, which may be secret.
public struct BytesError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of failure; more may be added, so keep a `default` where you switch.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, such as "malformed".
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The input does not follow its format.
    public static let malformed = Code("malformed")
    /// The input is larger or nested deeper than the reader accepts.
    public static let limitExceeded = Code("limit-exceeded")
    /// The value cannot be written, such as a JSON number that is not finite.
    public static let invalidValue = Code("invalid-value")

    /// Lets `catch BytesError.Code.malformed` match.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? BytesError)?.code == code }
  }

  /// The kind of failure.
  public let code: Code

  /// The error and its position, in one sentence.
  public let message: String

  /// A failure.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The kind and the message.
  public var description: String { "\(code): \(message)" }

  static func malformed(_ message: String) -> BytesError { BytesError(.malformed, message) }

  /// The same failure, with the position in front of the message.
  public func at(_ place: String) -> BytesError { BytesError(code, "\(place): \(message)") }
}
