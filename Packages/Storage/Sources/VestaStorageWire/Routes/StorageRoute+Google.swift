import VestaBytes
import VestaStorageBackend

extension StorageRoute {
  static func google(_ path: [String], _ request: Request, isDownload: Bool) throws(BytesError) -> Call? {
    guard path.first == "b" else { return nil }
    switch (path.count, request.method) {
    case (1, "GET"): return .listBuckets
    case (1, "POST"): return .createBucket
    case (2, "DELETE") where !path[1].isEmpty: return .deleteBucket(path[1])
    case (2, "GET"): return path[1].isEmpty ? .listBuckets : .bucket(path[1])
    case (3, "GET") where path[2] == "o": return .list(try list(path[1], request))
    case (3, "GET") where path[2] == "iam": return .policy(path[1])
    case (4, "GET") where path[2] == "iam" && path[3] == "testPermissions":
      return .permissions(path[1], request.fields.fields.filter { $0.name == "permissions" }.map(\.value))
    case (4..., _) where path[2] == "o" && !path[3].isEmpty:
      return google(ObjectName(bucket: path[1], name: path[3]), Array(path.dropFirst(4)), request, isDownload)
    default: return nil
    }
  }

  /// The call on an object.
  ///
  /// - Parameter rest: The parts of the path after the name of the object.
  private static func google(
    _ object: ObjectName, _ rest: [String], _ request: Request, _ isDownload: Bool
  ) -> Call? {
    switch (request.method, rest.first, rest.count) {
    case ("GET", nil, _):
      return isDownload || request.fields["alt"] == "media" ? .download(object, token: nil) : .get(object)
    case ("PATCH", nil, _): return .update(object)
    case ("PUT", nil, _): return .replace(object)
    case ("DELETE", nil, _): return .delete(object)
    case ("GET", "acl"?, 1): return .accessList(object)
    case ("POST", "acl"?, 1), ("PUT", "acl"?, 2), ("PATCH", "acl"?, 2): return .grant(object)
    case ("DELETE", "acl"?, 2): return .withdraw(object)
    case ("POST", "compose"?, 1): return .compose(object)
    case ("POST", "moveTo"?, 3) where rest[1] == "o" && !rest[2].isEmpty: return .move(object, to: rest[2])
    case ("POST", "rewriteTo"?, 5), ("POST", "copyTo"?, 5):
      guard rest[1] == "b", rest[3] == "o", !rest[4].isEmpty else { return nil }
      return .copy(object, to: ObjectName(bucket: rest[2], name: rest[4]), isRewrite: rest[0] == "rewriteTo")
    default: return nil
    }
  }

  static func googleUpload(_ path: [String], _ request: Request) throws(BytesError) -> Call? {
    guard path.count == 3, path[0] == "b", path[2] == "o", ["POST", "PUT", "DELETE"].contains(request.method) else {
      return nil
    }
    if request.method == "DELETE" {
      return request.fields["upload_id"].map { .cancelUpload(bucket: path[1], id: $0) }
    }
    let kind: UploadKind =
      switch request.fields["uploadType"] ?? request.uploadProtocol {
      case "resumable"?: .resumable(id: request.fields["upload_id"])
      case "multipart"?: .multipart
      case "media"?, "raw"?, nil: .media
      case let other?: throw BytesError(.malformed, "the parameter uploadType is \(other), which there is not")
      }
    return .upload(bucket: path[1], name: request.fields["name"], kind)
  }
}
