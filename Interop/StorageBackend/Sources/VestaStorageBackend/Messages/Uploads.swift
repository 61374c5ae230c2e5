public import VestaServiceInterop

/// The object that an upload creates or replaces.
public struct UploadRequest: Sendable, Hashable {
  /// The object.
  public var object: ObjectName

  /// Its metadata; the service chooses a media type where there is none.
  public var metadata: ObjectMetadata

  /// The length of the content where the sender knows it.
  public var size: Int64?

  /// The conditions on the object when the upload ends.
  public var preconditions: Preconditions

  /// The digests of the content where the sender knows them.
  public var expected: ContentDigest

  /// The download tokens of the object.
  public var downloadTokens: UploadTokens

  /// Whether the sender can continue the upload after its process has ended; otherwise the service keeps it for a
  /// shorter time.
  public var isContinuable: Bool

  /// A request.
  public init(
    object: ObjectName, metadata: ObjectMetadata = ObjectMetadata(), size: Int64? = nil,
    preconditions: Preconditions = .none, expected: ContentDigest = ContentDigest(),
    downloadTokens: UploadTokens = .make, isContinuable: Bool = true
  ) {
    self.downloadTokens = downloadTokens
    self.isContinuable = isContinuable
    self.object = object
    self.metadata = metadata
    self.size = size
    self.preconditions = preconditions
    self.expected = expected
  }
}

/// The download tokens of an object that is uploaded.
///
/// Tokens that the custom metadata has under `firebaseStorageDownloadTokens` are used before generated ones.
public enum UploadTokens: Sendable, Hashable {
  /// The service makes one.
  case make
  /// None, as Google's own API has it.
  case none
  /// These; the service makes one where there are none.
  case these([String])
}

/// The size and the checksums of an upload's content, as far as its sender knows them.
public struct ContentDigest: Sendable, Hashable {
  /// The length.
  public var size: Int64?

  /// The CRC-32C checksum.
  public var crc32c: UInt32?

  /// The MD5 digest.
  public var md5: [UInt8]?

  /// Creates a digest; a value that is not named is unknown.
  public init(size: Int64? = nil, crc32c: UInt32? = nil, md5: [UInt8]? = nil) {
    self.size = size
    self.crc32c = crc32c
    self.md5 = md5
  }
}

/// The id of a resumable upload; any caller that knows it can continue the upload.
public struct UploadID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The id as the service made it.
  public let rawValue: String

  /// An id that the service made.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The first characters: the rest is a secret.
  public var description: String { "upload \(rawValue.prefix(6))" }
}

/// The progress of an upload.
public struct UploadStatus: Sendable, Hashable {
  /// The state of an upload.
  public enum State: Sendable, Hashable {
    /// It takes more bytes.
    case active
    /// It has ended with an object.
    case final
    /// It was cancelled.
    case cancelled
  }

  /// Whether the upload is active.
  public let state: State

  /// The number of bytes received.
  public let received: Int64

  /// The CRC-32C checksum of the received bytes; a sender compares it before it continues after an interruption.
  ///
  /// `nil` where the service does not say, as Firebase; the checksum of the whole is compared at the end then.
  public let crc32c: UInt32?

  /// The request that started the upload; `nil` where the service does not say.
  ///
  /// Its expected digests and its preconditions are the ones of the start.
  public let request: UploadRequest?

  /// The caller who has started the upload: the guard is asked about that one at its end.
  public let starter: CallContext.Caller?

  /// A status.
  public init(
    state: State, received: Int64, crc32c: UInt32?, request: UploadRequest? = nil, starter: CallContext.Caller? = nil
  ) {
    self.state = state
    self.received = received
    self.crc32c = crc32c
    self.request = request
    self.starter = starter
  }
}

/// The limits of uploads.
public enum UploadLimits {
  /// The longest content of a single-call upload: 256 KiB.
  public static let singleCallLength = 256 * 1024

  /// The longest chunk: 16 MiB.
  public static let chunkLength = 16 * 1024 * 1024

  /// The size of the largest object: 5 TiB.
  public static let objectSize: Int64 = 5 * 1024 * 1024 * 1024 * 1024

  /// The largest number of objects that one object is made of: 32.
  public static let sources = 32
}
