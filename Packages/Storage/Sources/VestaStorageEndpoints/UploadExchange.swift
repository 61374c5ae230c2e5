import VestaBytes
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageWire
import VestaTransportInterop

/// An upload: in one request, in two parts of one, or in requests that each append to it.
struct UploadExchange: Sendable {
  let exchange: StorageExchange
  let bucket: String
  /// The name in the request; `nil` where the metadata has it.
  let name: String?

  private var request: HTTPRequest { exchange.request }
  private var api: StorageRoute.API { exchange.route.api }
  private var backend: any StorageBackend { exchange.backend }
  private var context: CallContext { exchange.context }
  private var tuning: StorageEndpointsTuning { exchange.tuning }

  func respond(_ kind: StorageRoute.UploadKind) async throws -> HTTPResponse {
    switch kind {
    case .media: return try await media()
    case .multipart: return try await multipart()
    case .resumable(let id):
      switch api {
      case .firebase: return try await firebase(id)
      case .google: return try await google(id)
      case .xml: return try await startXML()
      }
    }
  }

  /// The request that starts an upload.
  ///
  /// - Parameter type: The type of the content, where the metadata has none.
  private func described(_ body: UploadBody, type: String?, isContinuable: Bool) async throws -> UploadRequest {
    try exchange.checkAccess()
    guard let name = name ?? body.name, !name.isEmpty else {
      throw StorageServiceError(.invalidArgument, "The request has no name of an object.")
    }
    var metadata = body.metadata
    if metadata.contentType == nil { metadata.contentType = exchange.field("x-upload-content-type") ?? type }
    if api == .google, let encoding = exchange.parameter("contentEncoding") { metadata.contentEncoding = encoding }
    let tokens: UploadTokens =
      body.downloadTokens.isEmpty ? api == .firebase ? .make : .none : .these(body.downloadTokens)
    // A leading slash is no part of the name in Google's libraries.
    let plain = api == .google && name.hasPrefix("/") ? String(name.dropFirst()) : name
    let object = ObjectName(bucket: bucket, name: plain)
    return UploadRequest(
      object: object, metadata: metadata, preconditions: try await exchange.preconditions(ofUpload: object),
      expected: body.digest, downloadTokens: tokens, isContinuable: isContinuable)
  }

  // MARK: In one request

  private func media() async throws -> HTTPResponse {
    let body =
      api == .xml ? DownloadHeaders.upload(request.fields.map { ($0.name.lowercased(), $0.value) }) : UploadBody()
    var upload = try await described(body, type: exchange.field("content-type"), isContinuable: false)
    upload.expected = exchange.field("x-goog-hash").map { ObjectWire.digest(hash: $0) } ?? upload.expected
    var sink = UploadSink(upload, to: backend, context, chunkLength: tuning.chunkLength)
    do {
      for try await bytes in request.body.stream { try await sink.write(bytes) }
      let made = try await sink.finish()
      guard api == .xml else { return exchange.object(made) }
      let fields = DownloadHeaders.fields(of: made).filter { $0.name.hasPrefix("x-goog-") || $0.name == "etag" }
      return HTTPResponse(.ok, fields: HTTPFields(named: fields))
    } catch {
      await sink.giveUp()
      throw error
    }
  }

  private func multipart() async throws -> HTTPResponse {
    var machine = try MultipartMachine(
      contentType: exchange.field("content-type") ?? "", maximumMetadata: tuning.bodyLimit,
      maximumHeaders: tuning.partHeaders)
    var body = UploadBody()
    var sink: UploadSink?
    do {
      for try await piece in request.body.stream {
        for event in try machine.received(piece) {
          switch event {
          case .metadata(let json): body = try MetadataWire.upload(json: json)
          case .content(let type):
            // Google's API takes that of the metadata, and Firebase's refuses the part.
            guard type != nil || api != .firebase else {
              throw StorageServiceError(
                .invalidArgument, "Failed to parse multipart request body part. Missing content type.")
            }
            sink = UploadSink(
              try await described(body, type: type, isContinuable: false), to: backend, context,
              chunkLength: tuning.chunkLength)
          case .bytes(let bytes): try await sink?.write(bytes)
          case .end: break
          }
        }
      }
      try machine.finish()
      guard var last = sink else { throw StorageServiceError(.invalidArgument, "The request has no content.") }
      sink = nil
      return exchange.object(try await last.finish())
    } catch {
      await sink?.giveUp()
      throw error
    }
  }

  // MARK: Firebase's resumable uploads

  private func firebase(_ id: String?) async throws -> HTTPResponse {
    guard let command = try ResumableCommand(field: { exchange.field($0) }) else {
      throw StorageServiceError(.invalidArgument, "The request has no x-goog-upload-command.")
    }
    if case .start(let length, let type) = command { return try await start(length, type) }
    guard let id, !id.isEmpty else { throw StorageServiceError(.invalidArgument, "The request has no upload_id.") }
    let upload = UploadID(rawValue: id)
    switch command {
    case .start: throw StorageServiceError(.internal, "An upload is started once.")
    case .query: return answer(ResumableAnswer(try await backend.keepUpload(upload, context: context)))
    case .cancel:
      try await backend.cancelUpload(upload, context: context)
      return answer(ResumableAnswer(isActive: false))
    case .upload(let offset, let isLast): return try await receive(upload, from: offset, isLast: isLast)
    case .finalize: return try await receive(upload, from: nil, isLast: true)
    }
  }

  private func start(_ length: Int64?, _ type: String?) async throws -> HTTPResponse {
    let body = try MetadataWire.upload(json: try await exchange.document())
    var upload = try await described(body, type: type, isContinuable: true)
    upload.size = length
    let id = try await backend.startUpload(upload, context: context)
    var answer = ResumableAnswer(isActive: true)
    let target = StorageRoute(
      .firebase, .upload(bucket: bucket, name: upload.object.name, .resumable(id: id.rawValue))
    ).target
    // With the host that the client reached: it sends the parts there.
    answer.url = exchange.origin + target
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
    try await append(to: id, status, from: start ?? status.received)
    // A client never sends again what was acknowledged.
    guard isLast else { return answer(ResumableAnswer(try await backend.keepUpload(id, context: context))) }
    return finished(try await backend.finalizeUpload(id, expected: expected, context: context))
  }

  /// The sender's facts about the whole content.
  private var expected: ContentDigest {
    exchange.field("x-goog-hash").map { ObjectWire.digest(hash: $0) } ?? ContentDigest()
  }

  /// Appends the body to an upload, unless another request with the same body ends the upload first: a client whose
  /// connection broke repeats its request while the first one is still served, and both get the object.
  private func append(to id: UploadID, _ status: UploadStatus, from start: Int64) async throws {
    do {
      try await appendBody(to: id, status, from: start)
    } catch let error as StorageServiceError where error.reason == .uploadGone {
      guard try await backend.uploadStatus(id, context: context).state == .final else { throw error }
    }
  }

  /// Appends the body to an upload; the received part of a body that is cut off is kept.
  private func appendBody(to id: UploadID, _ status: UploadStatus, from start: Int64) async throws {
    let isExact = exchange.field(ResumableCommand.exactOffset) != nil
    guard start == status.received || (start < status.received && !isExact) else {
      throw StorageServiceError(
        .outOfRange, "The upload has \(status.received) bytes, and the part begins at \(start).",
        reason: .wrongOffset(received: status.received))
    }
    var known = Int(status.received - start)
    var sink = UploadSink(
      continuing: id, of: status.request ?? UploadRequest(object: ObjectName(bucket: "", name: "")),
      at: status.received, in: backend, context, chunkLength: tuning.chunkLength, dropsKnown: !isExact)
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
  }

  private func answer(_ answer: ResumableAnswer) -> HTTPResponse {
    HTTPResponse(.ok, fields: HTTPFields(named: answer.fields))
  }

  private func finished(_ made: StorageObject) -> HTTPResponse {
    var response = exchange.object(made)
    response.fields.append(contentsOf: HTTPFields(named: ResumableAnswer(isActive: false).fields))
    return response
  }

  // MARK: Google's resumable uploads

  private func google(_ id: String?) async throws -> HTTPResponse {
    guard let id else { return try await startGoogle() }
    let upload = UploadID(rawValue: id)
    let status = try await backend.uploadStatus(upload, context: context)
    let part = exchange.field("content-range").flatMap(ByteRangeWire.part)
    if status.state != .final {
      try await append(to: upload, status, from: part?.bounds?.lowerBound ?? status.received)
    }
    let received = status.state == .final ? status : try await backend.uploadStatus(upload, context: context)
    guard received.state == .final || part == nil || part?.total == received.received else {
      var fields = HTTPFields()
      let kept = try await backend.keepUpload(upload, context: context)
      if let range = ByteRangeWire.received(kept.received) { fields.append("range", range) }
      // Go's clients take the status for a redirect to another place, and say so.
      guard exchange.field("x-guploader-no-308") == "yes" else {
        return HTTPResponse(HTTPStatus(308), fields: fields)
      }
      fields.append("x-http-status-code-override", "308")
      return HTTPResponse(.ok, fields: fields)
    }
    return exchange.object(try await backend.finalizeUpload(upload, expected: ContentDigest(), context: context))
  }

  private func startGoogle() async throws -> HTTPResponse {
    let body = try MetadataWire.upload(json: try await exchange.document())
    var upload = try await described(body, type: nil, isContinuable: true)
    upload.size = exchange.field("x-upload-content-length").flatMap { Int64($0) }
    return try await started(upload, .ok)
  }

  /// Starts an upload by Google's XML, as signed URLs for uploads in parts do; its parts are sent as the JSON's.
  private func startXML() async throws -> HTTPResponse { try await started(try await requestOfXML(), 201) }

  /// The request that starts an upload by Google's XML, whose content follows in other requests.
  func requestOfXML() async throws -> UploadRequest {
    let body = DownloadHeaders.upload(request.fields.map { ($0.name.lowercased(), $0.value) })
    return try await described(body, type: nil, isContinuable: true)
  }

  private func started(_ upload: UploadRequest, _ status: HTTPStatus) async throws -> HTTPResponse {
    let id = try await backend.startUpload(upload, context: context)
    let name = upload.object
    let target = StorageRoute(.google, .upload(bucket: name.bucket, name: name.name, .resumable(id: id.rawValue)))
      .target
    return HTTPResponse(status, fields: [.location: exchange.origin + target, "x-guploader-uploadid": id.rawValue])
  }
}
