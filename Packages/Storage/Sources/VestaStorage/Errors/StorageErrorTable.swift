import VestaFiles
import VestaServiceInterop
import VestaStorageBackend

/// Turns what the service threw into what the app catches; pure.
enum StorageErrorTable {
  /// The failure that is thrown for an error of an operation on an object.
  static func thrown(for error: any Error, object: ObjectName) -> StorageFailure {
    switch error {
    case let error as StorageError: error.thrown
    case is CancellationError: StorageError.cancelled.thrown
    case let error as StorageServiceError: self.error(for: error, object: object).thrown
    case let error as FileFailure:
      StorageError.unknown(message: "POSIX errno \(error.code) (\(error.reason))", serverError: [:]).thrown
    default: StorageError.unknown(message: "\(error)", serverError: [:]).thrown
    }
  }

  /// The public error for an error of the service.
  static func error(for error: StorageServiceError, object: ObjectName) -> StorageError {
    let status = httpStatus(of: error.code)
    let server: [String: any Sendable] = [
      "ResponseErrorDomain": "com.google.HTTPStatus", "ResponseErrorCode": status, "bucket": object.bucket,
      "object": object.name, "ResponseBody": error.message,
    ]
    if error.reason == .contentMismatch { return .nonMatchingChecksum }
    switch error.code {
    case .unauthenticated: return .unauthenticated(serverError: server)
    case .permissionDenied: return .unauthorized(bucket: object.bucket, object: object.name, serverError: server)
    case .notFound: return .objectNotFound(object: object.name, serverError: server)
    case .resourceExhausted: return .quotaExceeded(bucket: object.bucket, serverError: server)
    case .cancelled: return .cancelled
    case .invalidArgument:
      return .unknown(message: "Unknown 400 error from backend: \(error.message)", serverError: server)
    default:
      return .unknown(message: "Unexpected \(status) code from backend: \(error.message)", serverError: server)
    }
  }

  /// Whether trying again may help.
  static func isRetryable(_ error: any Error) -> Bool {
    guard let error = error as? StorageServiceError else { return false }
    return error.code == .unavailable || error.code == .deadlineExceeded || error.code == .aborted
  }

  /// The status that an HTTP service would have; Firebase has a special status for a full bucket.
  private static func httpStatus(of code: ServiceCode) -> Int {
    switch code {
    case .resourceExhausted: 402
    case .failedPrecondition: 412
    default: code.httpStatus
    }
  }
}
