extension RulesPath {
  /// The path of a document of Firestore, from its path below the root, such as `notes/n1`.
  public static func document(_ path: String, database: String = "(default)") -> RulesPath {
    RulesPath(["databases", database, "documents"] + RulesPath(path).segments)
  }

  /// The path of an object of Storage, or of a prefix of objects.
  public static func object(_ name: String, bucket: String) -> RulesPath {
    RulesPath(["b", bucket, "o"] + RulesPath(name).segments)
  }
}

extension RulesMap {
  /// A document as rules see it: `data`, `id` and `__name__`.
  public static func document(at path: RulesPath, data: RulesMap) -> RulesMap {
    ["__name__": .path(path), "data": .map(data), "id": .string(path.segments.last ?? "")]
  }
}

/// An object of Storage as rules see it.
///
/// A field that is nil is absent: reading it is an error.
public struct RulesStorageObject: Sendable {
  /// The bucket.
  public var bucket: String
  /// The name of the object.
  public var name: String
  /// The size in bytes.
  public var size: Int64
  /// The media type.
  public var contentType: String?
  /// The `Content-Disposition`.
  public var contentDisposition: String?
  /// The `Content-Encoding`.
  public var contentEncoding: String?
  /// The `Cache-Control`.
  public var cacheControl: String?
  /// The `Content-Language`.
  public var contentLanguage: String?
  /// The app's own metadata.
  public var metadata: [String: String] = [:]
  /// The MD5 digest in base64.
  public var md5Hash: String?
  /// The CRC-32C checksum in base64.
  public var crc32c: String?
  /// The entity tag; absent in the object of an upload.
  public var etag: String?
  /// The generation; absent in the object of an upload.
  public var generation: Int64?
  /// The generation of the metadata; absent in the object of an upload.
  public var metageneration: Int64?
  /// The time of creation; absent in the object of an upload.
  public var timeCreated: RulesTimestamp?
  /// The time of the last change; absent in the object of an upload.
  public var updated: RulesTimestamp?

  /// An object as an upload has it.
  public init(_ name: String, bucket: String, size: Int64, contentType: String? = nil) {
    self.name = name
    self.bucket = bucket
    self.size = size
    self.contentType = contentType
  }

  /// The variable `resource` or `request.resource`.
  public var value: RulesValue {
    var members = [
      RulesMap.Member("bucket", .string(bucket)), RulesMap.Member("name", .string(name)),
      RulesMap.Member("size", .int(size)),
      RulesMap.Member("metadata", .map(RulesMap(metadata.map { RulesMap.Member($0.key, .string($0.value)) }))),
    ]
    let texts = [
      ("contentType", contentType), ("contentDisposition", contentDisposition), ("contentEncoding", contentEncoding),
      ("cacheControl", cacheControl), ("contentLanguage", contentLanguage), ("md5Hash", md5Hash), ("crc32c", crc32c),
      ("etag", etag),
    ]
    for case (let name, let text?) in texts { members.append(RulesMap.Member(name, .string(text))) }
    for case (let name, let number?) in [("generation", generation), ("metageneration", metageneration)] {
      members.append(RulesMap.Member(name, .int(number)))
    }
    for case (let name, let time?) in [("timeCreated", timeCreated), ("updated", updated)] {
      members.append(RulesMap.Member(name, .timestamp(time)))
    }
    return .map(RulesMap(members))
  }
}
