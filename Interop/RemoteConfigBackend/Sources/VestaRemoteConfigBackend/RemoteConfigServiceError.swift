public import VestaServiceInterop

/// Why the configuration service refused a call.
public struct RemoteConfigServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The canonical status of the call.
  public let code: ServiceCode

  /// A description of the failure and what to do about it.
  public let message: String

  /// The violations in a template, each with its path; empty for other errors.
  public let violations: [TemplateViolation]

  /// The structured details, such as the time after which to try again.
  public let errorDetails: [ErrorDetail]

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The canonical status.
  ///   - message: A description of the failure and what to do about it.
  ///   - violations: The violations in a template.
  ///   - errorDetails: The structured details.
  public init(
    _ code: ServiceCode, _ message: String, violations: [TemplateViolation], errorDetails: [ErrorDetail] = []
  ) {
    self.code = code
    self.message = message
    self.violations = violations
    self.errorDetails = errorDetails
  }

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The canonical status.
  ///   - message: A description of the failure and what to do about it.
  public init(_ code: ServiceCode, _ message: String) { self.init(code, message, violations: []) }

  /// The error for a status.
  public init(_ status: ServiceStatus) {
    self.init(status.code, status.message, violations: [], errorDetails: status.details)
  }

  /// The status, the message and the details; each violation is one of them.
  public var status: ServiceStatus {
    ServiceStatus(
      code, message,
      details: errorDetails + violations.map { .badRequest(field: $0.path, description: $0.message) })
  }

  /// An invalid template: the message lists its violations as Firebase's REST API does.
  ///
  /// - Parameter violations: The violations; at least one.
  public static func invalidTemplate(_ violations: [TemplateViolation]) -> RemoteConfigServiceError {
    let list = violations.prefix(10).map(\.description).joined(separator: " ")
    let more = violations.count > 10 ? " And \(violations.count - 10) more." : ""
    return RemoteConfigServiceError(.invalidArgument, "[VALIDATION_ERROR]: \(list)\(more)", violations: violations)
  }

  /// The status and the message.
  public var description: String { "\(code.name): \(message)" }
}

/// One thing that is wrong with a template.
public struct TemplateViolation: Sendable, Hashable, CustomStringConvertible {
  /// The path, such as `conditions[2].expression` or `parameters.welcome.defaultValue`.
  public let path: String

  /// The number of the character in the expression, counted from 1; `nil` outside of expressions.
  public let column: Int?

  /// A description of the violation and of what is expected.
  public let message: String

  /// A violation.
  ///
  /// - Parameters:
  ///   - path: Where it is.
  ///   - column: The number of the character in the expression, counted from 1.
  ///   - message: A description of the violation and of what is expected.
  public init(path: String, column: Int? = nil, message: String) {
    self.path = path
    self.column = column
    self.message = message
  }

  /// The place and the message.
  public var description: String { column.map { "\(path) at character \($0): \(message)" } ?? "\(path): \(message)" }
}
