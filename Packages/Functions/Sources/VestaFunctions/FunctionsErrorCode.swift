public import Foundation
import VestaBytes
import VestaFunctionsBackend
import VestaFunctionsValues
import VestaServiceInterop

/// The domain of the errors of Functions as `NSError`.
public let FunctionsErrorDomain: String = "com.firebase.functions"

/// The key of the details in the `userInfo` of an error of Functions.
public let FunctionsErrorDetailsKey: String = "details"

/// The canonical codes of a failed call.
public enum FunctionsErrorCode: Int, Sendable {
  /// No failure.
  case OK = 0
  /// The call was cancelled.
  case cancelled = 1
  /// A failure without a specific code.
  case unknown = 2
  /// The argument is wrong, whatever the state of the system.
  case invalidArgument = 3
  /// The time limit of the call has passed. The function may have done its work all the same.
  case deadlineExceeded = 4
  /// There is no such function, or something that it needs is not there.
  case notFound = 5
  /// Something that was to be created exists already.
  case alreadyExists = 6
  /// The caller may not do this.
  case permissionDenied = 7
  /// A quota is used up.
  case resourceExhausted = 8
  /// The system is not in the state that the call needs.
  case failedPrecondition = 9
  /// Another call was in the way. Try again.
  case aborted = 10
  /// The argument is beyond the valid range.
  case outOfRange = 11
  /// The function does not do this.
  case unimplemented = 12
  /// The function failed unexpectedly; its log has more.
  case `internal` = 13
  /// The service cannot be reached. Try again later.
  case unavailable = 14
  /// Data is lost or damaged.
  case dataLoss = 15
  /// The caller's credentials are missing or not valid.
  case unauthenticated = 16

  init(_ code: ServiceCode) { self = FunctionsErrorCode(rawValue: code.rawValue) ?? .unknown }

  /// The code in words, which replaces a missing message.
  var words: String {
    switch self {
    case .OK: "OK"
    case .cancelled: "CANCELLED"
    case .unknown: "UNKNOWN"
    case .invalidArgument: "INVALID ARGUMENT"
    case .deadlineExceeded: "DEADLINE EXCEEDED"
    case .notFound: "NOT FOUND"
    case .alreadyExists: "ALREADY EXISTS"
    case .permissionDenied: "PERMISSION DENIED"
    case .resourceExhausted: "RESOURCE EXHAUSTED"
    case .failedPrecondition: "FAILED PRECONDITION"
    case .aborted: "ABORTED"
    case .outOfRange: "OUT OF RANGE"
    case .unimplemented: "UNIMPLEMENTED"
    case .internal: "INTERNAL"
    case .unavailable: "UNAVAILABLE"
    case .dataLoss: "DATA LOSS"
    case .unauthenticated: "UNAUTHENTICATED"
    }
  }
}

/// The error of the operations of Functions.
///
/// It reads like the `NSError` of Firebase's SDK: `(error as NSError).code`, `.domain` and `.userInfo` have its numbers
/// and keys.
///
/// ```swift
/// } catch let error as FunctionsError where error.code == .alreadyExists {
///   print(error.message, error.details ?? "")
/// }
/// ```
public struct FunctionsError: CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
  /// The code of the failure.
  public let code: FunctionsErrorCode

  /// The cause, for a developer.
  public let message: String

  private let wireDetails: JSONValue?
  private let region: String?
  private let url: String?
  private let underlying: (any Error)?

  /// The details that the function has given about the failure; `nil` for none.
  public var details: Any? { wireDetails.flatMap { try? CallableValue.decode($0, numbers: .foundation) } }

  init(
    _ code: FunctionsErrorCode, _ message: String? = nil, details: JSONValue? = nil, region: String? = nil,
    url: String? = nil, underlying: (any Error)? = nil
  ) {
    self.underlying = underlying
    self.code = code
    self.message = message ?? code.words
    wireDetails = details
    self.region = region
    self.url = url
  }

  /// The error of a failed call; the text of an unexpected failure is not passed on.
  init(_ error: FunctionsServiceError, region: String?, url: String?) {
    let code = FunctionsErrorCode(error.code)
    guard code != .internal, code != .unknown else {
      self.init(.internal, region: region, url: url)
      return
    }
    self.init(
      code, error.message.isEmpty ? nil : error.message, details: error.details, region: region, url: url)
  }

  /// `FunctionsErrorDomain`.
  public static var errorDomain: String { FunctionsErrorDomain }

  /// The number of the code.
  public var errorCode: Int { code.rawValue }

  /// The message.
  public var errorDescription: String? { message }

  /// The message, the details, where the function is, and the error that caused this one.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    info[FunctionsErrorDetailsKey] = details
    info["region"] = region
    info["url"] = url
    info[NSUnderlyingErrorKey] = underlying
    return info
  }

  /// The code and the message.
  public var description: String { "\(code.words) (\(code.rawValue)): \(message)" }
}
