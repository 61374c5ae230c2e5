import VestaBytes
import VestaStorageBackend
import VestaStoreInterop

/// All rows of the storage service.
///
/// | row | key | value |
/// |---|---|---|
/// | object | 1, bucket, name | ``ObjectRecord`` |
/// | content | 2, blob id | the content of a small object |
/// | upload | 3, upload id | ``UploadRecord`` |
/// | garbage | 4, blob id | nothing: the blob's file is to be removed |
/// | events | 5, … | see `EventOutbox` |
/// | bucket | 7, bucket | nothing: the bucket was made |
/// | content in pieces | 8, 9, 10 | see ``StoreBlobStore`` |
/// | folder | 6 | the id of the folder of content that all processes share |
///
/// Objects of a bucket are next to one another in the order of their names' UTF-8 bytes.
enum Keys {
  private static let object: Int64 = 1
  private static let content: Int64 = 2
  private static let upload: Int64 = 3
  private static let garbage: Int64 = 4

  static let folder = KeyEncoder(.int(6)).bytes

  static func bucket(_ name: String) -> [UInt8] { KeyEncoder(.int(7), .string(name)).bytes }

  static let buckets = KeyEncoder(.int(7)).range

  static let outbox = KeyEncoder(.int(5)).bytes

  static func object(_ name: ObjectName) -> [UInt8] {
    KeyEncoder(.int(object), .string(name.bucket), .string(name.name)).bytes
  }

  static func content(_ id: BlobID) -> [UInt8] { KeyEncoder(.int(content), .string(id.rawValue)).bytes }

  static func upload(_ id: UploadID) -> [UInt8] { KeyEncoder(.int(upload), .string(id.rawValue)).bytes }

  static func garbage(_ id: BlobID) -> [UInt8] { KeyEncoder(.int(garbage), .string(id.rawValue)).bytes }

  static var objects: KeyRange { KeyEncoder(.int(object)).range }
  static var uploads: KeyRange { KeyEncoder(.int(upload)).range }
  static var allGarbage: KeyRange { KeyEncoder(.int(garbage)).range }

  // MARK: Parts of a bucket

  /// The keys of the objects whose names begin with a prefix.
  static func objects(in bucket: String, prefix: String) -> KeyRange {
    KeyRange(prefix: unfinished(bucket, prefix))
  }

  /// The first key at or after a name.
  static func firstObject(in bucket: String, from name: String) -> [UInt8] { unfinished(bucket, name) }

  /// The first key after all names with a prefix.
  static func firstObject(in bucket: String, after prefix: String) -> [UInt8]? {
    objects(in: bucket, prefix: prefix).upper
  }

  /// The first key after all objects of a bucket.
  static func firstKey(after bucket: String) -> [UInt8]? { KeyEncoder(.int(object), .string(bucket)).range.upper }

  /// The name in an object's key.
  static func objectName(_ key: [UInt8]) throws -> ObjectName {
    var decoder = KeyDecoder(key)
    _ = try decoder.int()
    return ObjectName(bucket: try decoder.string(), name: try decoder.string())
  }

  /// The name in a bucket's key.
  static func bucketName(_ key: [UInt8]) throws -> String {
    var decoder = KeyDecoder(key)
    _ = try decoder.int()
    return try decoder.string()
  }

  static func garbageID(_ key: [UInt8]) throws -> BlobID? {
    var decoder = KeyDecoder(key)
    _ = try decoder.int()
    return BlobID(rawValue: try decoder.string())
  }

  /// A key whose name may continue: the two bytes that end a string are left out.
  private static func unfinished(_ bucket: String, _ name: String) -> [UInt8] {
    Array(KeyEncoder(.int(object), .string(bucket), .string(name)).bytes.dropLast(2))
  }
}
