/// The domain of Storage's errors as `NSError`.
public let StorageErrorDomain: String = "FIRStorageErrorDomain"

/// The code of an error of Storage.
///
/// ```swift
/// do {
///   let data = try await reference.data(maxSize: 1_000_000)
/// } catch StorageErrorCode.objectNotFound {
///   …
/// }
/// ```
///
/// The thrown error matches by a cast as well: `(error as? StorageErrorCode) == .objectNotFound`.
public enum StorageErrorCode: Int, Error, Sendable {
  /// Another failure; the message says which.
  case unknown = -13000
  /// There is no object at the reference.
  case objectNotFound = -13010
  /// There is no such bucket.
  case bucketNotFound = -13011
  /// There is no such project.
  case projectNotFound = -13012
  /// The bucket is full.
  case quotaExceeded = -13013
  /// No user is signed in, or the ID token could not be refreshed. Sign in and try again.
  case unauthenticated = -13020
  /// The signed-in user may not do this.
  case unauthorized = -13021
  /// The operation was retried for longer than its limit.
  case retryLimitExceeded = -13030
  /// The bytes that arrived are not the bytes that were sent. Try again.
  case nonMatchingChecksum = -13031
  /// The object is larger than the `maxSize` of the download.
  case downloadSizeExceeded = -13032
  /// The operation was cancelled.
  case cancelled = -13040
  /// An argument cannot be used; the message says which and why.
  case invalidArgument = -13050
  /// A URL names another bucket than the one of the `Storage`.
  case bucketMismatch = -13051
  /// A failure inside of Storage.
  case internalError = -13052
  /// A URL does not name an object.
  case pathError = -13053
}
