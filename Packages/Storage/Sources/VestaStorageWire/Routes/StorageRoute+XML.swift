import VestaBytes
import VestaStorageBackend

// The paths of Google's XML.
extension StorageRoute {
  /// The parameters of Google's XML that name a part of an object or of a bucket, or another call on it.
  private static let parts = [
    "acl", "attributes", "billing", "compose", "cors", "delete", "encryption", "encryptionConfig", "legal-hold",
    "lifecycle", "location", "logging", "object-lock", "partNumber", "policy", "requestPayment", "restore", "retention",
    "select", "storageClass", "tagging", "torrent", "uploadId", "uploads", "versioning", "versions", "website",
  ]

  static func xml(_ path: [String], _ request: Request) throws(BytesError) -> Call? {
    let type = request.field("content-type")?.lowercased()
    let isForm = request.method == "POST" && type?.hasPrefix("multipart/form-data") ?? false
    if isForm, let bucket = path.first, !bucket.isEmpty, path.dropFirst().allSatisfy(\.isEmpty) {
      return .form(bucket: bucket)
    }
    let isOfBucket = path.first?.isEmpty == false && path.dropFirst().allSatisfy(\.isEmpty)
    if isOfBucket, request.method == "GET", parts.filter({ request.fields[$0] != nil }) == ["uploads"] {
      return .uploads(path[0])
    }
    guard path.count >= 2, !path[0].isEmpty else { return nil }
    let name = path.dropFirst().joined(separator: "/")
    if !name.isEmpty, let call = try partsCall(request) {
      return .parts(ObjectName(bucket: path[0], name: name), call)
    }
    // A part of the object is meant, such as its access list, which must not be taken for its content.
    guard !name.isEmpty, !parts.contains(where: { request.fields[$0] != nil }) else { return nil }
    let object = ObjectName(bucket: path[0], name: name)
    switch request.method {
    case "GET": return .download(object, token: nil)
    case "PUT":
      if let source = copySource(request) { return .copy(try Self.source(source), to: object, isRewrite: false) }
      return .upload(bucket: path[0], name: name, .media)
    case "POST" where request.startsResumable: return .upload(bucket: path[0], name: name, .resumable(id: nil))
    case "DELETE": return .delete(object)
    default: return nil
    }
  }

  /// The call on an upload in parts; `nil` for a call on the object.
  private static func partsCall(_ request: Request) throws(BytesError) -> PartsCall? {
    let (id, names) = (request.fields["uploadId"] ?? "", parts.filter { request.fields[$0] != nil })
    switch (request.method, names) {
    case ("POST", ["uploads"]): return .start
    case ("PUT", ["partNumber", "uploadId"]):
      let number = Int(clamping: try request.number("partNumber") ?? 0)
      guard let source = copySource(request) else { return .put(id, number: number) }
      return .copy(id, number: number, from: try Self.source(source))
    case ("POST", ["uploadId"]): return .complete(id)
    case ("DELETE", ["uploadId"]): return .cancel(id)
    case ("GET", ["uploadId"]):
      let limit = Int(clamping: try request.number("max-parts") ?? 1_000)
      return .list(
        id, after: Int(clamping: try request.number("part-number-marker") ?? 0), limit: min(max(limit, 1), 1_000))
    default: return nil
    }
  }

  /// What to copy, by Google's name or by that of Amazon's tools, which Google's XML serves as well.
  private static func copySource(_ request: Request) -> String? {
    request.field("x-goog-copy-source") ?? request.field("x-amz-copy-source")
  }

  /// The object that `BUCKET/OBJECT` names, with a slash in front or without.
  private static func source(_ text: String) throws(BytesError) -> ObjectName {
    let parts = try PercentEncoding.decode(text.hasPrefix("/") ? text.dropFirst() : text[...])
      .parts(at: "/", maxSplits: 1, omittingEmpty: true)
    guard parts.count == 2 else { throw BytesError(.malformed, "the source of a copy is not BUCKET/OBJECT") }
    return ObjectName(bucket: String(parts[0]), name: String(parts[1]))
  }
}
