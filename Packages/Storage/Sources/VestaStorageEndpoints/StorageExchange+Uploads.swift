import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

extension StorageExchange {
  func upload(_ bucket: String, _ name: String?, _ kind: StorageRoute.UploadKind) async throws -> HTTPResponse {
    switch kind {
    case .media: return try await media(bucket, name)
    case .multipart: return try await multipart(bucket, name)
    case .resumable(let id):
      switch route.api {
      case .firebase: return try await firebase(bucket, name, id)
      case .google: return try await google(bucket, name, id)
      case .xml: return try await startXML(bucket, name)
      }
    }
  }

  /// What an upload is started with.
  ///
  /// - Parameter type: The type of the content, where the metadata has none.
  private func described(
    _ bucket: String, _ name: String?, _ body: UploadBody, type: String?, isContinuable: Bool
  ) throws -> UploadRequest {
    try checkAccess()
    guard let name = name ?? body.name, !name.isEmpty else {
      throw StorageServiceError(.invalidArgument, "The request has no name of an object.")
    }
    var metadata = body.metadata
    if metadata.contentType == nil { metadata.contentType = type }
    let tokens: UploadTokens =
      body.downloadTokens.isEmpty ? route.api == .firebase ? .make : .none : .these(body.downloadTokens)
    // A leading slash is no part of the name in Google's libraries.
    let plain = route.api == .google && name.hasPrefix("/") ? String(name.dropFirst()) : name
    return UploadRequest(
      object: ObjectName(bucket: bucket, name: plain), metadata: metadata, preconditions: route.preconditions,
      expected: body.digest, downloadTokens: tokens, isContinuable: isContinuable)
  }

  // MARK: In one request

  private func media(_ bucket: String, _ name: String?) async throws -> HTTPResponse {
    let body =
      route.api == .xml ? DownloadHeaders.upload(request.fields.map { ($0.name.lowercased(), $0.value) }) : UploadBody()
    var upload = try described(bucket, name, body, type: field("content-type"), isContinuable: false)
    upload.expected = field("x-goog-hash").map { ObjectWire.digest(hash: $0) } ?? upload.expected
    var sink = UploadSink(upload, to: backend, context, chunkLength: tuning.chunkLength)
    do {
      for try await bytes in request.body.stream { try await sink.write(bytes) }
      let made = try await sink.finish()
      guard route.api == .xml else { return object(made) }
      let fields = DownloadHeaders.fields(of: made).filter { $0.name.hasPrefix("x-goog-") || $0.name == "etag" }
      return HTTPResponse(.ok, fields: Self.fields(fields))
    } catch {
      await sink.giveUp()
      throw error
    }
  }

  private func multipart(_ bucket: String, _ name: String?) async throws -> HTTPResponse {
    var machine = try MultipartMachine(
      contentType: field("content-type") ?? "", maximumMetadata: tuning.bodyLimit, maximumHeaders: tuning.partHeaders)
    var body = UploadBody()
    var sink: UploadSink?
    do {
      for try await piece in request.body.stream {
        for event in try machine.received(piece) {
          switch event {
          case .metadata(let json): body = try MetadataWire.upload(json: json)
          case .content(let type):
            sink = UploadSink(
              try described(bucket, name, body, type: type, isContinuable: false), to: backend, context,
              chunkLength: tuning.chunkLength)
          case .bytes(let bytes): try await sink?.write(bytes)
          case .end: break
          }
        }
      }
      try machine.finish()
      guard var last = sink else { throw StorageServiceError(.invalidArgument, "The request has no content.") }
      sink = nil
      return object(try await last.finish())
    } catch {
      await sink?.giveUp()
      throw error
    }
  }

  // MARK: Firebase's resumable uploads

  private func firebase(_ bucket: String, _ name: String?, _ id: String?) async throws -> HTTPResponse {
    guard let command = try ResumableCommand(field: { field($0) }) else {
      throw StorageServiceError(.invalidArgument, "The request has no x-goog-upload-command.")
    }
    if case .start(let length, let type) = command { return try await start(bucket, name, length, type) }
    guard let id, !id.isEmpty else { throw StorageServiceError(.invalidArgument, "The request has no upload_id.") }
    let upload = UploadID(rawValue: id)
    switch command {
    case .start: throw StorageServiceError(.internal, "An upload is started once.")
    case .query: return answer(ResumableAnswer(try await backend.uploadStatus(upload, context: context)))
    case .cancel:
      try await backend.cancelUpload(upload, context: context)
      return answer(ResumableAnswer(isActive: false))
    case .upload(let offset, let isLast): return try await receive(upload, from: offset, isLast: isLast)
    case .finalize: return try await receive(upload, from: nil, isLast: true)
    }
  }

  private func start(_ bucket: String, _ name: String?, _ length: Int64?, _ type: String?) async throws -> HTTPResponse
  {
    let body = try MetadataWire.upload(json: try await document())
    var upload = try described(bucket, name, body, type: type, isContinuable: true)
    upload.size = length
    let id = try await backend.startUpload(upload, context: context)
    var answer = ResumableAnswer(isActive: true)
    let target = StorageRoute(
      .firebase, .upload(bucket: bucket, name: upload.object.name, .resumable(id: id.rawValue))
    ).target
    // With the host that the client reached: it sends the parts there.
    answer.url = origin + target
    answer.uploadID = id.rawValue
    answer.granularity = tuning.granularity
    return self.answer(answer)
  }

  /// Receives a part of an upload.
  ///
  /// - Parameter start: The position of its first byte; `nil` for a part that follows what is there. Bytes that are
  ///   there already, because the answer to them was lost, are dropped.
  private func receive(_ id: UploadID, from start: Int64?, isLast: Bool) async throws -> HTTPResponse {
    let status = try await backend.uploadStatus(id, context: context)
    if status.state == .final {
      guard isLast else { throw StorageServiceError(.invalidArgument, "The upload is finished.") }
      return finished(try await backend.finalizeUpload(id, expected: expected, context: context))
    }
    let appended = try await append(to: id, status, from: start ?? status.received)
    guard isLast else { return answer(ResumableAnswer(appended)) }
    return finished(try await backend.finalizeUpload(id, expected: expected, context: context))
  }

  /// What the sender knows of the whole content.
  private var expected: ContentDigest { field("x-goog-hash").map { ObjectWire.digest(hash: $0) } ?? ContentDigest() }

  /// Appends the body to an upload; what has arrived of a body that is cut off is kept.
  ///
  /// - Returns: The state of the upload afterwards.
  @discardableResult
  private func append(to id: UploadID, _ status: UploadStatus, from start: Int64) async throws -> UploadStatus {
    let isExact = field(ResumableCommand.exactOffset) != nil
    guard start == status.received || (start < status.received && !isExact) else {
      throw StorageServiceError(
        .outOfRange, "The upload has \(status.received) bytes, and the part begins at \(start).",
        reason: .wrongOffset(received: status.received))
    }
    var known = Int(status.received - start)
    var sink = UploadSink(
      continuing: id, of: status.request ?? UploadRequest(object: ObjectName(bucket: "", name: "")),
      at: status.received, in: backend, context, chunkLength: tuning.chunkLength)
    do {
      for try await bytes in request.body.stream {
        let new = bytes.dropFirst(min(known, bytes.count))
        known -= bytes.count - new.count
        if !new.isEmpty { try await sink.write(Array(new)) }
      }
    } catch let error as TransportError {
      try? await sink.flush()
      throw error
    }
    try await sink.flush()
    return sink.status ?? status
  }

  private func answer(_ answer: ResumableAnswer) -> HTTPResponse {
    HTTPResponse(.ok, fields: Self.fields(answer.fields))
  }

  private func finished(_ made: StorageObject) -> HTTPResponse {
    var response = object(made)
    response.fields.append(contentsOf: Self.fields(ResumableAnswer(isActive: false).fields))
    return response
  }

  // MARK: Google's resumable uploads

  private func google(_ bucket: String, _ name: String?, _ id: String?) async throws -> HTTPResponse {
    guard let id else { return try await startGoogle(bucket, name) }
    let upload = UploadID(rawValue: id)
    let status = try await backend.uploadStatus(upload, context: context)
    let part = field("content-range").flatMap(ByteRangeWire.part)
    if status.state != .final {
      try await append(to: upload, status, from: part?.bounds?.lowerBound ?? status.received)
    }
    let received = status.state == .final ? status : try await backend.uploadStatus(upload, context: context)
    guard received.state == .final || part == nil || part?.total == received.received else {
      var fields = HTTPFields()
      if let range = ByteRangeWire.received(received.received) { fields.append("range", range) }
      return HTTPResponse(HTTPStatus(308), fields: fields)
    }
    return object(try await backend.finalizeUpload(upload, expected: ContentDigest(), context: context))
  }

  private func startGoogle(_ bucket: String, _ name: String?) async throws -> HTTPResponse {
    let body = try MetadataWire.upload(json: try await document())
    var upload = try described(bucket, name, body, type: field("x-upload-content-type"), isContinuable: true)
    upload.size = field("x-upload-content-length").flatMap { Int64($0) }
    return try await started(upload, .ok)
  }

  /// Starts an upload by Google's XML, as signed URLs for uploads in parts do; its parts are sent as those of the JSON.
  private func startXML(_ bucket: String, _ name: String?) async throws -> HTTPResponse {
    let body = DownloadHeaders.upload(request.fields.map { ($0.name.lowercased(), $0.value) })
    return try await started(try described(bucket, name, body, type: nil, isContinuable: true), 201)
  }

  private func started(_ upload: UploadRequest, _ status: HTTPStatus) async throws -> HTTPResponse {
    let id = try await backend.startUpload(upload, context: context)
    let name = upload.object
    let target = StorageRoute(.google, .upload(bucket: name.bucket, name: name.name, .resumable(id: id.rawValue)))
      .target
    return HTTPResponse(status, fields: [.location: origin + target, "x-guploader-uploadid": id.rawValue])
  }
}
