public import Foundation
import VestaConcurrency
import VestaStorageBackend

/// The metadata of an object: the properties of the app, and the service's.
///
/// ```swift
/// let metadata = StorageMetadata()
/// metadata.contentType = "image/jpeg"
/// metadata.customMetadata = ["camera": "front"]
/// ```
///
/// May be used from any thread. An operation takes the values that it has when the operation is called.
public final class StorageMetadata: Sendable, Hashable, CustomStringConvertible {
  struct Fields: Sendable, Hashable {
    var bucket = ""
    var path: String?
    var settable = Settable()
    var md5Hash: String?
    var generation: Int64 = 0
    var metageneration: Int64 = 0
    var size: Int64 = 0
    var timeCreated: Date?
    var updated: Date?
    var downloadTokens: [String] = []
    /// The values of the object when it was read; empty for metadata that the app made.
    var original = Settable()
    var isFile = false
  }

  /// The fields that the app can set.
  struct Settable: Sendable, Hashable, Codable {
    var cacheControl: String?
    var contentDisposition: String?
    var contentEncoding: String?
    var contentLanguage: String?
    var contentType: String?
    var custom: [String: String]?
  }

  let fields: Locked<Fields>

  init(_ fields: Fields) { self.fields = Locked(fields) }

  /// Metadata with nothing set.
  public convenience init() { self.init(Fields()) }

  /// The bucket; "" for metadata that the app made.
  public var bucket: String { fields.withLock { $0.bucket } }

  /// The caching directive for downloads.
  public var cacheControl: String? {
    get { fields.withLock { $0.settable.cacheControl } }
    set { fields.withLock { $0.settable.cacheControl = newValue } }
  }

  /// The disposition of downloads in browsers.
  public var contentDisposition: String? {
    get { fields.withLock { $0.settable.contentDisposition } }
    set { fields.withLock { $0.settable.contentDisposition = newValue } }
  }

  /// The encoding of the stored bytes, such as `gzip`.
  public var contentEncoding: String? {
    get { fields.withLock { $0.settable.contentEncoding } }
    set { fields.withLock { $0.settable.contentEncoding = newValue } }
  }

  /// The language of the content.
  public var contentLanguage: String? {
    get { fields.withLock { $0.settable.contentLanguage } }
    set { fields.withLock { $0.settable.contentLanguage = newValue } }
  }

  /// The media type, such as `image/jpeg`.
  public var contentType: String? {
    get { fields.withLock { $0.settable.contentType } }
    set { fields.withLock { $0.settable.contentType = newValue } }
  }

  /// Names and values of the app's own.
  public var customMetadata: [String: String]? {
    get { fields.withLock { $0.settable.custom } }
    set { fields.withLock { $0.settable.custom = newValue } }
  }

  /// The MD5 digest of the content in base64.
  public var md5Hash: String? { fields.withLock { $0.md5Hash } }

  /// The generation of the content.
  public var generation: Int64 { fields.withLock { $0.generation } }

  /// The generation of the metadata.
  public var metageneration: Int64 { fields.withLock { $0.metageneration } }

  /// The last component of the path.
  public var name: String? { path.map { StorageLocation(bucket: "", path: $0).name } }

  /// The full path of the object; `nil` for metadata that the app made.
  public var path: String? { fields.withLock { $0.path } }

  /// The length of the content in bytes.
  public var size: Int64 { fields.withLock { $0.size } }

  /// The time at which the generation was created.
  public var timeCreated: Date? { fields.withLock { $0.timeCreated } }

  /// The time of the last change of the metadata.
  public var updated: Date? { fields.withLock { $0.updated } }

  /// Whether this is the metadata of an object of the service.
  public var isFile: Bool { fields.withLock { $0.isFile } }

  /// Whether this is the metadata of a folder; never, as the service keeps objects only.
  public var isFolder: Bool { false }

  /// A copy that changes by itself.
  public func copy() -> Any { StorageMetadata(fields.withLock { $0 }) }

  /// Whether all fields are equal.
  public static func == (left: StorageMetadata, right: StorageMetadata) -> Bool {
    left.fields.withLock { $0 } == right.fields.withLock { $0 }
  }

  /// Feeds all fields.
  public func hash(into hasher: inout Hasher) { hasher.combine(fields.withLock { $0 }) }

  /// The dictionary form.
  public var description: String { "StorageMetadata \(dictionaryRepresentation())" }
}
