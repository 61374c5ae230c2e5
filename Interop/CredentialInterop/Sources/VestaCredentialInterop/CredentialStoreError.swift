/// Why a ``CredentialStore`` could not do what it was asked.
public struct CredentialStoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; more kinds may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the code.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The store cannot be read now; that says nothing about its content.
    public static let unreadable = Self("unreadable")
    /// The content was damaged; it has been put aside, and the key is now empty.
    public static let corrupted = Self("corrupted")
    /// The store cannot be written now.
    public static let unwritable = Self("unwritable")

    /// Lets `catch CredentialStoreError.Code.unreadable` match.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? CredentialStoreError)?.code == code }
  }

  /// The kind of failure.
  public let code: Code

  /// The cause, and the way to mend it; no secrets in it.
  public let message: String

  /// The cause.
  public let underlying: (any Error)?

  /// A failure.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: The cause and the remedy.
  ///   - underlying: The cause.
  public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// The code, the message and the cause.
  public var description: String {
    guard let underlying else { return "\(code): \(message)" }
    return "\(code): \(message) Cause: \(underlying)"
  }
}
