import VestaBytes
import VestaStorageBackend

extension StorageRoute {
  /// The method of HTTP.
  public var method: String {
    switch call {
    case .listBuckets, .bucket, .list, .get, .download, .accessList, .policy, .permissions, .uploads: "GET"
    case .update: "PATCH"
    case .delete, .deleteBucket, .cancelUpload: "DELETE"
    case .replace, .upload(_, _, .resumable(id: _?)): "PUT"
    case .upload(_, _, .resumable): "POST"
    case .upload: api == .xml ? "PUT" : "POST"
    case .withdraw: "DELETE"
    case .parts(_, let call): call.method
    case .addToken, .revokeToken, .copy, .createBucket, .move, .compose, .grant, .batch, .form: "POST"
    }
  }

  /// The path and the query.
  public var target: String {
    var fields = FormFields()
    let path = path(&fields)
    fields.append("generation", generation.map { "\($0)" })
    fields.append("ifGenerationMatch", preconditions.ifGenerationMatch.map { "\($0)" })
    fields.append("ifGenerationNotMatch", preconditions.ifGenerationNotMatch.map { "\($0)" })
    fields.append("ifMetagenerationMatch", preconditions.ifMetagenerationMatch.map { "\($0)" })
    fields.append("ifMetagenerationNotMatch", preconditions.ifMetagenerationNotMatch.map { "\($0)" })
    appendSource(to: &fields)
    return fields.fields.isEmpty ? path : "\(path)?\(fields.text)"
  }

  private func appendSource(to fields: inout FormFields) {
    let source = sourcePreconditions
    fields.append("sourceGeneration", sourceGeneration.map { "\($0)" })
    fields.append("ifSourceGenerationMatch", source.ifGenerationMatch.map { "\($0)" })
    fields.append("ifSourceGenerationNotMatch", source.ifGenerationNotMatch.map { "\($0)" })
    fields.append("ifSourceMetagenerationMatch", source.ifMetagenerationMatch.map { "\($0)" })
    fields.append("ifSourceMetagenerationNotMatch", source.ifMetagenerationNotMatch.map { "\($0)" })
  }

  /// The header that distinguishes the kinds of uploads of Firebase's API; `nil` for none.
  public var uploadProtocol: String? {
    guard api == .firebase, case .upload(_, _, let kind) = call else { return nil }
    switch kind {
    case .media: return nil
    case .multipart: return "multipart"
    case .resumable: return "resumable"
    }
  }

  private func path(_ fields: inout FormFields) -> String {
    let base = api == .firebase ? "/v0" : "/storage/v1"
    switch call {
    case .listBuckets, .createBucket: return "\(base)/b"
    case .bucket(let name), .deleteBucket(let name): return "\(base)/b/\(encode(name))"
    case .list(let request):
      if !request.prefix.isEmpty { fields.append("prefix", request.prefix) }
      fields.append("delimiter", request.delimiter)
      fields.append("startOffset", request.startOffset)
      fields.append("endOffset", request.endOffset)
      fields.append("pageToken", request.pageToken)
      fields.append("maxResults", "\(request.maximumResults)")
      return "\(base)/b/\(encode(request.bucket))/o"
    case .get(let object), .update(let object), .replace(let object), .delete(let object): return path(base, object)
    case .cancelUpload(let bucket, let id): return upload(bucket, nil, .resumable(id: id), &fields)
    case .move, .compose, .accessList, .grant, .withdraw, .policy, .permissions, .batch: return google(base, &fields)
    case .download(let object, let token):
      guard api != .xml else { return path(base, object) }
      fields.append("alt", "media")
      fields.append("token", token)
      return path(base, object)
    case .upload(let bucket, let name, let kind): return upload(bucket, name, kind, &fields)
    case .addToken(let object):
      fields.append("create_token", "true")
      return path(base, object)
    case .revokeToken(let object, let token):
      fields.append("delete_token", token)
      return path(base, object)
    case .form(let bucket): return "/\(encode(bucket))/"
    case .uploads(let bucket):
      fields.append("uploads", "")
      return "/\(encode(bucket))"
    case .parts(let object, let call):
      call.append(to: &fields)
      return path("", object)
    case .copy(let object, let other, let isRewrite):
      return
        "\(path(base, object))/\(isRewrite ? "rewriteTo" : "copyTo")/b/\(encode(other.bucket))/o/\(encode(other.name))"
    }
  }

  /// The path of a call that Google's API alone has.
  private func google(_ base: String, _ fields: inout FormFields) -> String {
    switch call {
    case .move(let object, let name): return "\(path(base, object))/moveTo/o/\(encode(name))"
    case .compose(let object): return "\(path(base, object))/compose"
    case .accessList(let object), .grant(let object): return "\(path(base, object))/acl"
    case .withdraw(let object): return "\(path(base, object))/acl/allUsers"
    case .policy(let bucket): return "\(base)/b/\(encode(bucket))/iam"
    case .permissions(let bucket, let names):
      for name in names { fields.append("permissions", name) }
      return "\(base)/b/\(encode(bucket))/iam/testPermissions"
    default: return "/batch/storage/v1"
    }
  }

  private func upload(_ bucket: String, _ name: String?, _ kind: UploadKind, _ fields: inout FormFields) -> String {
    if api == .xml { return path("", ObjectName(bucket: bucket, name: name ?? "")) }
    fields.append("name", name)
    switch kind {
    case .media: fields.append("uploadType", "media")
    case .multipart: fields.append("uploadType", "multipart")
    case .resumable(let id):
      fields.append("uploadType", "resumable")
      fields.append("upload_id", id)
      if api == .firebase { fields.append("upload_protocol", "resumable") }
    }
    return api == .firebase ? "/v0/b/\(encode(bucket))/o" : "/upload/storage/v1/b/\(encode(bucket))/o"
  }

  private func path(_ base: String, _ object: ObjectName) -> String {
    guard api == .xml else { return "\(base)/b/\(encode(object.bucket))/o/\(encode(object.name))" }
    let parts = object.name.parts(at: "/").map { encode(String($0)) }
    return "/\(encode(object.bucket))/\(parts.joined(separator: "/"))"
  }

  private func encode(_ text: String) -> String { PercentEncoding.unreserved.encode(text) }
}

extension StorageRoute.PartsCall {
  fileprivate var method: String {
    switch self {
    case .start, .complete: "POST"
    case .put, .copy: "PUT"
    case .cancel: "DELETE"
    case .list: "GET"
    }
  }

  fileprivate func append(to fields: inout FormFields) {
    switch self {
    case .start: fields.append("uploads", "")
    case .complete(let id), .cancel(let id): fields.append("uploadId", id)
    case .put(let id, let number), .copy(let id, let number, _):
      fields.append("partNumber", "\(number)")
      fields.append("uploadId", id)
    case .list(let id, let marker, let limit):
      fields.append("uploadId", id)
      fields.append("part-number-marker", "\(marker)")
      fields.append("max-parts", "\(limit)")
    }
  }
}
