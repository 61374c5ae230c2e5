import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// The calls of Google's JSON that make an object of others, or replace its metadata.
extension StorageExchange {
  /// Replaces the metadata of an object: fields that the body does not have are removed.
  func replace(_ name: ObjectName) async throws -> HTTPResponse {
    let bytes = try await document()
    try checkAccess(in: bytes)
    let body = try MetadataWire.upload(json: bytes)
    for _ in 0..<tuning.replaceAttempts {
      let old = try await backend.getObject(name, preconditions: route.preconditions, context: context)
      try check(old)
      try checkTags(old)
      // Another change in between is one more attempt: the removed fields depend on the existing ones.
      let unchanged = Preconditions(ifGenerationMatch: old.generation, ifMetagenerationMatch: old.metageneration)
      do {
        let change = MetadataChange(from: old.metadata, to: body)
        return object(try await backend.updateObject(name, change: change, preconditions: unchanged, context: context))
      } catch let error as StorageServiceError where error.reason == .precondition {
        continue
      }
    }
    throw StorageServiceError(.aborted, "The object is changed by many callers at once. Try again.")
  }

  func copy(_ source: ObjectName, _ target: ObjectName, _ isRewrite: Bool) async throws -> HTTPResponse {
    let bytes = try await document()
    try checkAccess(in: bytes)
    let old = try await self.source(source)
    let body = try MetadataWire.upload(json: bytes)
    // A body takes the place of the metadata, an empty one keeps it, tokens included.
    let tokens = body.metadata.custom.isEmpty && body.downloadTokens.isEmpty ? old.downloadTokens : body.downloadTokens
    var upload = UploadRequest(
      object: target, metadata: bytes.isEmpty ? old.metadata : body.metadata.completed(by: old.metadata),
      preconditions: route.preconditions, downloadTokens: tokens.isEmpty ? .none : .these(tokens))
    upload.size = old.size
    let read = ReadRequest(object: source, preconditions: Preconditions(ifGenerationMatch: old.generation))
    let made = try await copy(read, as: upload)
    if route.api == .xml {
      return HTTPResponse(
        .ok, fields: [.contentType: "application/xml; charset=utf-8"], body: .text(CopyResultWire.xml(of: made)))
    }
    guard isRewrite else { return object(made) }
    return json([
      "kind": "storage#rewriteResponse", "totalBytesRewritten": .string("\(made.size)"),
      "objectSize": .string("\(made.size)"), "done": true,
      "resource": .object(ObjectWire.object(of: made, form: .google, origin: origin)),
    ])
  }

  /// Copies an object, also into a bucket of another project.
  private func copy(_ read: ReadRequest, as upload: UploadRequest) async throws -> StorageObject {
    let project = host.project(of: upload.object.bucket)
    guard project != host.project(of: read.object.bucket) else {
      return try await backend.composeObject(upload, of: [read], context: context)
    }
    let other = try host.backend((any StorageBackend).self, project: project)
    return try await other.uploadObject(
      upload, of: [read], in: (backend, context),
      context: try Self.context(of: request, route, project: project, host))
  }

  /// Gives an object another name.
  func move(_ source: ObjectName, _ name: String) async throws -> HTTPResponse {
    let target = ObjectName(bucket: source.bucket, name: name)
    guard target != source else { throw StorageServiceError(.invalidArgument, "The object has that name already.") }
    let old = try await self.source(source)
    let upload = UploadRequest(
      object: target, metadata: old.metadata, size: old.size, preconditions: route.preconditions,
      downloadTokens: old.downloadTokens.isEmpty ? .none : .these(old.downloadTokens))
    let same = Preconditions(ifGenerationMatch: old.generation)
    return object(
      try await backend.composeObject(
        upload, of: [ReadRequest(object: source, preconditions: same)], deletesSources: true, context: context))
  }

  /// The object that is copied or moved, which has to be the one that the call means.
  private func source(_ name: ObjectName) async throws -> StorageObject {
    let found = try await backend.getObject(name, preconditions: route.sourcePreconditions, context: context)
    try check(found, is: route.sourceGeneration)
    return found
  }

  func compose(_ target: ObjectName) async throws -> HTTPResponse {
    try checkAccess()
    let body = try ComposeBody(json: try await document())
    var reads: [ReadRequest] = []
    for source in body.sources { reads.append(try await read(source, in: target.bucket)) }
    let tokens = body.destination.downloadTokens
    let upload = UploadRequest(
      object: target, metadata: body.destination.metadata, preconditions: route.preconditions,
      downloadTokens: tokens.isEmpty ? .none : .these(tokens))
    return object(
      try await backend.composeObject(upload, of: reads, deletesSources: body.deletesSources, context: context))
  }

  /// The read of a source of a composition, which has to be the generation that the call means.
  private func read(_ source: ComposeBody.Source, in bucket: String) async throws -> ReadRequest {
    let name = ObjectName(bucket: bucket, name: source.name)
    let wanted = Preconditions(ifGenerationMatch: source.ifGenerationMatch)
    let found = try await backend.getObject(name, preconditions: wanted, context: context)
    try check(found, is: source.generation)
    return ReadRequest(object: name, preconditions: Preconditions(ifGenerationMatch: found.generation))
  }
}

extension MetadataChange {
  /// The change that leaves the metadata of a body, and nothing of the old one.
  fileprivate init(from old: ObjectMetadata, to body: UploadBody) {
    self.init()
    func field<Value: Sendable & Hashable>(_ value: Value?) -> FieldChange<Value> { value.map { .set($0) } ?? .remove }
    let new = body.metadata
    contentType = field(new.contentType)
    cacheControl = field(new.cacheControl)
    contentDisposition = field(new.contentDisposition)
    contentEncoding = field(new.contentEncoding)
    contentLanguage = field(new.contentLanguage)
    customTime = old.customTime == nil && new.customTime == nil ? .keep : field(new.customTime)
    var values: [String: String?] = old.custom.mapValues { _ in nil }
    for (name, value) in new.custom { values.updateValue(value, forKey: name) }
    if !body.downloadTokens.isEmpty {
      values.updateValue(body.downloadTokens.joined(separator: ","), forKey: ObjectWire.tokensName)
    }
    custom = .set(values)
  }
}

extension ObjectMetadata {
  /// The metadata with the fields of another one where it has none.
  fileprivate func completed(by old: ObjectMetadata) -> ObjectMetadata {
    var copy = self
    copy.contentType = contentType ?? old.contentType
    copy.cacheControl = cacheControl ?? old.cacheControl
    copy.contentDisposition = contentDisposition ?? old.contentDisposition
    copy.contentEncoding = contentEncoding ?? old.contentEncoding
    copy.contentLanguage = contentLanguage ?? old.contentLanguage
    if custom.isEmpty { copy.custom = old.custom }
    return copy
  }
}
