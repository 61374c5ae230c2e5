import VestaBytes
public import VestaStorageBackend

/// The headers of a download, and the metadata that headers of an upload by XML state.
public enum DownloadHeaders {
  /// The header fields of a download, by their names in lower case.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - bytes: The part that is sent; `nil` for all of it.
  public static func fields(
    of object: StorageObject, bytes: ClosedRange<Int64>? = nil
  ) -> [(name: String, value: String)] {
    let metadata = object.metadata
    var fields = [
      (name: "accept-ranges", value: "bytes"),
      (name: "content-type", value: clean(metadata.contentType ?? "application/octet-stream")),
      (name: "content-disposition", value: disposition(of: object)),
      (name: "etag", value: ObjectWire.etag(of: object)),
      (name: "x-goog-generation", value: "\(object.generation)"),
      (name: "x-goog-metageneration", value: "\(object.metageneration)"),
      (name: "x-goog-storage-class", value: "STANDARD"), (name: "x-goog-hash", value: ObjectWire.hash(of: object)),
    ]
    if let value = metadata.cacheControl { fields.append(("cache-control", clean(value))) }
    if let value = metadata.contentEncoding { fields.append(("content-encoding", clean(value))) }
    if let value = metadata.contentLanguage { fields.append(("content-language", clean(value))) }
    if let bytes { fields.append(("content-range", "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(object.size)")) }
    for (name, value) in metadata.custom.sorted(by: { $0.key < $1.key }) where isToken(name) {
      fields.append(("x-goog-meta-\(name.lowercased())", clean(value)))
    }
    return fields
  }

  /// The content disposition, with the last part of the object's name as the file's name unless it has one.
  private static func disposition(of object: StorageObject) -> String {
    let disposition = object.metadata.contentDisposition ?? "attachment"
    if disposition.lowercased().contains("filename") { return clean(disposition) }
    let file = object.name.name.parts(at: "/", omittingEmpty: true).last.map(String.init) ?? object.name.name
    return "\(clean(disposition)); filename*=utf-8''\(PercentEncoding.unreserved.encode(file))"
  }

  /// The object of a download, as far as its headers say it.
  ///
  /// They have no times, no tokens and no disposition: a call for the metadata returns these.
  ///
  /// - Parameters:
  ///   - name: The name of the object.
  ///   - length: The number of bytes that are sent; `nil` where the answer does not say.
  ///   - field: Returns the value of a header field by its name in lower case.
  /// - Returns: The object; `nil` where a header is missing that identifies the content.
  public static func object(
    _ name: ObjectName, length: Int64?, field: (String) -> String?
  ) -> StorageObject? {
    let total =
      field("content-range").map { $0.parts(at: "/", omittingEmpty: true).last.flatMap { Int64($0) } } ?? length
    let digest = field("x-goog-hash").map { ObjectWire.digest(hash: $0) }
    guard let generation = field("x-goog-generation").flatMap({ Int64($0) }), let size = total,
      let checksum = digest?.crc32c
    else { return nil }
    let metadata = ObjectMetadata(
      contentType: field("content-type"), cacheControl: field("cache-control"),
      contentEncoding: field("content-encoding"), contentLanguage: field("content-language"))
    return StorageObject(
      name: name, generation: generation,
      metageneration: field("x-goog-metageneration").flatMap { Int64($0) } ?? 1, size: size, crc32c: checksum,
      md5: digest?.md5, timeCreated: 0, updated: 0, metadata: metadata)
  }

  /// The metadata of an upload by XML.
  ///
  /// - Parameter fields: All header fields, by their names in lower case.
  public static func upload(_ fields: [(name: String, value: String)]) -> UploadBody {
    var body = UploadBody()
    for (name, value) in fields {
      switch name {
      case "content-type": body.metadata.contentType = value
      case "cache-control": body.metadata.cacheControl = value
      case "content-disposition": body.metadata.contentDisposition = value
      case "content-encoding": body.metadata.contentEncoding = value
      case "content-language": body.metadata.contentLanguage = value
      case "x-goog-hash":
        let digest = ObjectWire.digest(hash: value)
        body.digest.md5 = digest.md5 ?? body.digest.md5
        body.digest.crc32c = digest.crc32c ?? body.digest.crc32c
      case "content-md5": body.digest.md5 = (try? Base64.standard.decode(value)).flatMap(ObjectWire.md5)
      default:
        // Amazon's tools, which Google's XML serves as well, have names of their own.
        let prefix = ["x-goog-meta-", "x-amz-meta-"].first { name.hasPrefix($0) && name.utf8.count > $0.utf8.count }
        guard let prefix else { continue }
        body.metadata.custom[String(name.dropFirst(prefix.count))] = value
      }
    }
    return body
  }

  /// A value without characters that would end a header.
  private static func clean(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || $0.value == 127 ? " " : $0 }))
  }

  /// Whether a name can be part of the name of a header.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { $0 &- 48 < 10 || ($0 | 32) &- 97 < 26 || "!#$%&'*+-.^_`|~".utf8.contains($0) }
  }
}
