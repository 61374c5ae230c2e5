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
    var body = body
    if !body.downloadTokens.isEmpty {
      body.metadata.custom[ObjectWire.tokensName] = body.downloadTokens.joined(separator: ",")
    }
    // Every body can be written.
    return (try? UploadSchema.json(of: body)) ?? []
  }

  /// Reads the JSON of an upload's metadata; an empty body has none.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func upload(json: [UInt8], limits: JSONLimits = limits) throws(BytesError) -> UploadBody {
    json.isEmpty ? UploadBody() : try upload(JSONObject(json: json, limits: limits))
  }

  static func upload(_ json: JSONObject) throws(BytesError) -> UploadBody {
    var body = try UploadSchema.message(json: .object(json), ignoresUnknownNames: true)
    body.downloadTokens = tokens(body.metadata.custom.removeValue(forKey: ObjectWire.tokensName) ?? "")
    return body
  }

  /// The tokens of a list with commas.
  static func tokens(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

  // MARK: Changes

  /// The JSON of a change: null removes, and what stays is left out.
  public static func json(of change: MetadataChange) -> [UInt8] {
    // Every change can be written.
    (try? ChangeSchema.json(of: change)) ?? []
  }

  /// Reads a change.
  ///
  /// The name of the download tokens is kept among the custom values, for the caller to take out.
  ///
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func change(json: [UInt8], limits: JSONLimits = limits) throws(BytesError) -> MetadataChange {
    try ChangeSchema.message(json: json, limits: limits, ignoresUnknownNames: true)
  }

  static func object(_ strings: [String: String]) -> JSONValue {
    var object = JSONObject()
    for (name, text) in strings.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
    return .object(object)
  }
}
