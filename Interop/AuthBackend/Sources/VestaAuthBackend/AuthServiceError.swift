public import VestaServiceInterop

/// Why an identity backend refused a call.
///
/// The backend has changed nothing then, unless the documentation of the call says so.
///
/// ```swift
/// do {
///   _ = try await backend.signUp(SignUpRequest(email: email, password: password), context: context)
/// } catch AuthServiceError.Code.emailExists {
///   …
/// }
/// ```
public struct AuthServiceError: ServiceFailure, Equatable, CustomStringConvertible {
  /// The service's name of a failure, such as `EMAIL_EXISTS`.
  ///
  /// Open: a backend may answer with names that are not listed here, and a later version may list more.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name as the service writes it.
    public let rawValue: String

    /// A code by its name.
    ///
    /// - Parameter rawValue: The name as the service writes it.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A code by its name.
    ///
    /// - Parameter name: The name as the service writes it.
    public init(_ name: String) { rawValue = name }

    /// The name.
    public var description: String { rawValue }

    /// Lets `catch AuthServiceError.Code.emailExists` match.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? AuthServiceError)?.code == code }
  }

  /// The kind of failure.
  public let code: Code

  /// The detail after the name, such as "Password should be at least 6 characters".
  public let detail: String?

  /// The structured details, such as the time after which to try again.
  public let errorDetails: [ErrorDetail]

  /// A failure.
  ///
  /// - Parameters:
  ///   - code: The kind of the failure.
  ///   - detail: More about the failure; without passwords, codes or tokens.
  ///   - errorDetails: The structured details.
  public init(_ code: Code, _ detail: String? = nil, errorDetails: [ErrorDetail] = []) {
    self.code = code
    self.detail = detail
    self.errorDetails = errorDetails
  }

  /// The failure for a status; its name is that of the canonical code.
  public init(_ status: ServiceStatus) {
    let message = status.code == .cancelled || status.message.isEmpty ? nil : status.message
    let code = status.code == .unimplemented ? Code.notImplemented : Code(status.code.name)
    self.init(code, message, errorDetails: status.details)
  }

  /// The canonical code of the failure; the name of a failure that only accounts have is in the message, as on the
  /// wire, and its code is `INVALID_ARGUMENT`.
  public var status: ServiceStatus {
    if code == .notImplemented { return ServiceStatus(.unimplemented, detail ?? code.rawValue, details: errorDetails) }
    guard let canonical = ServiceCode(name: code.rawValue) else {
      return ServiceStatus(.invalidArgument, wireMessage, details: errorDetails)
    }
    return ServiceStatus(canonical, detail ?? code.rawValue, details: errorDetails)
  }

  /// A failure as the service writes it: `CODE`, or `CODE : detail`.
  ///
  /// - Parameter wireMessage: The text; the name ends at the first colon, and spaces around it do not count.
  public init(wireMessage: String) {
    let parts = wireMessage.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let detail = parts.count == 2 ? Self.trimmed(parts[1]) : ""
    self.init(Code(Self.trimmed(parts[0])), detail.isEmpty ? nil : detail)
  }

  /// The failure as the service writes it: `CODE`, or `CODE : detail`.
  public var wireMessage: String { detail.map { "\(code) : \($0)" } ?? code.rawValue }

  /// The same as `wireMessage`.
  public var description: String { wireMessage }

  /// Whether trying the same call again later may help.
  public var isTransient: Bool {
    [.unavailable, .internalError, .tooManyAttempts, .aborted, .resourceExhausted, Code("DEADLINE_EXCEEDED")]
      .contains(code)
  }

  /// Whether the session is over: the user has to sign in again.
  public var endsSession: Bool {
    [.userNotFound, .tokenExpired, .userDisabled, .invalidRefreshToken, .invalidIDToken].contains(code)
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " { text.removeFirst() }
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
