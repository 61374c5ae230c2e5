public import VestaBytes
public import VestaServiceInterop

/// The failure of a call of a function.
public struct FunctionsServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The canonical code.
  public let code: ServiceCode

  /// The cause, for a developer.
  public let message: String

  /// The details that the function has given, in the wire's form.
  public let details: JSONValue?

  /// A failure.
  public init(_ code: ServiceCode, _ message: String, details: JSONValue?) {
    self.code = code
    self.message = message
    self.details = details
  }

  /// A failure without details.
  public init(_ code: ServiceCode, _ message: String) { self.init(code, message, details: nil) }

  /// Returns `nil`: no error of another type is translated.
  public init?(translating error: any Error) { nil }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
