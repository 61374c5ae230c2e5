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

  /// The calls on an upload in parts by Google's XML, with its id.
  public enum PartsCall: Sendable, Hashable {
    /// Starts an upload.
    case start
    /// Takes a part.
    case put(String, number: Int)
    /// Makes a part of an object.
    case copy(String, number: Int, from: ObjectName)
    /// Makes the object of the parts that are in the body.
    case complete(String)
    /// Gives the upload up.
    case cancel(String)
    /// Lists the parts after a number.
    case list(String, after: Int, limit: Int)
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
    /// Cancels a resumable upload of Google's.
    case cancelUpload(bucket: String, id: String)
    /// Adds a download token.
    case addToken(ObjectName)
    /// Removes a download token.
    case revokeToken(ObjectName, String)
    /// Replaces the metadata of an object.
    case replace(ObjectName)
    /// Copies an object.
    case copy(ObjectName, to: ObjectName, isRewrite: Bool)
    /// Gives an object another name in its bucket.
    case move(ObjectName, to: String)
    /// Makes an object of others, which are in the body.
    case compose(ObjectName)
    /// Reads the access list of an object.
    case accessList(ObjectName)
    /// Adds an entry to the access list of an object.
    case grant(ObjectName)
    /// Removes an entry of the access list of an object.
    case withdraw(ObjectName)
    /// Reads the policy of a bucket.
    case policy(String)
    /// Asks which of some permissions the caller has.
    case permissions(String, [String])
    /// A call on an upload in parts.
    case parts(ObjectName, PartsCall)
    /// Lists the uploads in parts that are under way in a bucket.
    case uploads(String)
    /// Uploads an object by a form of a web page.
    case form(bucket: String)
    /// Several calls, which are in the body.
    case batch
  }

  /// The API.
  public var api: API
  /// The call.
  public var call: Call
  /// The conditions on the object.
  public var preconditions: Preconditions
  /// The generation of the object that is meant; `nil` for the current one.
  public var generation: Int64?

  /// The conditions on the object that is copied or moved.
  public var sourcePreconditions = Preconditions.none
  /// The generation of the object that is copied; `nil` for the current one.
  public var sourceGeneration: Int64?

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
  public init?(method: String, target: String, field: @escaping (String) -> String?) throws(BytesError) {
    let halves = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let fields = try FormFields(halves.count > 1 ? String(Substring(halves[1])) : "")
    var path: [String] = []
    for part in halves[0].dropFirst().split(
      separator: UInt8(ascii: "/"), maxSplits: 12, omittingEmptySubsequences: false)
    {
      path.append(try PercentEncoding.decode(Substring(part)))
    }
    let override = method == "POST" || method == "PUT" ? field("x-http-method-override") : nil
    // A head is that of the same request with its body.
    let name = method == "HEAD" ? "GET" : (override ?? method).uppercased()
    let request = Request(
      method: name, fields: fields, field: field, uploadCommand: field("x-goog-upload-command"),
      uploadProtocol: field("x-goog-upload-protocol") ?? fields["upload_protocol"],
      startsResumable: field("x-goog-resumable") == "start")
    guard let (api, call) = try Self.route(path, request) else { return nil }
    self.init(api, call, preconditions: try request.preconditions(), generation: try request.number("generation"))
    sourcePreconditions = try request.sourcePreconditions()
    sourceGeneration = try request.number("sourceGeneration")
    if api == .xml { try takeFields(of: request) }
  }

  /// The conditions of Google's XML, which are fields of the request.
  private mutating func takeFields(of request: Request) throws(BytesError) {
    func take(_ condition: WritableKeyPath<StorageRoute, Int64?>, _ name: String) throws(BytesError) {
      if let number = try request.number(field: name) { self[keyPath: condition] = number }
    }
    try take(\.preconditions.ifGenerationMatch, "x-goog-if-generation-match")
    try take(\.preconditions.ifMetagenerationMatch, "x-goog-if-metageneration-match")
    try take(\.sourcePreconditions.ifGenerationMatch, "x-goog-copy-source-if-generation-match")
    try take(\.sourcePreconditions.ifMetagenerationMatch, "x-goog-copy-source-if-metageneration-match")
    try take(\.sourceGeneration, "x-goog-copy-source-generation")
  }

  /// The parts of a request that a route depends on.
  struct Request {
    let method: String
    let fields: FormFields
    /// Returns the value of a header field by its name in lower case.
    let field: (String) -> String?
    let uploadCommand: String?
    let uploadProtocol: String?
    let startsResumable: Bool

    func number(_ name: String) throws(BytesError) -> Int64? { try number(fields[name], name) }

    func number(field name: String) throws(BytesError) -> Int64? { try number(field(name), name) }

    private func number(_ text: String?, _ name: String) throws(BytesError) -> Int64? {
      guard let text else { return nil }
      guard let number = ByteRangeWire.number(text) else {
        throw BytesError(.malformed, "the parameter \(name) is no number")
      }
      return number
    }

    func preconditions() throws(BytesError) -> Preconditions {
      // Google's library for Python writes the second name in uploads.
      let name = fields["ifMetagenerationNotMatch"] == nil ? "ifMetaGenerationNotMatch" : "ifMetagenerationNotMatch"
      return Preconditions(
        ifGenerationMatch: try number("ifGenerationMatch"), ifGenerationNotMatch: try number("ifGenerationNotMatch"),
        ifMetagenerationMatch: try number("ifMetagenerationMatch"), ifMetagenerationNotMatch: try number(name))
    }

    func sourcePreconditions() throws(BytesError) -> Preconditions {
      Preconditions(
        ifGenerationMatch: try number("ifSourceGenerationMatch"),
        ifGenerationNotMatch: try number("ifSourceGenerationNotMatch"),
        ifMetagenerationMatch: try number("ifSourceMetagenerationMatch"),
        ifMetagenerationNotMatch: try number("ifSourceMetagenerationNotMatch"))
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
      return try googleUpload(Array(path.dropFirst(3)), request).map { (.google, $0) }
    // Clients that are made from Google's description of the API start uploads here.
    case "resumable"? where path.count > 4 && path[1] == "upload" && path[2] == "storage" && path[3] == "v1":
      return try googleUpload(Array(path.dropFirst(4)), request).map { (.google, $0) }
    case "batch"? where path == ["batch", "storage", "v1"] && request.method == "POST": return (.google, .batch)
    default: return try xml(path, request).map { (.xml, $0) }
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

  static func list(_ bucket: String, _ request: Request) throws(BytesError) -> ListRequest {
    let count = try request.number("maxResults")
    func text(_ name: String) -> String? { request.fields[name].flatMap { $0.isEmpty ? nil : $0 } }
    return ListRequest(
      bucket: bucket, prefix: request.fields["prefix"] ?? "", delimiter: text("delimiter"),
      startOffset: text("startOffset"), endOffset: text("endOffset"),
      maximumResults: count.flatMap { $0 == 0 ? nil : Int(min($0, 1_000)) } ?? 1_000, pageToken: text("pageToken"))
  }
}
