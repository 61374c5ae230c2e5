public import Foundation

/// The error of the operations of Storage.
///
/// It is thrown as a ``StorageFailure``: an `NSError` with the domain, the numbers and the keys of Firebase, which a
/// cast to this type matches.
public enum StorageError: Error, CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
  /// Another failure.
  case unknown(message: String, serverError: [String: any Sendable])
  /// There is no such object.
  case objectNotFound(object: String, serverError: [String: any Sendable])
  /// There is no such bucket.
  case bucketNotFound(bucket: String)
  /// There is no such project.
  case projectNotFound(project: String)
  /// The bucket, or the disk that it is kept on, is full.
  case quotaExceeded(bucket: String, serverError: [String: any Sendable])
  /// No user is signed in, or the ID token could not be refreshed.
  case unauthenticated(serverError: [String: any Sendable])
  /// The user may not do this.
  case unauthorized(bucket: String, object: String, serverError: [String: any Sendable])
  /// The operation was retried for longer than its limit.
  case retryLimitExceeded
  /// The content that arrived is not the content that was sent.
  case nonMatchingChecksum
  /// The object is larger than the limit of the download.
  case downloadSizeExceeded(total: Int64, maxSize: Int64)
  /// The operation was cancelled.
  case cancelled
  /// An argument cannot be used.
  case invalidArgument(message: String)
  /// A failure inside of Storage.
  case internalError(message: String)
  /// A URL names another bucket.
  case bucketMismatch(message: String)
  /// A URL does not name an object.
  case pathError(message: String)

  /// `StorageErrorDomain`.
  public static var errorDomain: String { StorageErrorDomain }

  /// The number of the code.
  public var errorCode: Int { code.rawValue }

  /// The code.
  public var code: StorageErrorCode {
    switch self {
    case .unknown: .unknown
    case .objectNotFound: .objectNotFound
    case .bucketNotFound: .bucketNotFound
    case .projectNotFound: .projectNotFound
    case .quotaExceeded: .quotaExceeded
    case .unauthenticated: .unauthenticated
    case .unauthorized: .unauthorized
    case .retryLimitExceeded: .retryLimitExceeded
    case .nonMatchingChecksum: .nonMatchingChecksum
    case .downloadSizeExceeded: .downloadSizeExceeded
    case .cancelled: .cancelled
    case .invalidArgument: .invalidArgument
    case .internalError: .internalError
    case .bucketMismatch: .bucketMismatch
    case .pathError: .pathError
    }
  }

  /// The cause and the remedy.
  public var errorDescription: String? { message }

  /// The name of the code and the message.
  public var description: String { "\(code): \(message)" }

  /// The message, and what else the error knows, under Firebase's keys.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = serverError
    info[NSLocalizedDescriptionKey] = message
    switch self {
    case .downloadSizeExceeded(let total, let maxSize):
      info["totalSize"] = total
      info["maxAllowedSize"] = maxSize
    case .objectNotFound(let object, _): info["object"] = object
    case .bucketNotFound(let bucket), .quotaExceeded(let bucket, _): info["bucket"] = bucket
    case .projectNotFound(let project): info["project"] = project
    case .unauthorized(let bucket, let object, _):
      info["bucket"] = bucket
      info["object"] = object
    default: break
    }
    return info
  }

  private var serverError: [String: any Sendable] {
    switch self {
    case .unknown(_, let server), .objectNotFound(_, let server), .quotaExceeded(_, let server),
      .unauthenticated(let server), .unauthorized(_, _, let server):
      server
    default: [:]
    }
  }

  private var message: String {
    switch self {
    case .unknown(let message, _), .invalidArgument(let message), .internalError(let message),
      .bucketMismatch(let message), .pathError(let message):
      message
    case .objectNotFound(let object, _): "Object \(object) does not exist."
    case .bucketNotFound(let bucket): "Bucket \(bucket) does not exist."
    case .projectNotFound(let project): "Project \(project) does not exist."
    case .quotaExceeded(let bucket, let server):
      // A full disk of an engine is one of the causes, and only its own sentence says so.
      "Quota for bucket \(bucket) exceeded, please view quota on firebase.google.com."
        + ((server["ResponseBody"] as? String).flatMap { $0.isEmpty ? nil : " The backend says: \($0)" } ?? "")
    case .unauthenticated:
      "User is not authenticated, please authenticate using Firebase Authentication and try again."
    case .unauthorized(let bucket, let object, _):
      "User does not have permission to access gs://\(bucket)/\(object)."
    case .retryLimitExceeded: "Max retry time for operation exceeded, please try again."
    case .nonMatchingChecksum: "Uploaded/downloaded object has a different checksum. Please try again."
    case .downloadSizeExceeded(let total, let maxSize):
      """
      Attempted to download object with size of \(total) bytes, which exceeds the maximum size of \(maxSize) bytes. \
      Consider raising the maximum download maxSize, or using StorageReference.write
      """
    case .cancelled: "User cancelled the upload/download."
    }
  }
}
