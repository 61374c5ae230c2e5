import VestaBytes

/// A bucket and the name of an object in it.
///
/// Names are compared by their UTF-8 bytes: two that only look alike are names of two objects.
public struct ObjectName: Sendable, Hashable, CustomStringConvertible {
  /// The bucket.
  public let bucket: String

  /// The name, such as `images/cat.jpg`.
  public let name: String

  /// The name of an object.
  ///
  /// - Parameters:
  ///   - bucket: The bucket.
  ///   - name: The name in the bucket.
  public init(bucket: String, name: String) {
    self.bucket = bucket
    self.name = name
  }

  /// The `gs://` URL, not escaped.
  public var description: String { "gs://\(bucket)/\(name)" }

  /// Whether bucket and name have the same bytes.
  public static func == (left: ObjectName, right: ObjectName) -> Bool {
    UTF8Order.equal(left.bucket, right.bucket) && UTF8Order.equal(left.name, right.name)
  }

  /// Feeds the bytes of bucket and name.
  public func hash(into hasher: inout Hasher) {
    UTF8Order.hash(bucket, into: &hasher)
    UTF8Order.hash(name, into: &hasher)
  }
}

/// An object: its name, generation, content digests and metadata.
public struct StorageObject: Sendable, Hashable {
  /// The bucket and the name.
  public var name: ObjectName

  /// The generation of the content: changes with each upload, and only grows.
  public var generation: Int64

  /// The generation of the metadata: 1 after an upload, one more with each change.
  public var metageneration: Int64

  /// The length of the content in bytes.
  public var size: Int64

  /// The CRC-32C checksum of the content.
  public var crc32c: UInt32

  /// The MD5 digest of the content; `nil` where the system bars MD5.
  public var md5: [UInt8]?

  /// The time at which the generation was created, in microseconds since 1970.
  public var timeCreated: Int64

  /// The time of the last change of the metadata, in microseconds since 1970.
  public var updated: Int64

  /// The metadata that the uploader chose.
  public var metadata: ObjectMetadata

  /// The download tokens, oldest first.
  public var downloadTokens: [String]

  /// An object.
  public init(
    name: ObjectName, generation: Int64, metageneration: Int64 = 1, size: Int64, crc32c: UInt32, md5: [UInt8]?,
    timeCreated: Int64, updated: Int64, metadata: ObjectMetadata, downloadTokens: [String] = []
  ) {
    self.name = name
    self.generation = generation
    self.metageneration = metageneration
    self.size = size
    self.crc32c = crc32c
    self.md5 = md5
    self.timeCreated = timeCreated
    self.updated = updated
    self.metadata = metadata
    self.downloadTokens = downloadTokens
  }
}

/// The metadata of an object that its uploader chooses.
public struct ObjectMetadata: Sendable, Hashable {
  /// The media type, such as `image/jpeg`.
  public var contentType: String?

  /// The `Cache-Control` of downloads.
  public var cacheControl: String?

  /// The `Content-Disposition` of downloads.
  public var contentDisposition: String?

  /// The `Content-Encoding` of the stored bytes.
  public var contentEncoding: String?

  /// The `Content-Language` of the content.
  public var contentLanguage: String?

  /// Names and values of the app's own.
  public var custom: [String: String]

  /// A time that the app sets for the object, in microseconds since 1970: once set, it is neither removed nor set to an
  /// earlier one.
  public var customTime: Int64?

  /// Metadata.
  public init(
    contentType: String? = nil, cacheControl: String? = nil, contentDisposition: String? = nil,
    contentEncoding: String? = nil, contentLanguage: String? = nil, custom: [String: String] = [:],
    customTime: Int64? = nil
  ) {
    self.customTime = customTime
    self.contentType = contentType
    self.cacheControl = cacheControl
    self.contentDisposition = contentDisposition
    self.contentEncoding = contentEncoding
    self.contentLanguage = contentLanguage
    self.custom = custom
  }
}

/// The change of one field of an object's metadata.
public enum FieldChange<Value: Sendable & Hashable>: Sendable, Hashable {
  /// The field stays as it is.
  case keep
  /// The field gets a value.
  case set(Value)
  /// The field is removed.
  case remove
}

/// A change of an object's metadata.
public struct MetadataChange: Sendable, Hashable {
  /// The media type.
  public var contentType: FieldChange<String> = .keep

  /// The `Cache-Control`.
  public var cacheControl: FieldChange<String> = .keep

  /// The `Content-Disposition`.
  public var contentDisposition: FieldChange<String> = .keep

  /// The `Content-Encoding`.
  public var contentEncoding: FieldChange<String> = .keep

  /// The `Content-Language`.
  public var contentLanguage: FieldChange<String> = .keep

  /// The app's own values: `set` changes the named ones (`nil` removes one), `remove` removes all.
  public var custom: FieldChange<[String: String?]> = .keep

  /// The time that the app sets for the object.
  public var customTime: FieldChange<Int64> = .keep

  /// A change of nothing.
  public init() {}
}

/// The conditions on an object under which a call proceeds.
///
/// Generation 0 means "there is no such object".
public struct Preconditions: Sendable, Hashable {
  /// The object has this generation.
  public var ifGenerationMatch: Int64?

  /// The object has another generation.
  public var ifGenerationNotMatch: Int64?

  /// The object has this metageneration.
  public var ifMetagenerationMatch: Int64?

  /// The object has another metageneration.
  public var ifMetagenerationNotMatch: Int64?

  /// No precondition.
  public static let none = Preconditions()

  /// Preconditions.
  public init(
    ifGenerationMatch: Int64? = nil, ifGenerationNotMatch: Int64? = nil, ifMetagenerationMatch: Int64? = nil,
    ifMetagenerationNotMatch: Int64? = nil
  ) {
    self.ifGenerationMatch = ifGenerationMatch
    self.ifGenerationNotMatch = ifGenerationNotMatch
    self.ifMetagenerationMatch = ifMetagenerationMatch
    self.ifMetagenerationNotMatch = ifMetagenerationNotMatch
  }
}

/// A change of an object's download tokens.
public enum DownloadTokenAction: Sendable, Hashable {
  /// Adds a new token.
  case add
  /// Adds a new token if the object has none.
  ///
  /// A guard is asked about it as about a read, because readers of Firebase's API find a token in every object.
  case ensure
  /// Removes a token; nothing happens when the object does not have it.
  case revoke(String)
}
