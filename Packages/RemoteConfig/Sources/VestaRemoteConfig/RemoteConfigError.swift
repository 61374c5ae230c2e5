public import Foundation
import VestaCore

/// The domain of ``RemoteConfigError``.
public let RemoteConfigErrorDomain = "com.google.remoteconfig.ErrorDomain"

/// The domain of ``RemoteConfigUpdateError``.
public let RemoteConfigUpdateErrorDomain = "com.google.remoteconfig.update.ErrorDomain"

/// The domain of ``RemoteConfigCustomSignalsError``.
public let RemoteConfigCustomSignalsErrorDomain = "com.google.remoteconfig.customsignals.ErrorDomain"

/// The key under which a throttled fetch says when it may be tried again, in seconds since 1970.
public let RemoteConfigThrottledEndTimeInSecondsKey = "error_throttled_end_time_seconds"

/// The namespace that apps use unless they name another one.
public let NamespaceGoogleMobilePlatform = RemoteConfigConstants.NamespaceGoogleMobilePlatform

/// Names that are part of the API.
public final class RemoteConfigConstants: NSObject, Sendable {
  /// The namespace that apps use unless they name another one.
  public static let NamespaceGoogleMobilePlatform = "firebase"
}

/// The failure of a fetch or an activation.
///
/// `(error as NSError)` has Firebase's domain, code and keys.
public struct RemoteConfigError: CustomNSError, LocalizedError, Hashable {
  /// The kinds of failures.
  public enum Code: Int, Sendable {
    /// A failure without a specific code.
    case unknown = 8001
    /// Fetches are throttled; ``RemoteConfigError/throttledEndTime`` says until when.
    case throttled = 8002
    /// The service or the app is at fault; the message says which.
    case internalError = 8003

    /// Lets `catch` clauses match an error with this code, also as an `NSError`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      error.hasCode(code.rawValue, in: RemoteConfigErrorDomain)
    }
  }

  /// The kind of the failure.
  public let code: Code

  /// A description of the failure.
  public let message: String

  /// The time at which throttling ends.
  public let throttledEndTime: Date?

  init(_ code: Code, _ message: String, throttledEndTime: Date? = nil) {
    self.code = code
    self.message = message
    self.throttledEndTime = throttledEndTime
  }

  /// An error, as upstream's programs and tests make them.
  ///
  /// - Parameters:
  ///   - code: The kind of the failure.
  ///   - userInfo: Its description, and the end of the throttling.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    let end = userInfo[RemoteConfigThrottledEndTimeInSecondsKey] as? TimeInterval
    self.init(
      code, userInfo[NSLocalizedDescriptionKey] as? String ?? "\(code)",
      throttledEndTime: end.map(Date.init(timeIntervalSince1970:)))
  }

  /// ``Code/unknown``.
  public static var unknown: Code { .unknown }
  /// ``Code/throttled``.
  public static var throttled: Code { .throttled }
  /// ``Code/internalError``.
  public static var internalError: Code { .internalError }

  /// ``RemoteConfigErrorDomain``.
  public static var errorDomain: String { RemoteConfigErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message.
  public var errorDescription: String? { message }
  /// The message, and the end of the throttling.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    info[RemoteConfigThrottledEndTimeInSecondsKey] = throttledEndTime?.timeIntervalSince1970
    return info
  }
}

/// The failure of realtime updates.
public struct RemoteConfigUpdateError: CustomNSError, LocalizedError, Hashable {
  /// The kinds of failures.
  public enum Code: Int, Sendable {
    /// The service cannot be reached.
    case streamError = 8001
    /// The new template was announced but could not be fetched.
    case notFetched = 8002
    /// A message of the service could not be read.
    case messageInvalid = 8003
    /// The service has switched updates off.
    case unavailable = 8004

    /// Lets `catch` clauses match an error with this code, also as an `NSError`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      error.hasCode(code.rawValue, in: RemoteConfigUpdateErrorDomain)
    }
  }

  /// The kind of the failure.
  public let code: Code

  /// An error, as upstream's programs and tests make them.
  public init(_ code: Code) { self.code = code }

  /// A description of the failure.
  public var message: String {
    switch code {
    case .streamError: "Unable to connect to the server. Check your connection and try again."
    case .notFetched: "Unable to fetch the latest version of the template."
    case .messageInvalid: "Unable to parse ConfigUpdate."
    case .unavailable: "The server is temporarily unavailable. Try again in a few minutes."
    }
  }

  /// ``Code/streamError``.
  public static var streamError: Code { .streamError }
  /// ``Code/notFetched``.
  public static var notFetched: Code { .notFetched }
  /// ``Code/messageInvalid``.
  public static var messageInvalid: Code { .messageInvalid }
  /// ``Code/unavailable``.
  public static var unavailable: Code { .unavailable }

  /// ``RemoteConfigUpdateErrorDomain``.
  public static var errorDomain: String { RemoteConfigUpdateErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message.
  public var errorDescription: String? { message }
  /// The message.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}

/// The refusal of custom signals; none of them was changed.
public struct RemoteConfigCustomSignalsError: CustomNSError, LocalizedError, Hashable {
  /// The kinds of failures.
  public enum Code: Int, Sendable {
    /// A failure without a specific code.
    case unknown = 8101
    /// A value is neither a string nor a number.
    case invalidValueType = 8102
    /// There are too many signals, or one is too long.
    case limitExceeded = 8103

    /// Lets `catch` clauses match an error with this code, also as an `NSError`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      error.hasCode(code.rawValue, in: RemoteConfigCustomSignalsErrorDomain)
    }
  }

  /// The kind of the failure.
  public let code: Code

  /// A description of the failure.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// ``Code/unknown``.
  public static var unknown: Code { .unknown }
  /// ``Code/invalidValueType``.
  public static var invalidValueType: Code { .invalidValueType }
  /// ``Code/limitExceeded``.
  public static var limitExceeded: Code { .limitExceeded }

  /// ``RemoteConfigCustomSignalsErrorDomain``.
  public static var errorDomain: String { RemoteConfigCustomSignalsErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message.
  public var errorDescription: String? { message }
  /// The message.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}
