public import Foundation

// Sound: restates NSError's conformance, and adds a constant.
/// A ``StorageError`` as it is thrown: an `NSError`, as that of Firebase's SDK.
///
/// A cast turns it into what a program looks for:
///
/// ```swift
/// do {
///   try await reference.delete()
/// } catch StorageErrorCode.objectNotFound {
///   …
/// } catch let error as StorageError {
///   print(error.code)
/// }
/// ```
///
/// `catch let error as NSError` and `error as? StorageErrorCode` match as well. An object alone can be cast so: the
/// runtime asks the types below, and has no such question for values.
public final class StorageFailure: NSError, @unchecked Sendable {
  /// The error.
  public let error: StorageError

  init(_ error: StorageError) {
    self.error = error
    super.init(domain: StorageErrorDomain, code: error.errorCode, userInfo: error.errorUserInfo)
  }

  /// Always `nil`: the error is not in an archive.
  public required init?(coder: NSCoder) { nil }

  /// The name of the code and the message.
  public override var description: String { error.description }
}

extension StorageError {
  /// The error as it is thrown.
  var thrown: StorageFailure { StorageFailure(self) }
}

extension StorageError: _ObjectiveCBridgeable {
  /// The error as it is thrown.
  public func _bridgeToObjectiveC() -> StorageFailure { thrown }

  /// The error of a failure.
  public static func _forceBridgeFromObjectiveC(_ failure: StorageFailure, result: inout StorageError?) {
    result = failure.error
  }

  /// The error of a failure; every failure has one.
  public static func _conditionallyBridgeFromObjectiveC(
    _ failure: StorageFailure, result: inout StorageError?
  ) -> Bool {
    result = failure.error
    return true
  }

  /// The error of a failure, and an unknown error for `nil`.
  public static func _unconditionallyBridgeFromObjectiveC(_ failure: StorageFailure?) -> StorageError {
    failure?.error ?? .unknown(message: "There is no error.", serverError: [:])
  }
}

extension StorageErrorCode: _ObjectiveCBridgeable {
  /// An error with the code.
  public func _bridgeToObjectiveC() -> StorageFailure { StorageError(self).thrown }

  /// The code of a failure.
  public static func _forceBridgeFromObjectiveC(_ failure: StorageFailure, result: inout StorageErrorCode?) {
    result = failure.error.code
  }

  /// The code of a failure; every failure has one.
  public static func _conditionallyBridgeFromObjectiveC(
    _ failure: StorageFailure, result: inout StorageErrorCode?
  ) -> Bool {
    result = failure.error.code
    return true
  }

  /// The code of a failure, and that of an unknown error for `nil`.
  public static func _unconditionallyBridgeFromObjectiveC(_ failure: StorageFailure?) -> StorageErrorCode {
    failure?.error.code ?? .unknown
  }
}

extension StorageError {
  /// An error of which only the code is known.
  fileprivate init(_ code: StorageErrorCode) {
    self =
      switch code {
      case .unknown: .unknown(message: "", serverError: [:])
      case .objectNotFound: .objectNotFound(object: "", serverError: [:])
      case .bucketNotFound: .bucketNotFound(bucket: "")
      case .projectNotFound: .projectNotFound(project: "")
      case .quotaExceeded: .quotaExceeded(bucket: "", serverError: [:])
      case .unauthenticated: .unauthenticated(serverError: [:])
      case .unauthorized: .unauthorized(bucket: "", object: "", serverError: [:])
      case .retryLimitExceeded: .retryLimitExceeded
      case .nonMatchingChecksum: .nonMatchingChecksum
      case .downloadSizeExceeded: .downloadSizeExceeded(total: 0, maxSize: 0)
      case .cancelled: .cancelled
      case .invalidArgument: .invalidArgument(message: "")
      case .bucketMismatch: .bucketMismatch(message: "")
      case .internalError: .internalError(message: "")
      case .pathError: .pathError(message: "")
      }
  }
}
