public import VestaBytes
public import VestaStorageBackend

/// A call of the object service by its method and target.
public struct StorageRoute: Sendable, Hashable {
  /// The API that is called.
  public enum API: Sendable, Hashable {
    /// Firebase's: `/v0/b/…`, for users.
    case firebase
    /// Google's JSON: `/storage/v1/b/…`, for owners.
    case google
    /// Google's XML: `/bucket/object`, for owners and signed URLs.
    case xml
  }

  /// How the content of an upload is sent.
  public enum UploadKind: Sendable, Hashable {
    /// As the body.
    case media
    /// As the second part of the body, after the metadata.
    case multipart
    /// In further requests; with the id of an upload that was started.
    case resumable(id: String?)
  }

  /// The calls.
  public enum Call: Sendable, Hashable {
    /// Lists the buckets.
    case listBuckets
    /// Makes a bucket, whose name is in the body.
    case createBucket
    /// Deletes a bucket.
    case deleteBucket(String)
    /// Reads a bucket.
    case bucket(String)
    /// Lists objects.
    case list(ListRequest)
    /// Reads the metadata of an object.
    case get(ObjectName)
    /// Reads the content of an object, with a download token if there is one.
    case download(ObjectName, token: String?)
    /// Changes the metadata of an object.
    case update(ObjectName)
    /// Deletes an object.
    case delete(ObjectName)
    /// Uploads an object; its name may be in the metadata.
    case upload(bucket: String, name: String?, UploadKind)
    /// Adds a download token.
    case addToken(ObjectName)
    /// Removes a download token.
    case revokeToken(ObjectName, String)
    /// Copies an object.
    case copy(ObjectName, to: ObjectName, isRewrite: Bool)
  }

  /// The API.
  public var api: API
  /// The call.
  public var call: Call
  /// The conditions on the object.
  public var preconditions: Preconditions
  /// The generation of the object that is meant; `nil` for the current one.
  public var generation: Int64?

  /// A route.
  public init(_ api: API, _ call: Call, preconditions: Preconditions = .none, generation: Int64? = nil) {
    self.api = api
    self.call = call
    self.preconditions = preconditions
    self.generation = generation
  }

  /// Reads a route.
  ///
  /// - Parameters:
  ///   - method: The method of HTTP.
  ///   - target: The path and the query, as they were sent: names of objects are one part of a path.
  ///   - field: Returns the value of a header field by its name in lower case.
  /// - Returns: The route; `nil` for a target that is not the service's.
  /// - Throws: `BytesError` with `.malformed`.
  public init?(method: String, target: String, field: (String) -> String?) throws(BytesError) {
    let halves = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let fields = try FormFields(halves.count > 1 ? String(Substring(halves[1])) : "", plusIsSpace: false)
    var path: [String] = []
    for part in halves[0].dropFirst().split(
      separator: UInt8(ascii: "/"), maxSplits: 12, omittingEmptySubsequences: false)
    {
      path.append(try PercentEncoding.decode(Substring(part)))
    }
    let override = method == "POST" || method == "PUT" ? field("x-http-method-override") : nil
    let request = Request(
      method: (override ?? method).uppercased(), fields: fields, uploadCommand: field("x-goog-upload-command"),
      uploadProtocol: field("x-goog-upload-protocol") ?? fields["upload_protocol"])
    guard let (api, call) = try Self.route(path, request) else { return nil }
    self.init(api, call, preconditions: try request.preconditions(), generation: try request.number("generation"))
  }

  /// The parts of a request that a route depends on.
  struct Request {
    let method: String
    let fields: FormFields
    let uploadCommand: String?
    let uploadProtocol: String?

    func number(_ name: String) throws(BytesError) -> Int64? {
      guard let text = fields[name] else { return nil }
      guard let number = ByteRangeWire.number(text) else {
        throw BytesError(.malformed, "the parameter \(name) is no number")
      }
      return number
    }

    func preconditions() throws(BytesError) -> Preconditions {
      Preconditions(
        ifGenerationMatch: try number("ifGenerationMatch"), ifGenerationNotMatch: try number("ifGenerationNotMatch"),
        ifMetagenerationMatch: try number("ifMetagenerationMatch"),
        ifMetagenerationNotMatch: try number("ifMetagenerationNotMatch"))
    }
  }

  // MARK: Reading

  private static func route(_ path: [String], _ request: Request) throws(BytesError) -> (API, Call)? {
    switch path.first {
    case "v0"?: return try firebase(Array(path.dropFirst()), request).map { (.firebase, $0) }
    case "b"?: return try google(path, request, isDownload: false).map { (.google, $0) }
    case "storage"? where path.dropFirst().first == "v1":
      return try google(Array(path.dropFirst(2)), request, isDownload: false).map { (.google, $0) }
    case "download"? where path.count > 3 && path[1] == "storage" && path[2] == "v1":
      return try google(Array(path.dropFirst(3)), request, isDownload: true).map { (.google, $0) }
    case "upload"? where path.count > 3 && path[1] == "storage" && path[2] == "v1":
      return googleUpload(Array(path.dropFirst(3)), request).map { (.google, $0) }
    default: return xml(path, request).map { (.xml, $0) }
    }
  }

  private static func firebase(_ path: [String], _ request: Request) throws(BytesError) -> Call? {
    guard path.count >= 3, path.count <= 4, path[0] == "b", path[2] == "o", !path[1].isEmpty else { return nil }
    let bucket = path[1]
    let name = path.count == 4 && !path[3].isEmpty ? path[3] : nil
    switch (request.method, name) {
    case ("GET", nil): return .list(try list(bucket, request))
    case ("GET", let name?):
      let object = ObjectName(bucket: bucket, name: name)
      guard request.fields["alt"] == "media" else { return .get(object) }
      return .download(object, token: request.fields["token"])
    case ("PATCH", let name?): return .update(ObjectName(bucket: bucket, name: name))
    case ("DELETE", let name?): return .delete(ObjectName(bucket: bucket, name: name))
    case ("POST", let name?) where request.fields["create_token"] != nil:
      guard request.fields["create_token"] == "true" else {
        throw BytesError(.malformed, "the parameter create_token is not true")
      }
      return .addToken(ObjectName(bucket: bucket, name: name))
    case ("POST", let name?) where request.fields["delete_token"] != nil:
      return .revokeToken(ObjectName(bucket: bucket, name: name), request.fields["delete_token"] ?? "")
    case ("POST", _), ("PUT", _):
      let kind: UploadKind =
        request.uploadCommand != nil || request.uploadProtocol == "resumable"
        ? .resumable(id: request.fields["upload_id"]) : request.uploadProtocol == "multipart" ? .multipart : .media
      return .upload(bucket: bucket, name: request.fields["name"] ?? name, kind)
    default: return nil
    }
  }

  private static func google(_ path: [String], _ request: Request, isDownload: Bool) throws(BytesError) -> Call? {
    guard path.first == "b" else { return nil }
    switch (path.count, request.method) {
    case (1, "GET"): return .listBuckets
    case (1, "POST"): return .createBucket
    case (2, "DELETE") where !path[1].isEmpty: return .deleteBucket(path[1])
    case (2, "GET"): return path[1].isEmpty ? .listBuckets : .bucket(path[1])
    case (3, "GET") where path[2] == "o": return .list(try list(path[1], request))
    case (4, _) where path[2] == "o" && !path[3].isEmpty:
      let object = ObjectName(bucket: path[1], name: path[3])
      switch request.method {
      case "GET": return isDownload || request.fields["alt"] == "media" ? .download(object, token: nil) : .get(object)
      case "PATCH": return .update(object)
      case "DELETE": return .delete(object)
      default: return nil
      }
    case (9, "POST") where path[2] == "o" && path[5] == "b" && path[7] == "o" && !path[8].isEmpty:
      guard path[4] == "rewriteTo" || path[4] == "copyTo" else { return nil }
      return .copy(
        ObjectName(bucket: path[1], name: path[3]), to: ObjectName(bucket: path[6], name: path[8]),
        isRewrite: path[4] == "rewriteTo")
    default: return nil
    }
  }

  private static func googleUpload(_ path: [String], _ request: Request) -> Call? {
    guard path.count == 3, path[0] == "b", path[2] == "o", request.method == "POST" || request.method == "PUT" else {
      return nil
    }
    let kind: UploadKind =
      switch request.fields["uploadType"] {
      case "resumable"?: .resumable(id: request.fields["upload_id"])
      case "multipart"?: .multipart
      default: .media
      }
    return .upload(bucket: path[1], name: request.fields["name"], kind)
  }

  private static func xml(_ path: [String], _ request: Request) -> Call? {
    guard path.count >= 2, !path[0].isEmpty else { return nil }
    let name = path.dropFirst().joined(separator: "/")
    guard !name.isEmpty else { return nil }
    let object = ObjectName(bucket: path[0], name: name)
    switch request.method {
    case "GET", "HEAD": return .download(object, token: nil)
    case "PUT": return .upload(bucket: path[0], name: name, .media)
    case "DELETE": return .delete(object)
    default: return nil
    }
  }

  private static func list(_ bucket: String, _ request: Request) throws(BytesError) -> ListRequest {
    let count = try request.number("maxResults")
    func text(_ name: String) -> String? { request.fields[name].flatMap { $0.isEmpty ? nil : $0 } }
    return ListRequest(
      bucket: bucket, prefix: request.fields["prefix"] ?? "", delimiter: text("delimiter"),
      startOffset: request.fields["startOffset"] ?? "", endOffset: request.fields["endOffset"] ?? "",
      maximumResults: count.flatMap { $0 == 0 ? nil : Int(min($0, 1_000)) } ?? 1_000, pageToken: text("pageToken"))
  }
}
