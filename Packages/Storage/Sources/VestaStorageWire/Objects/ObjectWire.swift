public import VestaBytes
public import VestaStorageBackend

/// Objects as the JSON of Firebase's and of Google's API, and back.
///
/// The two differ in where the download tokens are, in the form of the checksum, and in what Google's adds about the
/// resource itself. Numbers are strings in both.
public enum ObjectWire {
  /// The API whose form is written.
  public enum Form: Sendable, Hashable {
    /// Firebase's `/v0`; the emulator of Firebase writes the checksum as a decimal number.
    case firebase(hasDecimalChecksum: Bool)
    /// Google's `/storage/v1`.
    case google
  }

  /// The member of the custom metadata with the download tokens, in Google's API and in uploads.
  public static let tokensName = "firebaseStorageDownloadTokens"

  /// The JSON of an object.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - form: The form.
  ///   - origin: The origin at which clients reach the API, such as `http://localhost:9199`, for the links of Google's
  ///     form.
  public static func json(of object: StorageObject, form: Form, origin: String = "") -> [UInt8] {
    // Only numbers that are not finite cannot be written, and an object has none.
    (try? self.object(of: object, form: form, origin: origin).json()) ?? []
  }

  /// The object's JSON as a value.
  public static func object(of object: StorageObject, form: Form, origin: String = "") -> JSONObject {
    var json = JSONObject()
    let metadata = object.metadata
    if form == .google { writeLinks(of: object, origin, to: &json) }
    json["name"] = .string(object.name.name)
    json["bucket"] = .string(object.name.bucket)
    json["generation"] = .string("\(object.generation)")
    json["metageneration"] = .string("\(object.metageneration)")
    json["contentType"] = .string(metadata.contentType ?? "application/octet-stream")
    json["timeCreated"] = .string(RFC3339.text(microseconds: object.timeCreated, digits: 3))
    json["updated"] = .string(RFC3339.text(microseconds: object.updated, digits: 3))
    json["storageClass"] = "STANDARD"
    json["size"] = .string("\(object.size)")
    json["md5Hash"] = object.md5.map { .string(Base64.standard.encode($0)) }
    json["crc32c"] = .string(checksum(object.crc32c, form))
    json["etag"] = .string(etag(of: object))
    writeMetadata(of: object, form, to: &json)
    return json
  }

  private static func writeLinks(of object: StorageObject, _ origin: String, to json: inout JSONObject) {
    json["kind"] = "storage#object"
    json["id"] = .string("\(object.name.bucket)/\(object.name.name)/\(object.generation)")
    let path = "/storage/v1/b/\(object.name.bucket)/o/\(PercentEncoding.unreserved.encode(object.name.name))"
    json["selfLink"] = .string(origin + path)
    json["mediaLink"] = .string("\(origin)/download\(path)?generation=\(object.generation)&alt=media")
  }

  private static func writeMetadata(of object: StorageObject, _ form: Form, to json: inout JSONObject) {
    let metadata = object.metadata
    json["contentEncoding"] = (metadata.contentEncoding ?? (form == .google ? nil : "identity")).map(JSONValue.string)
    json["contentDisposition"] = metadata.contentDisposition.map(JSONValue.string)
    json["contentLanguage"] = metadata.contentLanguage.map(JSONValue.string)
    json["cacheControl"] = metadata.cacheControl.map(JSONValue.string)
    if form == .google {
      json["timeStorageClassUpdated"] = json["timeCreated"]
      json["customTime"] = metadata.customTime.map { .string(RFC3339.text(microseconds: $0)) }
    }
    var custom = metadata.custom
    let tokens = object.downloadTokens.joined(separator: ",")
    if form == .google, !tokens.isEmpty { custom[tokensName] = tokens }
    if !custom.isEmpty { json["metadata"] = MetadataWire.object(custom) }
    if form != .google { json["downloadTokens"] = .string(tokens) }
  }

  /// Reads an object in either form.
  ///
  /// - Throws: `BytesError` with `.malformed` for an object without a name, a bucket or a number that it needs.
  public static func object(json: [UInt8]) throws(BytesError) -> StorageObject {
    try object(JSONObject(json: json, limits: MetadataWire.limits))
  }

  /// Reads an object in either form.
  public static func object(_ json: JSONObject) throws(BytesError) -> StorageObject {
    guard let name = json["name"]?.string, let bucket = json["bucket"]?.string else {
      throw BytesError(.malformed, "an object has no name")
    }
    let body = try MetadataWire.upload(json)
    var metadata = body.metadata
    if metadata.contentEncoding == "identity" { metadata.contentEncoding = nil }
    let tokens = json["downloadTokens"]?.string.map { MetadataWire.tokens($0) } ?? body.downloadTokens
    return StorageObject(
      name: ObjectName(bucket: bucket, name: name), generation: try number(json, "generation"),
      metageneration: try number(json, "metageneration", missing: 1), size: try number(json, "size", missing: 0),
      crc32c: body.digest.crc32c ?? 0, md5: body.digest.md5, timeCreated: try time(json, "timeCreated"),
      updated: try time(json, "updated"), metadata: metadata, downloadTokens: tokens)
  }

  /// The tag that names the content and the metadata of an object.
  public static func etag(of object: StorageObject) -> String {
    let digest = SHA1.digest(Array("\(object.generation)/\(object.metageneration)".utf8))
    return String(Base64.standard.encode(digest).dropLast())
  }

  /// The value of the header `x-goog-hash`.
  public static func hash(of object: StorageObject) -> String {
    let checksum = "crc32c=\(checksum(object.crc32c, .google))"
    return object.md5.map { "\(checksum),md5=\(Base64.standard.encode($0))" } ?? checksum
  }

  /// The digests of a header `x-goog-hash`; what it does not have, or what is no digest, is unknown.
  public static func digest(hash: String) -> ContentDigest {
    var digest = ContentDigest()
    for part in hash.split(separator: ",") {
      let text = part.drop { $0 == " " }
      if text.hasPrefix("crc32c=") { digest.crc32c = checksum(String(text.dropFirst(7))) }
      if text.hasPrefix("md5=") { digest.md5 = (try? Base64.standard.decode(text.dropFirst(4))).flatMap(md5) }
    }
    return digest
  }

  /// The value of the header `x-goog-hash` for what a sender knows; `nil` for nothing.
  public static func hash(of digest: ContentDigest) -> String? {
    let parts = [
      digest.crc32c.map { "crc32c=\(CRC32C.text($0))" }, digest.md5.map { "md5=\(Base64.standard.encode($0))" },
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: ",")
  }

  static func md5(_ bytes: [UInt8]) -> [UInt8]? { bytes.count == 16 ? bytes : nil }

  /// A checksum: base64 of four bytes, or a decimal number; `nil` for another string.
  static func checksum(_ text: String) -> UInt32? {
    if let bytes = try? Base64.standard.decode(text), bytes.count == 4 {
      return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
    return text.utf8.allSatisfy { $0 &- 48 < 10 } ? UInt32(text) : nil
  }

  private static func checksum(_ value: UInt32, _ form: Form) -> String {
    if form == .firebase(hasDecimalChecksum: true) { return "\(value)" }
    return CRC32C.text(value)
  }

  private static func number(
    _ json: JSONObject, _ name: String, missing: Int64? = nil
  ) throws(BytesError) -> Int64 {
    let number: Int64? =
      switch json[name] {
      case nil: missing
      case .string(let text)?: Int64(text)
      case let value?: value.integer
      }
    guard let number, number >= 0 else { throw BytesError(.malformed, "the member \(name) is no number") }
    return number
  }

  private static func time(_ json: JSONObject, _ name: String) throws(BytesError) -> Int64 {
    guard let text = json[name]?.string else { return 0 }
    guard let time = RFC3339.microseconds(of: text) else {
      throw BytesError(.malformed, "the member \(name) is no time")
    }
    return time
  }
}
