/// Why Core could not do what it was asked.
///
/// The message says what to do. Match on the code:
///
/// ```swift
/// do {
///   try VestaApp.configure()
/// } catch VestaError.Code.missingDependency {
///   …
/// }
/// ```
public struct VestaError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; open, so that a later kind breaks no `switch`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, such as "missing-dependency".
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The name of an app is empty or has characters that it must not have.
    public static let invalidAppName = Self("invalid-app-name")
    /// An app of that name is configured already.
    public static let duplicateApp = Self("duplicate-app")
    /// The app has been deleted.
    public static let appDeleted = Self("app-deleted")
    /// An options file is not there or cannot be read.
    public static let optionsFileUnreadable = Self("options-file-unreadable")
    /// An options file is not what its name says.
    public static let optionsFileMalformed = Self("options-file-malformed")
    /// An options file or an environment variable lacks or has a wrong value.
    public static let invalidOption = Self("invalid-option")
    /// A library is in the list twice, or two libraries have one name.
    public static let duplicateLibrary = Self("duplicate-library")
    /// Two components provide one protocol.
    public static let duplicateProvider = Self("duplicate-provider")
    /// Nothing provides a protocol that a component requires.
    public static let missingDependency = Self("missing-dependency")
    /// Components need one another in a cycle.
    public static let dependencyCycle = Self("dependency-cycle")
    /// A component needs a protocol that libraries only contribute to.
    public static let contributionNotProvider = Self("contribution-not-provider")
    /// Nothing provides the protocol that was asked for.
    public static let notProvided = Self("not-provided")
    /// The component's creation block threw.
    public static let creationFailed = Self("creation-failed")
    /// The component's creation block returned something that is not what the component provides.
    public static let wrongInstanceType = Self("wrong-instance-type")

    /// Lets `catch VestaError.Code.duplicateApp` match.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? VestaError)?.code == code }
  }

  /// The kind of failure.
  public let code: Code

  /// The problem, and what to do about it.
  public let message: String

  /// The underlying error.
  public let underlying: (any Error)?

  /// A failure with its explanation.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - message: The cause and the remedy.
  ///   - underlying: The underlying error.
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
