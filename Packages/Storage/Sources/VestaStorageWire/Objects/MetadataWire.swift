public import VestaBytes
public import VestaStorageBackend

/// The JSON that is sent with an upload.
public struct UploadBody: Sendable, Hashable {
  /// The name of the object, where the body has it.
  public var name: String?
  /// The metadata.
  public var metadata: ObjectMetadata
  /// The digests of the content that the sender knows.
  public var digest: ContentDigest
  /// The download tokens that the object is to have; empty where the service makes them.
  public var downloadTokens: [String]

  /// A body.
  public init(
    name: String? = nil, metadata: ObjectMetadata = ObjectMetadata(), digest: ContentDigest = ContentDigest(),
    downloadTokens: [String] = []
  ) {
    self.name = name
    self.metadata = metadata
    self.digest = digest
    self.downloadTokens = downloadTokens
  }
}

/// Metadata of uploads and changes of it as JSON, and back.
public enum MetadataWire {
  /// The bounds of bodies with metadata.
  public static let limits = JSONLimits(maximumSize: 1 << 20)

  // MARK: Uploads

  /// The JSON of an upload's metadata.
  public static func json(of body: UploadBody) -> [UInt8] {
    var json = JSONObject()
    json["name"] = body.name.map(JSONValue.string)
    let metadata = body.metadata
    json["contentType"] = metadata.contentType.map(JSONValue.string)
    json["contentEncoding"] = metadata.contentEncoding.map(JSONValue.string)
    json["contentDisposition"] = metadata.contentDisposition.map(JSONValue.string)
    json["contentLanguage"] = metadata.contentLanguage.map(JSONValue.string)
    json["cacheControl"] = metadata.cacheControl.map(JSONValue.string)
    json["customTime"] = metadata.customTime.map { .string(RFC3339.text(microseconds: $0)) }
    json["md5Hash"] = body.digest.md5.map { .string(Base64.standard.encode($0)) }
    json["crc32c"] = body.digest.crc32c.map { .string(CRC32C.text($0)) }
    var custom = metadata.custom
    if !body.downloadTokens.isEmpty { custom[ObjectWire.tokensName] = body.downloadTokens.joined(separator: ",") }
    if !custom.isEmpty { json["metadata"] = object(custom) }
    return (try? json.json()) ?? []
  }

  /// Reads the JSON of an upload's metadata; an empty body has none.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func upload(json: [UInt8], limits: JSONLimits = limits) throws(BytesError) -> UploadBody {
    json.isEmpty ? UploadBody() : try upload(JSONObject(json: json, limits: limits))
  }

  static func upload(_ json: JSONObject) throws(BytesError) -> UploadBody {
    var custom = try strings(json["metadata"])
    let tokens = custom.removeValue(forKey: ObjectWire.tokensName) ?? ""
    let digest = try digest(json)
    let metadata = ObjectMetadata(
      contentType: try string(json, "contentType"), cacheControl: try string(json, "cacheControl"),
      contentDisposition: try string(json, "contentDisposition"),
      contentEncoding: try string(json, "contentEncoding"), contentLanguage: try string(json, "contentLanguage"),
      custom: custom, customTime: try string(json, "customTime").map { (text) throws(BytesError) in try time(text) })
    return UploadBody(
      name: try string(json, "name"), metadata: metadata, digest: digest, downloadTokens: self.tokens(tokens))
  }

  private static func digest(_ json: JSONObject) throws(BytesError) -> ContentDigest {
    var digest = ContentDigest()
    if let text = try string(json, "md5Hash") {
      guard let md5 = (try? Base64.standard.decode(text)).flatMap(ObjectWire.md5) else {
        throw BytesError(.malformed, "the member md5Hash is no digest")
      }
      digest.md5 = md5
    }
    if let text = try string(json, "crc32c") {
      guard let checksum = ObjectWire.checksum(text) else {
        throw BytesError(.malformed, "the member crc32c is no checksum")
      }
      digest.crc32c = checksum
    }
    return digest
  }

  /// The tokens of a list with commas.
  static func tokens(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

  // MARK: Changes

  /// The JSON of a change: null removes, and what stays is left out.
  public static func json(of change: MetadataChange) -> [UInt8] {
    var json = JSONObject()
    func write<Field: Sendable & Hashable>(_ name: String, _ field: FieldChange<Field>, _ value: (Field) -> JSONValue) {
      switch field {
      case .keep: break
      case .set(let new): json[name] = .some(value(new))
      case .remove: json[name] = .some(.null)
      }
    }
    write("contentType", change.contentType, JSONValue.string)
    write("cacheControl", change.cacheControl, JSONValue.string)
    write("contentDisposition", change.contentDisposition, JSONValue.string)
    write("contentEncoding", change.contentEncoding, JSONValue.string)
    write("contentLanguage", change.contentLanguage, JSONValue.string)
    write("customTime", change.customTime) { .string(RFC3339.text(microseconds: $0)) }
    write("metadata", change.custom, custom)
    return (try? json.json()) ?? []
  }

  private static func custom(_ values: [String: String?]) -> JSONValue {
    var custom = JSONObject()
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      custom[name] = value.map(JSONValue.string) ?? .some(.null)
    }
    return .object(custom)
  }

  /// Reads a change.
  ///
  /// The name of the download tokens is kept among the custom values, for the caller to take out.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func change(json: [UInt8], limits: JSONLimits = limits) throws(BytesError) -> MetadataChange {
    let object = try JSONObject(json: json, limits: limits)
    func field(_ name: String) throws(BytesError) -> FieldChange<String> {
      switch object[name] {
      case nil: .keep
      case .null?: .remove
      case .string(let text)?: .set(text)
      default: throw BytesError(.malformed, "the member \(name) is no string")
      }
    }
    var change = MetadataChange()
    change.contentType = try field("contentType")
    change.cacheControl = try field("cacheControl")
    change.contentDisposition = try field("contentDisposition")
    change.contentEncoding = try field("contentEncoding")
    change.contentLanguage = try field("contentLanguage")
    switch try field("customTime") {
    case .keep: break
    case .set(let text): change.customTime = .set(try time(text))
    case .remove: change.customTime = .remove
    }
    change.custom = try customChange(object["metadata"])
    return change
  }

  private static func customChange(_ metadata: JSONValue?) throws(BytesError) -> FieldChange<[String: String?]> {
    switch metadata {
    case nil: return .keep
    case .null?: return .remove
    case .object(let custom)?:
      var values: [String: String?] = [:]
      for member in custom.members { values.updateValue(try text(of: member), forKey: member.name) }
      return .set(values)
    default: throw BytesError(.malformed, "the member metadata is no object")
    }
  }

  // MARK: Parts

  private static func time(_ text: String) throws(BytesError) -> Int64 {
    guard let time = RFC3339.microseconds(of: text) else {
      throw BytesError(.malformed, "the member customTime is no time")
    }
    return time
  }

  static func object(_ strings: [String: String]) -> JSONValue {
    var object = JSONObject()
    for (name, text) in strings.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
    return .object(object)
  }

  private static func string(_ json: JSONObject, _ name: String) throws(BytesError) -> String? {
    switch json[name] {
    case nil, .null?: nil
    case .string(let text)?: text
    default: throw BytesError(.malformed, "the member \(name) is no string")
    }
  }

  /// The strings of an object; null is an absent one.
  private static func strings(_ json: JSONValue?) throws(BytesError) -> [String: String] {
    switch json {
    case nil, .null?: return [:]
    case .object(let object)?:
      var strings: [String: String] = [:]
      for member in object.members { strings[member.name] = try text(of: member) }
      return strings
    default: throw BytesError(.malformed, "the member metadata is no object")
    }
  }

  /// The string of a custom value, also for a number and a boolean; `nil` for null.
  private static func text(of member: JSONObject.Member) throws(BytesError) -> String? {
    switch member.value {
    case .null: nil
    case .string(let text): text
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    case .array, .object: throw BytesError(.malformed, "the custom value \(member.name) is no string")
    }
  }
}
