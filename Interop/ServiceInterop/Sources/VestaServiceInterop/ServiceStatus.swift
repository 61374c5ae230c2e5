/// The failure of a call as every service can describe it: a code, a message and structured details.
///
/// It is what a transport sends and what a remote client receives; the error type of a product is made of it and adds
/// its own names. Code below a product, such as a ``CallerVerifier``, throws it as it is.
public struct ServiceStatus: Error, Sendable, Hashable, CustomStringConvertible {
  /// The canonical code.
  public var code: ServiceCode

  /// The cause, and what to do about it; no secrets and no user data.
  public var message: String

  /// The structured details.
  public var details: [ErrorDetail]

  /// A status.
  ///
  /// - Parameters:
  ///   - code: The canonical code.
  ///   - message: The cause, and what to do about it.
  ///   - details: The structured details.
  public init(_ code: ServiceCode, _ message: String, details: [ErrorDetail] = []) {
    self.code = code
    self.message = message
    self.details = details
  }

  /// The time after which the caller should try again; `nil` where the service does not say.
  public var retryAfter: Duration? { details.retryAfter }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}

/// A structured detail of a failure, as `google.rpc` has them.
public enum ErrorDetail: Sendable, Hashable {
  /// The time after which the caller should try again (`RetryInfo`, `Retry-After`).
  case retryInfo(after: Duration)
  /// A field of the request that is wrong (`BadRequest.FieldViolation`).
  case badRequest(field: String, description: String)
  /// The reason in upper case, the domain that defines it, and more (`ErrorInfo`).
  case errorInfo(reason: String, domain: String, metadata: [String: String] = [:])
  /// A page that helps, such as the link that creates a missing index (`Help`).
  case help(url: String, description: String = "")
}

extension [ErrorDetail] {
  /// The time after which the caller should try again; `nil` where no detail says it.
  public var retryAfter: Duration? {
    for case .retryInfo(let after) in self { return after }
    return nil
  }

  /// The first field of the request that is wrong; `nil` where no detail names one.
  public var wrongField: String? {
    for case .badRequest(let field, _) in self { return field }
    return nil
  }

  /// The reason of a domain; `nil` where no detail has one.
  ///
  /// - Parameter domain: The domain that defines the reason.
  public func reason(in domain: String) -> String? {
    for case .errorInfo(let reason, domain, _) in self { return reason }
    return nil
  }
}
