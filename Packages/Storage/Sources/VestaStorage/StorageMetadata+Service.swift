import Foundation
import VestaBytes
import VestaConcurrency
import VestaStorageBackend

extension StorageMetadata {
  /// The metadata of an object of the service.
  convenience init(_ object: StorageObject) {
    let metadata = object.metadata
    let settable = Settable(
      cacheControl: metadata.cacheControl, contentDisposition: metadata.contentDisposition,
      contentEncoding: metadata.contentEncoding, contentLanguage: metadata.contentLanguage,
      contentType: metadata.contentType, custom: metadata.custom.isEmpty ? nil : metadata.custom)
    self.init(
      Fields(
        bucket: object.name.bucket, path: object.name.name, settable: settable,
        md5Hash: object.md5.map { Base64.standard.encode($0) }, generation: object.generation,
        metageneration: object.metageneration, size: object.size, timeCreated: Self.date(object.timeCreated),
        updated: Self.date(object.updated), downloadTokens: object.downloadTokens, original: settable, isFile: true))
  }

  private static func date(_ microseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(microseconds) / 1e6) }

  /// A copy for an upload to a location: the app's values, the location's names, and a media type.
  func forUpload(to location: StorageLocation, contentType: String) -> StorageMetadata {
    var fields = fields.withLock { $0 }
    fields.bucket = location.bucket
    fields.path = location.path
    if fields.settable.contentType == nil { fields.settable.contentType = contentType }
    return StorageMetadata(fields)
  }

  /// The values as an upload sends them.
  var forService: ObjectMetadata {
    let values = fields.withLock { $0.settable }
    return ObjectMetadata(
      contentType: values.contentType, cacheControl: values.cacheControl,
      contentDisposition: values.contentDisposition, contentEncoding: values.contentEncoding,
      contentLanguage: values.contentLanguage, custom: values.custom ?? [:])
  }

  /// The differences from the metadata as it was read: set values, and removed values.
  var change: MetadataChange {
    let (new, old) = fields.withLock { ($0.settable, $0.original) }
    var change = MetadataChange()
    change.cacheControl = Self.change(new.cacheControl, old.cacheControl)
    change.contentDisposition = Self.change(new.contentDisposition, old.contentDisposition)
    change.contentEncoding = Self.change(new.contentEncoding, old.contentEncoding)
    change.contentLanguage = Self.change(new.contentLanguage, old.contentLanguage)
    change.contentType = Self.change(new.contentType, old.contentType)
    change.custom = Self.change(new.custom, old.custom)
    return change
  }

  private static func change(_ new: String?, _ old: String?) -> FieldChange<String> {
    guard new != old else { return .keep }
    return new.map { .set($0) } ?? .remove
  }

  private static func change(_ new: [String: String]?, _ old: [String: String]?) -> FieldChange<[String: String?]> {
    guard new != old else { return .keep }
    guard let new else { return .remove }
    var changes: [String: String?] = [:]
    for (name, value) in new where old?[name] != value { changes[name] = .some(value) }
    for name in (old ?? [:]).keys where new[name] == nil { changes[name] = .some(nil) }
    return .set(changes)
  }
}
