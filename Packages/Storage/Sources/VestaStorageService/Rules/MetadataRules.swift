import VestaBytes
import VestaServiceInterop
import VestaStorageBackend

/// The rules for metadata in an upload and in a change; pure.
enum MetadataRules {
  /// The name under which custom metadata can bring download tokens.
  static let tokenKey = "firebaseStorageDownloadTokens"

  /// The largest number of bytes of an object's custom names and values together.
  static let customLimit = 8 * 1024

  /// The largest number of bytes of each of the other fields.
  static let fieldLimit = 4 * 1024

  /// The times that can be written with a year of four digits, in microseconds since 1970.
  static let timeRange: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999

  /// The metadata of a new generation, and the download tokens in it.
  ///
  /// - Parameters:
  ///   - metadata: The metadata of the upload.
  ///   - name: The object.
  ///   - fillsIn: Whether a missing encoding and a missing disposition are chosen, as for uploads by Firebase's API; of
  ///     Google's own they stay absent.
  static func prepared(
    _ metadata: ObjectMetadata, for name: ObjectName, fillsIn: Bool = true
  ) throws(StorageServiceError) -> (metadata: ObjectMetadata, tokens: [String]) {
    var metadata = metadata
    let tokens = takeTokens(from: &metadata.custom)
    if metadata.contentType == nil || metadata.contentType == "" { metadata.contentType = "application/octet-stream" }
    if fillsIn {
      metadata.contentEncoding = metadata.contentEncoding ?? "identity"
      metadata.contentDisposition = metadata.contentDisposition ?? disposition(of: name)
    }
    try check(metadata)
    return (metadata, tokens)
  }

  /// The metadata after a change, and the download tokens in it.
  static func applying(
    _ change: MetadataChange, to old: ObjectMetadata
  ) throws(StorageServiceError) -> (metadata: ObjectMetadata, tokens: [String]) {
    var new = old
    apply(change.contentType, to: &new.contentType)
    apply(change.cacheControl, to: &new.cacheControl)
    apply(change.contentDisposition, to: &new.contentDisposition)
    apply(change.contentEncoding, to: &new.contentEncoding)
    apply(change.contentLanguage, to: &new.contentLanguage)
    switch change.custom {
    case .keep: break
    case .remove: new.custom = [:]
    case .set(let values): for (name, value) in values { new.custom[name] = value }
    }
    apply(change.customTime, to: &new.customTime)
    if let time = old.customTime, new.customTime ?? .min < time {
      throw StorageServiceError(.invalidArgument, "A custom time can neither be removed nor set to an earlier one.")
    }
    let tokens = takeTokens(from: &new.custom)
    try check(new)
    return (new, tokens)
  }

  private static func apply<Value: Sendable & Hashable>(_ change: FieldChange<Value>, to field: inout Value?) {
    switch change {
    case .keep: break
    case .set(let value): field = value
    case .remove: field = nil
    }
  }

  private static func takeTokens(from custom: inout [String: String]) -> [String] {
    (custom.removeValue(forKey: tokenKey) ?? "").split(separator: ",").map(String.init)
  }

  private static func disposition(of name: ObjectName) -> String {
    let last = name.name.parts(at: "/", omittingEmpty: true).last.map(String.init) ?? name.name
    return "inline; filename*=utf-8''\(PercentEncoding.unreserved.encode(last))"
  }

  private static func check(_ metadata: ObjectMetadata) throws(StorageServiceError) {
    let size = metadata.custom.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    guard size <= customLimit else {
      throw StorageServiceError(
        .invalidArgument, "The custom metadata has \(size) bytes; at most \(customLimit) are allowed.")
    }
    for (name, value) in metadata.custom where hasControls(name) || hasControls(value) {
      throw StorageServiceError(.invalidArgument, "Custom metadata has control characters in a name or a value.")
    }
    guard metadata.customTime.map({ (timeRange).contains($0) }) ?? true else {
      throw StorageServiceError(.invalidArgument, "A custom time is in one of the years 1 to 9999.")
    }
    try checkFields(of: metadata)
  }

  private static func checkFields(of metadata: ObjectMetadata) throws(StorageServiceError) {
    let fields = [
      metadata.contentType, metadata.cacheControl, metadata.contentDisposition, metadata.contentEncoding,
      metadata.contentLanguage,
    ]
    for case let field? in fields {
      guard field.utf8.count <= fieldLimit, !hasControls(field) else {
        throw StorageServiceError(
          .invalidArgument, "A metadata field is longer than \(fieldLimit) bytes or has control characters.")
      }
    }
  }

  /// Whether a text could end a line of a header, or the header itself.
  private static func hasControls(_ text: String) -> Bool { text.utf8.contains { $0 < 32 || $0 == 127 } }
}
